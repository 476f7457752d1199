// The preflight against a real API server: without Istio's kinds, with old ones, with them alone, complete, with objects of others, and
// for accounts with few rights or none.
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { type PreflightReport, runPreflight } from "../../cli/preflight";
import { VERBS } from "../../cli/preflight/checks/permissions";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import { startApiServer } from "../support/api-server";
import type { ApiServer, KubernetesObject } from "../support/api-server";
import { freePorts } from "../support/daemons";
import { changes, fixtureProject, temporaryFolder } from "./harness";

const CATALOGUE = path.join(repository, "stacks/catalogue/dev.yaml");
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "networking.istio.io";
const ISTIO = `/apis/${GROUP}/v1`;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CONSUMERS = ["payments", "orders", "reports", "build"];
const INSTALL = 'Install Istio 1.22 or later, with its custom resource definitions (Helm chart "base", or istioctl install).';

interface Definition extends KubernetesObject {
    readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
}

describe("preflight against a real API server", function () {
    this.timeout(180_000);
    let server: ApiServer, folder: string, definitions: readonly Definition[];

    const look = (kubeconfig = server.kubeconfig): Promise<PreflightReport> => runPreflight({ catalogue: CATALOGUE, kubeconfig });
    const must = async (method: string, url: string, body?: unknown): Promise<KubernetesObject> => {
        const answer = await server.request(method, url, body);
        if (answer.status >= 300) throw new Error(`${method} ${url}: ${String(answer.status)} ${answer.body.message ?? ""}`);
        return answer.body;
    };
    const until = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
        for (const deadline = Date.now() + 60_000; !await condition(); await wait(100)) if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}.`);
    };

    before(async () => {
        server = await startApiServer();
        folder = await temporaryFolder();
        definitions = (await must("GET", CRDS)).items as readonly Definition[];
    });
    after(async () => {
        await server?.stop();
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    });

    describe("a cluster without Istio's kinds", () => {
        before(async () => {
            await must("DELETE", CRDS);
            await until("the kinds are gone", async () => (await must("GET", CRDS)).items?.length === 0 && (await server.request("GET", ISTIO)).status === 404);
            // The list of groups, where discovery starts, follows a little later.
            await until("the group is gone", async () => !JSON.stringify(await must("GET", "/apis")).includes("networking.istio.io"));
        });

        it("says that Istio is not there, once, and lists nothing of its kinds", async () => {
            const report = await look();
            expect(lines(report, "served-kinds")).to.deep.equal([
                `missing: ServiceEntry, DestinationRule, Gateway, EnvoyFilter and VirtualService are not served: the cluster has no custom resource definitions of Istio's for what is written. → ${INSTALL}`,
            ]);
            expect(lines(report, "istiod")).to.deep.equal([
                "unknown: istiod in istio-system is not there: no Deployment has the label app=istiod, so the control plane runs elsewhere, or not at all. → Name its namespace with --istio-namespace; of a control plane outside the cluster nothing can be seen.",
            ]);
            expect(report.results.filter(({ text }) => text.includes("failed"))).to.deep.equal([]);
            expect(report.passed).to.equal(false);
        });
    });

    describe("a cluster with kinds of an Istio before 1.22", () => {
        before(async () => {
            await install(definitions.map((one) => ({ ...one, spec: { ...one.spec, versions: one.spec.versions.map((version) => ({ ...version, served: version.served && version.name !== "v1" })) } })));
            await until("the kinds are served", async () => (await server.request("GET", "/apis/networking.istio.io/v1beta1/serviceentries")).status === 200);
        });
        after(async () => {
            await must("DELETE", CRDS);
            await until("the kinds are gone", async () => (await must("GET", CRDS)).items?.length === 0);
        });

        it("names the versions that are served and the first Istio that serves v1", async () => {
            const report = await settled("served-kinds", 4);
            expect(lines(report, "served-kinds")[0]).to.equal(
                "missing: ServiceEntry is served as v1beta1 and v1alpha3 of networking.istio.io, but not as v1, which is what is written. → Istio serves v1 from 1.22 on: upgrade it, its custom resource definitions included (an upgrade of Helm charts leaves old ones behind).",
            );
        });
    });

    describe("a cluster with Istio's kinds and nothing else", () => {
        before(async () => {
            await install(definitions);
            await until("the kinds are served", async () => (await server.request("GET", `${ISTIO}/serviceentries`)).status === 200 && (await server.request("GET", `${ISTIO}/virtualservices`)).status === 200);
        });

        it("finds the kinds, and says of the rest what is to be created", async () => {
            const report = await settled("served-kinds", 5, "ok");
            expect(lines(report, "gateway-service")).to.deep.equal([
                "missing: Service istio-system/istio-egressgateway does not exist, but is the gateway of settlement, partner-api, saas-billing, object-store and 2 more: every connection to these hosts would fail. → Install the gateway (Helm chart istio/gateway), or correct the gateway's serviceHost in the catalogue.",
            ]);
            expect(lines(report, "gateway-pods")).to.deep.equal([
                "missing: Pods istio=egressgateway in istio-system do not exist: no proxy would get the hosts' listeners. → Install the gateway, or correct the gateway's namespace and selector in the catalogue.",
            ]);
            expect(lines(report, "namespace")).to.have.length(6).and.include("missing: Namespace orders does not exist, but it is a consumer of identity. → Create it: kubectl create namespace orders");
            expect(lines(report, "permissions").every((line) => line.startsWith("ok: "))).to.equal(true);
            expect(report.cluster).to.deep.include({ context: "test", version: "v1.36.3", user: "admin" });
        });
    });

    describe("a complete cluster", () => {
        before(() => complete());

        it("passes, with nothing but facts to tell", async () => {
            const report = await look();
            expect(report.results.filter(({ status }) => status !== "ok")).to.deep.equal([]);
            expect(report.passed).to.equal(true);
            expect(report.results.filter((result) => result.report === true).map(({ object, text }) => `${object} ${text}`)).to.deep.equal([
                "ConfigMap istio-system/istio sets dnsRefreshRate 5s.",
                "ConfigMap istio-system/istio sets outboundTrafficPolicy REGISTRY_ONLY: sidecars refuse hosts that nobody declared.",
            ]);
            expect(lines(report, "gateway-port")).to.deep.equal(['ok: Service istio-system/istio-egressgateway port 443 leads to targetPort 8443, named "tls".']);
            expect(lines(report, "gateway-version")).to.deep.equal(["ok: Pods istio=egressgateway in istio-system run Istio 1.31.2-distroless, as declared."]);
        });

        it("is told by the command too, as text and as a document", async () => {
            const { code, stdout } = await command(["--verbose"]);
            expect(code).to.equal(0);
            expect(stdout).to.match(/^dev: 0 missing, \d+ ok \(\d+\.\d s\)\.$/m).and.include("Service istio-system/istio-egressgateway exists.");
            const short = (await command([])).stdout;
            expect(short).to.match(/^Gateways {2}6 ok$/m).and.not.include("exists.");
            const document = JSON.parse((await command(["--json"])).stdout) as PreflightReport & { readonly environment: string };
            expect(document).to.deep.include({ environment: "dev", passed: true });
        });

        it("finds objects of others in the way", async () => {
            const api = `${ISTIO}/namespaces`;
            await must("POST", `${api}/orders/serviceentries`, object("ServiceEntry", "orders", "login", { hosts: ["login.microsoftonline.com"], location: "MESH_EXTERNAL", resolution: "DNS", ports: [{ number: 443, name: "tls", protocol: "TLS" }] }));
            await must("POST", `${api}/reports/destinationrules`, object("DestinationRule", "reports", "egress", { host: "istio-egressgateway.istio-system.svc.cluster.local", trafficPolicy: { loadBalancer: { simple: "RANDOM" } } }));
            const report = await look();
            expect(report.results.filter(({ status }) => status !== "ok").map(line)).to.deep.equal([
                "missing: ServiceEntry orders/login declares login.microsoftonline.com too and is seen by istio-system, orders and reports, as that of identity is: two ServiceEntries of one host break or shadow each other. → Delete it, or take the host out of it; else limit its exportTo to namespaces that the declaration does not name.",
                'missing: DestinationRule reports/egress is for the gateway\'s Service and has no exportTo, but the subsets of this catalogue in reports have exportTo ["."]: rules merge only when exported alike, and otherwise hide one another. → Give it exportTo: ["."], or delete it.',
            ]);
            await must("DELETE", `${api}/orders/serviceentries/login`);
            await must("DELETE", `${api}/reports/destinationrules/egress`);
        });
    });

    describe("an account with few rights", () => {
        let kubeconfig: string;

        before(async () => {
            kubeconfig = await account("deployer", "payments", [{ apiGroups: [GROUP], resources: ["serviceentries"], verbs: ["create", "get", "patch", "list", "watch"] }, { apiGroups: [GROUP], resources: ["destinationrules", "envoyfilters"], verbs: ["*"] }]);
        });

        it("gets one finding per namespace, with the rule to add", async () => {
            const report = await look(kubeconfig);
            expect(report.cluster.user).to.equal("system:serviceaccount:payments:deployer");
            const permissions = lines(report, "permissions");
            expect(permissions).to.have.length(5);
            expect(permissions).to.include("missing: Namespace payments is closed to this account, which may not delete serviceentries. → Add to a Role of payments that is bound to it: {apiGroups: [networking.istio.io], resources: [serviceentries], verbs: [delete]}");
            expect(permissions).to.include("missing: Namespace istio-system is closed to this account, which may not create, get, patch, delete, list and watch gateways, envoyfilters and virtualservices. → Add to a Role of istio-system that is bound to it: {apiGroups: [networking.istio.io], resources: [gateways, envoyfilters, virtualservices], verbs: [create, get, patch, delete, list, watch]}");
        });

        it("is told what it could not look at, and which right it lacks", async () => {
            const report = await look(kubeconfig), unknown = report.results.filter(({ status }) => status === "unknown").map(line);
            expect(unknown).to.include("unknown: Service istio-system/istio-egressgateway is not known: this account may not get service istio-egressgateway in namespace istio-system. → Allow it to get service istio-egressgateway in namespace istio-system, or have it looked at by somebody who may.");
            expect(unknown).to.include("unknown: ServiceEntry, DestinationRule, Gateway, EnvoyFilter and VirtualService objects of others are not all known: this account may not list serviceentries, destinationrules, gateways, envoyfilters and virtualservices in all namespaces. → Allow it to list serviceentries, destinationrules, gateways, envoyfilters and virtualservices in all namespaces, or have it looked at by somebody who may.");
            expect(lines(report, "served-kinds").every((text) => text.startsWith("ok: "))).to.equal(true);
            expect(unknown.filter((text) => text.includes("failed"))).to.deep.equal([]);
        });
    });

    describe("the rights that are written down", () => {
        it("docs/preflight.md: enough to see all", async () => {
            const [, text = ""] = /```yaml\n(.*?)```/s.exec(await readFile(path.join(repository, "docs/preflight.md"), "utf8")) ?? [];
            const role = parse(text) as { readonly metadata: { readonly name: string } };
            const kubeconfig = await account("viewer", "payments", []);
            await must("POST", `${RBAC}/clusterroles`, role);
            await must("POST", `${RBAC}/clusterrolebindings`, { metadata: { name: "viewer" }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.metadata.name }, subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "payments" }] });
            const report = await look(kubeconfig);
            expect(report.results.filter(({ status, group }) => status !== "ok" && group !== "Permissions")).to.deep.equal([]);
        });

        it("the rule that the findings name: enough for the real pulumi up, a change, and destroy", async () => {
            const kubeconfig = await account("updater", "default", [{ apiGroups: [GROUP], resources: ["serviceentries", "destinationrules"], verbs: [...VERBS] }]);
            const project = await fixtureProject("render");
            try {
                const config = ["-c", `kubeconfig=${await readFile(kubeconfig, "utf8")}`, "-c", `hookLog=${path.join(project.folder, "hooks.log")}`];
                expect(changes(await project.must(["up", "--yes", "--skip-preview", ...config]))).to.deep.equal({ created: 4 });
                expect(changes(await project.must(["up", "--yes", "--skip-preview", "-c", "resolution=NONE"]))).to.deep.equal({ updated: 1, unchanged: 3 });
                expect(changes(await project.must(["destroy", "--yes", "--skip-preview"]))).to.deep.equal({ deleted: 4 });
            } finally {
                await project.remove();
            }
        });
    });

    describe("a server that cannot be used", () => {
        it("is told with its cause and the way out", async () => {
            const [port] = await freePorts(1);
            const wrong = await withUser({ token: "wrong" }), strict = await withCluster({ "insecure-skip-tls-verify": undefined }), away = await withCluster({ server: `https://127.0.0.1:${String(port)}` });
            const causes = await Promise.all([wrong, strict, away].map(async (file) => (await look(file)).results.map(({ text, fix }) => `${text} → ${fix ?? ""}`)));
            expect(causes).to.deep.equal([
                ["cannot be used: the credentials were not accepted (401). → Log in again, or correct the user in the kubeconfig."],
                ["cannot be used: TLS failed: the server's certificate is signed by an authority that is not trusted. → Correct certificate-authority-data of the cluster in the kubeconfig: get the kubeconfig anew from where the cluster is managed."],
                ["cannot be used: the connection was refused: nothing listens at this address. → Start the cluster, or choose another context (--context)."],
            ]);
        });

        it("refuses somebody without credentials", async () => {
            const [result] = (await look(await withUser({}))).results;
            expect(result?.text).to.match(/^cannot be used: the (request was refused \(403: .*system:anonymous.*\)|credentials were not accepted \(401\))\.$/);
        });
    });

    /** Creates Istio's kinds, as they were or changed. */
    async function install(all: readonly Definition[]): Promise<void> {
        for (const { metadata = {}, spec } of all) {
            const { name, labels, annotations } = metadata;
            await must("POST", CRDS, { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name, labels, annotations }, spec });
        }
    }

    /** Discovery follows the definitions a little later: looks until a check says so many things. */
    async function settled(id: string, count: number, status = "missing"): Promise<PreflightReport> {
        let report = await look();
        await until(`${id} says ${String(count)} things`, async () => {
            report = await look();
            return report.results.filter((result) => result.id === id && result.status === status).length === count;
        });
        return report;
    }

    /** What the environment "dev" needs, written with the client that the preflight uses too. */
    async function complete(): Promise<void> {
        const client = await import("@kubernetes/client-node");
        const config = new client.KubeConfig();
        config.loadFromFile(server.kubeconfig);
        const core = config.makeApiClient(client.CoreV1Api), apps = config.makeApiClient(client.AppsV1Api), admission = config.makeApiClient(client.AdmissionregistrationV1Api);
        const namespaces = [["istio-system", {}], ["egress", {}], ...CONSUMERS.map((name) => [name, { "istio-injection": "enabled" }] as const)] as const;
        for (const [name, labels] of namespaces) await core.createNamespace({ body: { metadata: { name, labels: { ...labels } } } });
        const namespace = "istio-system", selector = { istio: "egressgateway" };
        await core.createNamespacedService({ namespace, body: { metadata: { name: "istio-egressgateway" }, spec: { selector, ports: [{ name: "tls", port: 443, targetPort: "tls" }] } } });
        const pod: V1Pod = {
            metadata: { name: "istio-egressgateway-1", labels: { ...selector, app: "istio-egressgateway" }, annotations: { "istio.io/rev": "default" } },
            spec: { containers: [{ name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.2-distroless", ports: [{ name: "tls", containerPort: 8443 }] }] },
        };
        const created = await core.createNamespacedPod({ namespace, body: pod });
        await core.replaceNamespacedPodStatus({ namespace, name: "istio-egressgateway-1", body: { ...created, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } } });
        const labels = { app: "istiod", "istio.io/rev": "default" };
        const deployment = await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: "istiod", labels }, spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: "discovery", image: "docker.io/istio/pilot:1.31.2" }] } } } } });
        await apps.replaceNamespacedDeploymentStatus({ namespace, name: "istiod", body: { ...deployment, status: { replicas: 1, readyReplicas: 1 } } });
        await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "istio" }, data: { mesh: "dnsRefreshRate: 5s\noutboundTrafficPolicy:\n  mode: REGISTRY_ONLY\n" } } });
        await admission.createMutatingWebhookConfiguration({ body: { metadata: { name: "istio-sidecar-injector", labels: { app: "sidecar-injector", "istio.io/rev": "default" } } } });
    }

    /** A service account with these rights in its namespace; the kubeconfig with its token. */
    async function account(name: string, namespace: string, rules: readonly object[]): Promise<string> {
        await must("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
        await must("POST", `${RBAC}/namespaces/${namespace}/roles`, { metadata: { name }, rules });
        await must("POST", `${RBAC}/namespaces/${namespace}/rolebindings`, { metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name }, subjects: [{ kind: "ServiceAccount", name, namespace }] });
        const { status } = await must("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { spec: {} }) as { status?: { token?: string } };
        return withUser({ token: status?.token });
    }

    const withUser = (user: object): Promise<string> => changedKubeconfig((config) => ({ ...config, users: [{ name: "admin", user }] }));
    const withCluster = (cluster: object): Promise<string> => changedKubeconfig((config) => ({ ...config, clusters: [{ name: "test", cluster: { ...config.clusters[0]?.cluster, ...cluster } }] }));

    interface Kubeconfig { readonly clusters: readonly { readonly cluster: object }[]; readonly users: readonly object[] }

    async function changedKubeconfig(change: (config: Kubeconfig) => object): Promise<string> {
        const file = path.join(folder, `kubeconfig-${Math.random().toString(36).slice(2)}`);
        await writeFile(file, stringify(change(parse(await readFile(server.kubeconfig, "utf8")) as Kubeconfig)), { mode: 0o600 });
        return file;
    }

    const command = (args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string }> =>
        run(process.execPath, ["--import", "tsx", path.join(repository, "cli/main.ts"), "preflight", "--env", "dev", "--kubeconfig", server.kubeconfig, ...args], { cwd: repository, env: { ...process.env, NO_COLOR: "1" } });
});

const line = ({ status, object, text, fix }: PreflightReport["results"][number]): string => `${status}: ${object} ${text}${fix === undefined ? "" : ` → ${fix}`}`;
const lines = (report: PreflightReport, id: string): readonly string[] => report.results.filter((result) => result.id === id).map(line);

function object(kind: string, namespace: string, name: string, spec: object): object {
    return { apiVersion: "networking.istio.io/v1", kind, metadata: { name, namespace }, spec };
}
