// AuthorizationPolicies of others at the gateway: which hosts they take from whom, which only perhaps, and which they leave alone.
import { expect } from "chai";
import type { IstioObject, Snapshot } from "../../../cli/preflight/snapshot";
import type { DeclarationInput } from "../../../model";
import { input } from "../../support/declarations";
import { POD, foreign, linesOf, mesh, needs, pods } from "./support";

const HOST = "api.partner.example", ID = "gateway-denies";
const policy = (spec: object, place = "istio-egress/theirs", changes: Partial<IstioObject> = {}): IstioObject => foreign("AuthorizationPolicy", place, { ...spec }, changes);
const deny = (...rules: readonly object[]): IstioObject => policy({ action: "DENY", rules });
const allow = (...rules: readonly object[]): IstioObject => policy({ rules });
const sni = (...values: readonly string[]): object => ({ key: "connection.sni", values });
const from = (source: object): object => ({ from: [{ source }] });
const to = (operation: object): object => ({ to: [{ operation }] });

const GATEWAY = input({}).gateway as NonNullable<DeclarationInput["gateway"]>;
const ACCOUNT: Partial<DeclarationInput> = { gateway: { ...GATEWAY, lockdown: "enforced" }, consumers: [{ namespace: "payments", serviceAccounts: ["settlement"] }] };
const HTTP: Partial<DeclarationInput> = { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] };

function said(list: readonly IstioObject[], declaration: Partial<DeclarationInput> = {}, changes: Partial<Snapshot> = {}): readonly string[] {
    return linesOf(ID, { policies: { objects: list, unseen: [] }, ...changes }, needs({ "partner-api": declaration }));
}

const EXCEPT = "→ Except the host from it (when: connection.sni, notValues), or delete it.";
const DENIES = `${ID} missing: AuthorizationPolicy istio-egress/theirs denies at the gateway partner-api for payments. ${EXCEPT}`;
const MAY_DENY = `${ID} warning: AuthorizationPolicy istio-egress/theirs may deny at the gateway partner-api for payments: it depends on what a catalogue does not say. ${EXCEPT}`;
const TOO = "→ Allow them too, by their connection.sni, or lock the gateway with EgressLockdown, which allows each host.";
const ALLOWS_OTHERS = `${ID} missing: AuthorizationPolicy istio-egress/theirs allows some connections at the gateway, which so denies all others, among them partner-api for payments. ${TOO}`;
const MAY_ALLOW = `${ID} warning: AuthorizationPolicy istio-egress/theirs allows some connections at the gateway, which so denies all others, perhaps partner-api for payments: it depends on what a catalogue does not say. ${TOO}`;

const CASES: readonly (readonly [what: string, policy: IstioObject, lines: readonly string[], declaration?: Partial<DeclarationInput>])[] = [
    // Denials.
    ["a denial of everything", deny({}), [DENIES]],
    ["a denial without rules", policy({ action: "DENY" }), []],
    ["a denial of the host", deny({ when: [sni(HOST)] }), [DENIES]],
    ["a denial of its domain", deny({ when: [sni("*.partner.example")] }), [DENIES]],
    ["a denial of another host", deny({ when: [sni("other.example")] }), []],
    ["a denial of all but the host", deny({ when: [{ key: "connection.sni", notValues: [HOST] }] }), []],
    ["a denial of all but another host", deny({ when: [{ key: "connection.sni", notValues: ["other.example"] }] }), [DENIES]],
    ["a denial of the consumer", deny(from({ namespaces: ["pay*"] })), [DENIES]],
    ["a denial of others", deny(from({ namespaces: ["orders"] })), []],
    ["a denial of all others", deny(from({ notNamespaces: ["payments"] })), []],
    ["a denial of all but others", deny(from({ notNamespaces: ["orders"] })), [DENIES]],
    ["a denial of one of the consumer's accounts", deny(from({ principals: ["cluster.local/ns/payments/sa/batch"] })), [MAY_DENY]],
    ["a denial of all but one of them", deny(from({ notPrincipals: ["cluster.local/ns/payments/sa/batch"] })), [MAY_DENY]],
    ["a denial of all of them", deny(from({ principals: ["cluster.local/ns/payments/*"] })), [DENIES]],
    ["a denial of another account than the declared one", deny(from({ principals: ["cluster.local/ns/payments/sa/batch"] })), [], ACCOUNT],
    ["a denial of the declared account", deny(from({ principals: ["*/sa/settlement"] })), [DENIES], ACCOUNT],
    ["a denial of all but the declared account", deny(from({ notPrincipals: ["cluster.local/ns/payments/sa/settlement"] })), [], ACCOUNT],
    ["a denial by principal on a route without identity", deny(from({ principals: ["*"] })), [], { route: "passthrough" }],
    ["a denial of addresses", deny(from({ ipBlocks: ["10.0.0.0/8"] })), [MAY_DENY]],
    ["a denial of the pods' port", deny(to({ ports: ["8443"] })), [DENIES]],
    ["a denial of another port", deny(to({ ports: ["9443"] })), []],
    ["a denial of a request's method, which the gateway cannot read", deny(to({ methods: ["POST"] })), [DENIES]],
    ["the same where it can", deny(to({ methods: ["POST"] })), [MAY_DENY], HTTP],
    ["a denial by two fields", deny({ ...from({ namespaces: ["payments"] }), when: [sni("other.example")] }), []],
    ["a denial by one of two rules", deny({ when: [sni("other.example")] }, { when: [sni(HOST)] }), [DENIES]],
    ["a denial under a condition of no known kind", deny({ when: [{ key: "experimental.envoy.filters.a", values: ["b"] }] }), [MAY_DENY]],
    ["a denial in dry-run", policy({ action: "DENY", rules: [{}] }, "istio-egress/theirs", { annotations: { "istio.io/dry-run": "true" } }), []],
    ["a denial for other pods", policy({ action: "DENY", rules: [{}], selector: { matchLabels: { app: "ingress" } } }), []],
    ["a denial by a label that only the pods have", policy({ action: "DENY", rules: [{}], selector: { matchLabels: { app: "egress" } } }), [DENIES]],
    ["a denial in another namespace", policy({ action: "DENY", rules: [{}] }, "payments/theirs"), []],
    ["a denial for the whole mesh", policy({ action: "DENY", rules: [{}] }, "istio-system/all"), [DENIES.replace("istio-egress/theirs", "istio-system/all")]],
    ["a denial for an object of the Gateway API", policy({ action: "DENY", rules: [{}], targetRefs: [{ kind: "Gateway", name: "waypoint" }] }), []],
    ["what an extension decides", policy({ action: "CUSTOM", provider: { name: "authz" }, rules: [{}] }), []],
    // What is allowed, and so denies the rest.
    ["an allowance of everything", allow({}), []],
    ["an allowance of nothing", policy({}), [ALLOWS_OTHERS]],
    ["an allowance of the host", allow({ ...from({ namespaces: ["payments"] }), when: [sni(HOST)] }), []],
    ["an allowance of another host", allow({ when: [sni("other.example")] }), [ALLOWS_OTHERS]],
    ["an allowance of other consumers", allow({ ...from({ principals: ["cluster.local/ns/orders/*"] }), when: [sni(HOST)] }), [ALLOWS_OTHERS]],
    ["an allowance of one of the consumer's accounts", allow(from({ principals: ["cluster.local/ns/payments/sa/settlement"] })), [MAY_ALLOW]],
    ["an allowance by a request's path, which the gateway cannot read", allow(to({ paths: ["/rates"] })), [ALLOWS_OTHERS]],
    ["the same where it can", allow(to({ paths: ["/rates"] })), [MAY_ALLOW], HTTP],
    ["an allowance of another host at a locked gateway, which allows ours", allow({ when: [sni("other.example")] }), [], ACCOUNT],
    ["what a lockdown wrote for another catalogue's host", policy({ rules: [{ when: [sni("other.example")] }] }, "istio-egress/theirs", { annotations: { "istio-egress/declaration": "other" } }), [ALLOWS_OTHERS]],
    ["what our own lockdown wrote, which is off now", policy({ rules: [{ when: [sni(HOST)] }] }, "istio-egress/theirs", { annotations: { "istio-egress/declaration": "partner-api" } }), []],
];

