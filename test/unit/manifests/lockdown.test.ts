// The fence around a gateway: its objects per mode, and who may use a host behind it.
import { expect } from "chai";
import { lockdownObjects, manifestsOf } from "../../../manifests";
import { type DeclarationInput, allowedSources, checkDeclaration, checkLockdown, consumersOf, formatProblem, planOf } from "../../../model";
import { GATEWAY, declaration, input } from "../../support/declarations";

const ARGS = { gateway: GATEWAY, mode: "enforced", consumers: [{ namespace: "payments" }, { namespace: "orders" }], inCluster: "denied" };
const SELECTOR = { istio: "egressgateway" };

function objects(changes: object = {}): Record<string, Record<string, unknown>> {
    const result = checkLockdown({ ...ARGS, ...changes });
    if (!result.ok) throw new Error(result.problems.map(formatProblem).join("\n"));
    return Object.fromEntries(lockdownObjects(result.lockdown).map(({ key, object }) => [key, object]));
}

const problems = (changes: object): readonly string[] => {
    const result = checkLockdown({ ...ARGS, ...changes });
    return result.ok ? [] : result.problems.map(formatProblem);
};
const refused = (changes: Partial<DeclarationInput>): readonly string[] => {
    const result = checkDeclaration(input(changes));
    return result.ok ? [] : result.problems.map(formatProblem);
};
const locked = (lockdown: "dry-run" | "enforced", changes: Partial<DeclarationInput> = {}): Partial<DeclarationInput> => ({ gateway: { ...GATEWAY, lockdown }, ...changes });

describe("lockdown", () => {
    const part = { "app.kubernetes.io/part-of": "istio-egress" };
    const namespace = (name: string): object => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

    it("in a dry run is one policy that allows everything", () => {
        expect(objects({ mode: "dry-run", registryOnly: true })).to.deep.equal({
            open: { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata: { name: "istio-egressgateway-open", namespace: "istio-egress", labels: part }, spec: { selector: { matchLabels: SELECTOR }, action: "ALLOW", rules: [{}] } },
        });
    });

    it("enforced allows nothing by itself, and lets consumers reach the gateway, DNS and istiod only", () => {
        const found = objects();
        expect(Object.keys(found)).to.deep.equal(["closed", "ingress", "egress-payments", "egress-orders"]);
        expect(found["closed"]).to.have.deep.property("spec", { selector: { matchLabels: SELECTOR }, action: "ALLOW" });
        expect(found["ingress"]).to.deep.equal({
            apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "istio-egressgateway-consumers", namespace: "istio-egress", labels: part },
            spec: {
                podSelector: { matchLabels: SELECTOR }, policyTypes: ["Ingress"],
                ingress: [
                    { from: [namespace("payments"), namespace("orders")], ports: [{ protocol: "TCP", port: 8443 }, { protocol: "TCP", port: 9443 }] },
                    { ports: [{ protocol: "TCP", port: 15020 }, { protocol: "TCP", port: 15021 }, { protocol: "TCP", port: 15090 }] },
                ],
            },
        });
        expect(found["egress-orders"]).to.deep.equal({
            apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "istio-egressgateway-only", namespace: "orders", labels: part },
            spec: {
                podSelector: {}, policyTypes: ["Egress"],
                egress: [
                    { to: [{ ...namespace("istio-egress"), podSelector: { matchLabels: SELECTOR } }], ports: [{ protocol: "TCP", port: 8443 }, { protocol: "TCP", port: 9443 }] },
                    { to: [{ ...namespace("kube-system"), podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }], ports: [{ protocol: "UDP", port: 53 }, { protocol: "TCP", port: 53 }] },
                    { to: [{ ...namespace("istio-system"), podSelector: { matchLabels: { app: "istiod" } } }], ports: [{ protocol: "TCP", port: 15012 }] },
                ],
            },
        });
    });

    it("takes other DNS servers, other pods of the cluster, and REGISTRY_ONLY", () => {
        const found = objects({ inCluster: "allowed", registryOnly: true, dns: { selector: {}, blocks: ["169.254.20.10/32"] }, istioNamespace: "istio" });
        expect(found["egress-payments"]).to.deep.nested.include({ "spec.egress[1].to": [{ ipBlock: { cidr: "169.254.20.10/32" } }], "spec.egress[3]": { to: [{ namespaceSelector: {} }] } });
        expect(found["registry-only-payments"]).to.deep.equal({
            apiVersion: "networking.istio.io/v1", kind: "Sidecar", metadata: { name: "egress-lockdown", namespace: "payments", labels: part },
            spec: { egress: [{ hosts: ["*/*"] }], outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
        });
        expect(objects({ gateway: { ...GATEWAY, consumers: "all" } })["ingress"]).to.have.deep.nested.property("spec.ingress[0].from", [{ namespaceSelector: {} }]);
    });

    it("refuses what contradicts itself", () => {
        expect(problems({ mode: "off" })[0]).to.match(/^mode is "off", but must be one of "dry-run", "enforced"\./);
        expect(problems({ inCluster: undefined })[0]).to.match(/^inCluster is missing: /);
        expect(problems({ gateway: { ...GATEWAY, lockdown: "enforced" } })).to.deep.equal(['gateway.lockdown is "enforced" already: give the reference of the EgressGateway; the locked one is what this component publishes.']);
        expect(problems({ consumers: [{ namespace: "payments" }, { namespace: "payments" }, { namespace: "istio-egress" }] })).to.deep.equal([
            'consumers[1].namespace is "payments", which consumers[0] names already: remove one of them.',
            'consumers[2].namespace is "istio-egress", the gateway\'s own namespace, whose pods must reach the hosts: run applications in another one.',
        ]);
        expect(problems({ dns: { selector: {} } })).to.deep.equal(["dns.selector is empty, and so is dns.blocks: no name would be resolved; give the labels of the DNS servers' pods, or their addresses."]);
        expect(problems({ dns: { blocks: ["169.254.20.10"] } })).to.deep.equal(['dns.blocks[0] is "169.254.20.10", which is not a CIDR block: write one address as 169.254.20.10/32.']);
    });

    it("knows its consumers from the hosts", () => {
        const hosts = [declaration(), declaration({ consumers: [{ namespace: "orders" }, { namespace: "payments" }] }), declaration({ route: "direct", gateway: undefined, consumers: [{ namespace: "build" }] })];
        expect(consumersOf(hosts)).to.deep.equal([{ namespace: "orders" }, { namespace: "payments" }]);
    });
});

