// A deployed gateway, its lockdown and hosts behind it, on the real CLI and a real API server: what is made, in which order, and how the lock is turned.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { type ApiServer, type KubernetesObject, startApiServer } from "../support/api-server";
import { COMMAND_MS, type Project, changes, fixtureProject } from "./harness";

const NAMESPACES = ["egress", "istio-egress", "payments", "orders"];
/** By the end of its list's URL. */
const LISTS: Readonly<Record<string, string>> = {
    Deployment: "apis/apps/v1/deployments", Service: "api/v1/services", ServiceAccount: "api/v1/serviceaccounts", Role: "apis/rbac.authorization.k8s.io/v1/roles",
    RoleBinding: "apis/rbac.authorization.k8s.io/v1/rolebindings", PodDisruptionBudget: "apis/policy/v1/poddisruptionbudgets", HorizontalPodAutoscaler: "apis/autoscaling/v2/horizontalpodautoscalers",
    NetworkPolicy: "apis/networking.k8s.io/v1/networkpolicies", AuthorizationPolicy: "apis/security.istio.io/v1/authorizationpolicies", Sidecar: "apis/networking.istio.io/v1/sidecars",
    VirtualService: "apis/networking.istio.io/v1/virtualservices", ServiceEntry: "apis/networking.istio.io/v1/serviceentries", DestinationRule: "apis/networking.istio.io/v1/destinationrules", Gateway: "apis/networking.istio.io/v1/gateways",
};

describe("a deployed gateway and its lockdown", function () {
    this.timeout(6 * COMMAND_MS);
    let server: ApiServer, project: Project;

    before(async () => {
        server = await startApiServer();
        for (const name of NAMESPACES) await server.request("POST", "/api/v1/namespaces", { metadata: { name } });
        project = await fixtureProject("gateway");
        await project.must(["config", "set", "kubeconfig", await readFile(server.kubeconfig, "utf8")]);
    });
    after(async () => {
        await project?.remove();
        await server?.stop();
    });

    const up = async (mode: string, ...args: string[]): Promise<string> => {
        await writeFile(path.join(project.folder, "program/plan.json"), JSON.stringify({ mode }));
        return (await project.must(["up", "--yes", "--skip-preview", ...args])).stdout;
    };
    const held = async (kind: string): Promise<readonly KubernetesObject[]> => {
        const items = (await server.request("GET", `/${LISTS[kind] ?? ""}`)).body.items ?? [];
        return items.filter(({ metadata }) => (metadata?.["labels"] as Record<string, string> | undefined)?.["app.kubernetes.io/part-of"] === "istio-egress");
    };
    const names = async (kind: string): Promise<readonly string[]> => (await held(kind)).map(({ metadata }) => `${String(metadata?.["namespace"])}/${String(metadata?.["name"])}`).sort();
    const isDryRun = ({ metadata }: KubernetesObject): boolean => (metadata?.["annotations"] as Record<string, string> | undefined)?.["istio.io/dry-run"] === "true";
    const versionOf = ({ metadata }: KubernetesObject): number => Number(metadata?.["resourceVersion"]);

    it("makes everything, the gateway before its hosts", async () => {
        await up("dry-run");
        for (const kind of ["Deployment", "Service", "ServiceAccount", "Role", "RoleBinding", "PodDisruptionBudget", "HorizontalPodAutoscaler"]) expect(await names(kind), kind).to.deep.equal(["istio-egress/egressgateway-platform"]);
        expect(await names("AuthorizationPolicy")).to.deep.equal(["istio-egress/egress-db-partner-example", "istio-egress/egress-rates-partner-example", "istio-egress/egressgateway-platform-open"]);
        expect((await held("AuthorizationPolicy")).filter(isDryRun)).to.have.lengthOf(2);
        expect(await names("NetworkPolicy")).to.deep.equal([]);
        expect(await names("VirtualService")).to.have.lengthOf(4);
        const [deployment] = await held("Deployment");
        for (const object of [...await held("ServiceEntry"), ...await held("VirtualService")]) expect(versionOf(object)).to.be.greaterThan(versionOf(deployment ?? {}));
        expect(deployment).to.have.nested.property("spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds", 10);
    });

    it("changes nothing the second time", async () => {
        await up("dry-run", "--expect-no-changes");
    });

    it("turns the lock by one object, which goes last", async () => {
        const output = await up("enforced");
        // Two policies, and the three components whose arguments say the mode.
        expect(changes({ code: 0, stdout: output, stderr: "" } as never)).to.include({ updated: 5, deleted: 1 });
        const lines = output.split("\n"), last = (pattern: RegExp): number => lines.findLastIndex((line) => pattern.test(line));
        expect(last(/platform-open deleted/)).to.be.greaterThan(Math.max(last(/database-authorization updated/), last(/rates-authorization updated/), last(/platform-closed created/))).and.to.not.equal(-1);
        expect(await names("AuthorizationPolicy")).to.deep.equal(["istio-egress/egress-db-partner-example", "istio-egress/egress-rates-partner-example", "istio-egress/egressgateway-platform-closed"]);
        expect((await held("AuthorizationPolicy")).filter(isDryRun)).to.deep.equal([]);
        expect(await names("NetworkPolicy")).to.deep.equal(["istio-egress/egressgateway-platform-consumers", "orders/egressgateway-platform-only", "payments/egressgateway-platform-only"]);
        expect(await names("Sidecar")).to.deep.equal(["orders/egress-lockdown", "payments/egress-lockdown"]);
    });

    it("opens the lock before anything else on the way back", async () => {
        const lines = (await up("dry-run")).split("\n"), first = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
        const opened = first(/platform-open created/);
        expect(opened).to.be.lessThan(Math.min(first(/database-authorization updat/), first(/rates-authorization updat/))).and.to.not.equal(-1);
        expect((await held("AuthorizationPolicy")).filter(isDryRun)).to.have.lengthOf(2);
        expect(await names("NetworkPolicy")).to.deep.equal([]);
    });

    it("leaves nothing after a destroy, and takes the gateway away after its hosts", async () => {
        const lines = (await project.must(["destroy", "--yes", "--skip-preview"])).stdout.split("\n"), at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
        expect(at(/platform-deployment delet/)).to.be.greaterThan(Math.max(at(/database-mesh-leg deleted/), at(/rates-mesh-leg deleted/))).and.to.not.equal(-1);
        for (const kind of Object.keys(LISTS)) expect(await names(kind), kind).to.deep.equal([]);
    });
});
