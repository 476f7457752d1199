// The audit of a live cluster: the real API server, objects of two namespaces, an account that may see one of them, and nothing written.
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { audit } from "../../cli/audit";
import type { ClusterRequest } from "../../cli/audit/cluster";
import { FailOn, type AuditReport } from "../../cli/audit/report";
import { RULES } from "../../policies/rules";
import { type ApiServer, startApiServer } from "../support/api-server";
import { temporaryFolder } from "./harness";

const RULE = (namespace: string): object => ({
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "partner", namespace, annotations: { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "2" } },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent: 30, minHealthPercent: 1 } } },
});

describe("the audit of a live cluster", function () {
    this.timeout(600_000);
    let server: ApiServer, folder: string, teamKubeconfig: string;

    const must = async (method: string, url: string, body: object): Promise<void> => {
        const { status, body: answer } = await server.request(method, url, body);
        if (status !== 201) throw new Error(answer.message ?? String(status));
    };
    const auditOf = (request: Partial<ClusterRequest>): Promise<AuditReport> => audit({
        input: { kind: "cluster", request: { kubeconfig: server.kubeconfig, namespaces: [], istioNamespace: "istio-system", ...request } },
        rules: RULES.filter(({ code }) => code === "E101" || code === "E105"), configuration: {}, pools: [], failOn: FailOn.Mandatory, now: new Date(),
    });

    before(async () => {
        server = await startApiServer();
        for (const name of ["payments", "orders"]) {
            await must("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
            await must("POST", `/apis/networking.istio.io/v1/namespaces/${name}/destinationrules`, RULE(name));
        }
        await must("POST", "/api/v1/namespaces/payments/services", { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "payments" }, spec: { ports: [{ port: 80 }] } });
        const rules = [{ apiGroups: ["", "networking.istio.io", "security.istio.io", "networking.k8s.io"], resources: ["*"], verbs: ["get", "list"] }];
        await must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/payments/roles", { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "team", namespace: "payments" }, rules });
        await must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/payments/rolebindings", { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: "team", namespace: "payments" }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "team" }, subjects: [{ kind: "ServiceAccount", name: "team", namespace: "payments" }] });
        await must("POST", "/api/v1/namespaces/payments/serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "team", namespace: "payments" } });
        const { body } = await server.request("POST", "/api/v1/namespaces/payments/serviceaccounts/team/token", { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } });
        const config = parse(readFileSync(server.kubeconfig, "utf8")) as { users: object[] };
        config.users = [{ name: "admin", user: { token: (body.status as unknown as { token: string }).token } }];
        folder = await temporaryFolder();
        teamKubeconfig = path.join(folder, "kubeconfig");
        await writeFile(teamKubeconfig, stringify(config));
    });
    after(async () => {
        await server?.stop();
        await rm(folder, { recursive: true, force: true });
    });

    it("judges every namespace, in the words of files, with the cluster for a place", async () => {
        const { findings, problems, objects, read } = await auditOf({});
        expect(problems).to.deep.equal([]);
        expect(findings.map(({ code, object, location }) => [code, object.label, location])).to.deep.equal(["orders", "payments"].map((namespace) => ["E101", `DestinationRule ${namespace}/partner`, { file: "context test" }]));
        expect(objects.some(({ label }) => label === "Service payments/web")).to.equal(true);
        expect(read).to.be.at.least(objects.length);
    });

    it("looks at the namespaces that it is told to", async () => {
        const { findings, problems } = await auditOf({ namespaces: ["orders"] });
        expect(problems).to.deep.equal([]);
        expect(findings.map(({ object }) => object.label)).to.deep.equal(["DestinationRule orders/partner"]);
    });

    it("says what an account may not list, and judges what it may", async () => {
        const all = await auditOf({ kubeconfig: teamKubeconfig });
        expect(all.problems.map(({ text }) => text)).to.include("this account may not list destinationrules in all namespaces: allow it to, or name the namespaces that it may see with --namespace.");
        const own = await auditOf({ kubeconfig: teamKubeconfig, namespaces: ["payments"] });
        expect(own.findings.map(({ object }) => object.label)).to.deep.equal(["DestinationRule payments/partner"]);
    });

    it("says in one line why a cluster cannot be audited", async () => {
        const refused = await auditOf({ context: "elsewhere" }).then(() => "", (error: Error) => error.message);
        expect(refused).to.match(/^The cluster cannot be audited: there is no context "elsewhere" in .*: it has test\. Choose one of these with --context/);
    });
});