describe("a host behind a locked gateway", () => {
    const policy = (changes: Partial<DeclarationInput>): Record<string, unknown> | undefined => manifestsOf("partner-api", declaration(changes)).find(({ role }) => role === "AuthorizationPolicy/consumers")?.object as Record<string, unknown> | undefined;

    it("is for its consumers, by namespace or service account, and its own SNI", () => {
        const consumers = [{ namespace: "payments", serviceAccounts: ["settlement", "refunds"] }, { namespace: "orders" }];
        expect(policy(locked("enforced", { consumers }))).to.deep.include({
            apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy",
            spec: {
                selector: { matchLabels: SELECTOR }, action: "ALLOW",
                rules: [{
                    from: [{ source: { principals: ["cluster.local/ns/payments/sa/settlement", "cluster.local/ns/payments/sa/refunds"] } }, { source: { namespaces: ["orders"] } }],
                    when: [{ key: "connection.sni", values: ["api.partner.example"] }],
                }],
            },
        });
        expect(policy(locked("enforced"))).to.have.property("metadata").that.deep.includes({ name: "egress-api-partner-example", namespace: "istio-egress" });
        expect(policy(locked("enforced"))).to.not.have.nested.property("metadata.annotations.istio\\.io/dry-run");
        expect(policy(locked("dry-run"))).to.have.nested.property("metadata.annotations.istio\\.io/dry-run", "true");
        expect(policy({})).to.equal(undefined);
    });

    it("is for all who have an identity with a gateway for all, and for all where the gateway knows nobody", () => {
        expect(allowedSources(declaration({ gateway: { ...GATEWAY, lockdown: "enforced", consumers: "all" }, consumers: [{ namespace: "*" }] }))).to.deep.equal([{ principals: ["*"] }]);
        expect(policy(locked("enforced", { route: "passthrough" }))).to.have.deep.nested.property("spec.rules", [{ when: [{ key: "connection.sni", values: ["api.partner.example"] }] }]);
    });

    it("says in its plan what is not enforced", () => {
        expect(planOf(declaration(locked("dry-run"))).consequences).to.include("the gateway's lockdown is a dry run: what it would deny is counted and goes through; serviceAccounts are not enforced yet.");
        expect(planOf(declaration(locked("enforced", { route: "passthrough" }))).consequences).to.include("route passthrough: the gateway does not know who the client is, so whoever reaches it may use this host.");
    });

    it("makes no promise that nothing keeps", () => {
        const consumers = [{ namespace: "payments", serviceAccounts: ["settlement"] }], at = "consumers[0].serviceAccounts";
        expect(refused({ consumers })).to.deep.equal([`${at} is not enforced while the gateway's lockdown is off, when whoever reaches it may use every host: lock the gateway (EgressLockdown, dry-run first), or remove it.`]);
        expect(refused(locked("enforced", { consumers, route: "passthrough" }))).to.deep.equal([`${at} is not enforced with route passthrough, on which the gateway does not know who the client is: remove it, or choose route mtls-passthrough.`]);
        expect(refused({ consumers, route: "direct", gateway: undefined })).to.deep.equal([`${at} is not enforced with route direct, on which no gateway sees who the client is: remove it, or choose route mtls-passthrough with a locked gateway.`]);
        expect(refused(locked("enforced", { consumers: [{ namespace: "payments", serviceAccounts: ["A b", "x", "x"] }] }))).to.deep.equal([
            `${at}[0] is "A b", which is not the name of a ServiceAccount (RFC 1123): check the name.`, `${at}[2] is "x", which it names already: remove one of them.`,
        ]);
        expect(refused(locked("dry-run", { consumers }))).to.deep.equal([]);
    });
});