describe("preflight: AuthorizationPolicies at the gateway", () => {
    for (const [what, object, lines, declaration] of CASES) {
        it(what, () => expect(said([object], declaration)).to.deep.equal(lines));
    }

    it("takes allowances together, and names them all", () => {
        const one = policy({ rules: [{ when: [sni("other.example")] }] }), two = policy({ rules: [{ when: [sni("third.example")] }] }, "istio-egress/more");
        expect(said([one, two])).to.deep.equal([ALLOWS_OTHERS.replace("at the gateway,", "at the gateway (and AuthorizationPolicy istio-egress/more),")]);
        expect(said([one, policy({ rules: [{ when: [sni(HOST)] }] }, "istio-egress/more")])).to.deep.equal([]);
    });

    it("names each declaration and consumer that a policy denies", () => {
        const of = needs({ "partner-api": { consumers: [{ namespace: "payments" }, { namespace: "orders" }] }, rates: { host: "rates.partner.example" } });
        expect(linesOf(ID, { policies: { objects: [deny({ when: [sni("*.partner.example")] })], unseen: [] } }, of)).to.deep.equal([DENIES.replace("partner-api for payments", "partner-api for payments, partner-api for orders and rates for payments")]);
    });

    it("looks into the root namespace that the mesh names, and at the pods' own labels", () => {
        const inRoot = policy({ action: "DENY", rules: [{}] }, "mesh-root/all"), byLabel = policy({ action: "DENY", rules: [{}], selector: { matchLabels: { tier: "edge" } } });
        expect(said([inRoot])).to.deep.equal([]);
        expect(said([inRoot], {}, { meshes: [mesh({ rootNamespace: "mesh-root" })] })).to.have.length(1);
        expect(said([byLabel])).to.deep.equal([]);
        expect(said([byLabel], {}, pods({ ...POD, labels: { ...POD.labels, tier: "edge" } }))).to.deep.equal([DENIES]);
    });

    it("says when it could not see them, and is not put off by any shape", () => {
        expect(linesOf(ID, { policies: { objects: [], unseen: [{ kind: "forbidden", action: "list authorizationpolicies in namespace istio-egress" }] } })).to.deep.equal([
            `${ID} unknown: AuthorizationPolicy objects at the gateway are not all known: this account may not list authorizationpolicies in namespace istio-egress. → Allow it to list authorizationpolicies in namespace istio-egress, or have it looked at by somebody who may.`,
        ]);
        const shapes: readonly unknown[] = [null, 1, "x", [], {}, [null], [{}]];
        for (const value of shapes) expect(() => said([policy({ action: "DENY", selector: value, rules: [{ from: value, to: value, when: value }] }), policy({ action: value, rules: value })])).not.to.throw();
    });
});
