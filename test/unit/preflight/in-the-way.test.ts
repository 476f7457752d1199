// Objects of others in the way: which ones are, by who sees them and where rules are looked up, and what is said of them.
import { expect } from "chai";
import type { IstioObject, Snapshot } from "../../../cli/preflight/snapshot";
import { GatewayConsumers } from "../../../model";
import { GATEWAY } from "../../support/declarations";
import { DIRECT, NOTHING, SERVICE_HOST, cluster, complaints, foreign, line, linesOf, mesh, needs, objects } from "./support";
import { judge } from "../../../cli/preflight/checks";

const HOST = "api.partner.example";
const OWN = { annotations: { "istio-egress/declaration": "partner-api" } };

const entry = (place: string, spec: object = {}, changes: Partial<IstioObject> = {}): IstioObject => foreign("ServiceEntry", place, { hosts: [HOST], ...spec }, changes);
const route = (place: string, spec: object = {}): IstioObject => foreign("VirtualService", place, { hosts: [HOST], ...spec });
const rule = (place: string, spec: object = {}, changes: Partial<IstioObject> = {}): IstioObject => foreign("DestinationRule", place, { host: HOST, ...spec }, changes);
const subsets = (place: string, spec: object = {}, changes: Partial<IstioObject> = {}): IstioObject => rule(place, { host: SERVICE_HOST, ...spec }, changes);
const servers = (place: string, spec: object): IstioObject => foreign("Gateway", place, { selector: { istio: "egressgateway" }, ...spec });
const tls = (hosts: readonly string[], number = 443, protocol = "TLS"): object => ({ servers: [{ port: { number, name: "x", protocol }, hosts, tls: { mode: "PASSTHROUGH" } }] });

const BREAK = "two ServiceEntries of one host break or shadow each other. → Delete it, or take the host out of it; else limit its exportTo to namespaces that the declaration does not name.";
const MERGE = "rules merge only when exported alike, and otherwise hide one another.";
const DROPPED = "istiod drops the later server without a word. → Delete its server, or take the host out of it.";
const REFUSED = "with a VirtualService for that host Envoy refuses the whole listener. → Narrow its hosts to names that are not declared here.";
const BELONGS = "what it sets belongs into the declaration (or manifestOverrides).";
const BEFORE = "they take the rules of their own namespace, which up writes. → Before up, move what these namespaces use of it into each of them, with exportTo: [\".\"].";

const CASES: readonly (readonly [what: string, there: readonly IstioObject[], lines: readonly string[], changes?: Partial<Snapshot>])[] = [
    // In the place of one of ours.
    ["an object of our name", [entry("egress/egress-api-partner-example", {})], ["place-taken missing: ServiceEntry egress/egress-api-partner-example exists and was not written by this library, but has the name of an object of partner-api: up would fail on it, or take it over. → Delete it or give it another name; to take it over, import it (pulumi import)."]],
    ["an object of another declaration", [entry("egress/egress-api-partner-example", {}, { ...OWN, annotations: { "istio-egress/declaration": "partner" } })], ["place-taken warning: ServiceEntry egress/egress-api-partner-example was written for the declaration partner, and is now of partner-api: a new Pulumi name without an alias creates and then deletes the same object. → Alias it: docs/pulumi.md, Renames."]],
    // A creation that was cut off.
    ["an object of ours with two owners", [entry("egress/egress-api-partner-example", {}, { ...OWN, fieldManagers: ["kubectl-edit", "pulumi-kubernetes-aaaa", "pulumi-kubernetes-bbbb"] })], ["field-owners warning: ServiceEntry egress/egress-api-partner-example has fields that pulumi-kubernetes-aaaa owns beside pulumi-kubernetes-bbbb, since a creation of it was cut off: a later change is refused with a conflict, and a field that a change removes stays. → kubectl -n egress patch serviceentries.networking.istio.io egress-api-partner-example --type=json -p '[{\"op\":\"test\",\"path\":\"/metadata/managedFields/1/manager\",\"value\":\"pulumi-kubernetes-aaaa\"},{\"op\":\"remove\",\"path\":\"/metadata/managedFields/1\"}]'"]],
    ["objects of ours with one owner of ours", [entry("egress/egress-api-partner-example", {}, { ...OWN, fieldManagers: ["kubectl-edit", "pulumi-kubernetes-aaaa"] })], []],
    // ServiceEntries of the same host.
    ["an entry that all see", [entry("shop/partner")], [`host-taken missing: ServiceEntry shop/partner declares ${HOST} too and is seen by istio-egress and payments, as that of partner-api is: ${BREAK}`]],
    ["an entry of other case", [entry("shop/partner", { hosts: ["other.example", "API.partner.example."], exportTo: ["payments"] })], [`host-taken missing: ServiceEntry shop/partner declares ${HOST} too and is seen by payments, as that of partner-api is: ${BREAK}`]],
    ["an entry in the consumer's namespace", [entry("payments/partner", { exportTo: ["."] })], [`host-taken missing: ServiceEntry payments/partner declares ${HOST} too and is seen by payments, as that of partner-api is: ${BREAK}`]],
    ["an entry that others alone see", [entry("shop/partner", { exportTo: [".", "orders"] }), entry("old/partner", { exportTo: ["~"] })], []],
    ["an entry that the mesh keeps private", [entry("shop/partner")], ["gateway-visible"], { meshes: [mesh({ defaultServiceExportTo: ["."] })] }],
    ["an entry of another host", [entry("shop/partner", { hosts: ["other.partner.example"] })], []],
    ["our own entries", [entry("egress/former", {}, OWN), entry("payments/former", {}, OWN)], []],
    ["a wildcard entry", [entry("shop/partner", { hosts: ["*.partner.example"] })], []],
    // VirtualServices of the same host.
    ["a route of the sidecars", [route("shop/partner")], [`route-taken missing: VirtualService shop/partner routes ${HOST} for the sidecars of payments, as the mesh leg of partner-api will: sidecars take one of the two. → Delete it, or take the host out of it; while it must stay, declare active: false.`]],
    ["a route of a gateway", [route("shop/partner", { gateways: ["shop/ingress"] }), route("shop/other", { hosts: ["other.example"] }), route("shop/private", { exportTo: ["."] })], []],
    // Servers on the same gateway.
    ["a server of the same host", [servers("shop/gateway", tls(["*/api.partner.example"]))], [`server-taken missing: Gateway shop/gateway has a server for ${HOST} on port 443 of the gateway's pods, as partner-api will: ${DROPPED}`]],
    ["a server of a wildcard", [servers("shop/gateway", tls(["*.partner.example"]))], [`server-taken warning: Gateway shop/gateway has a server for *.partner.example on port 443 of the gateway's pods, which covers ${HOST} of partner-api: ${REFUSED}`]],
    ["a server without TLS", [servers("shop/gateway", tls(["*"], 443, "HTTP"))], ["server-taken missing: Gateway shop/gateway has a server of protocol HTTP on port 443 of the gateway's pods, on which hosts of this catalogue speak TLS: the two do not share a port. → Move its server to another port of the gateway."]],
    ["servers elsewhere", [servers("shop/gateway", tls([HOST], 8443)), servers("shop/ingress", { selector: { istio: "ingressgateway" }, ...tls([HOST]) }), servers("shop/other", tls(["other.example"]))], []],
    ["a server of all gateways", [servers("shop/gateway", { selector: {}, ...tls([HOST]) })], [`server-taken missing: Gateway shop/gateway has a server for ${HOST} on port 443 of the gateway's pods, as partner-api will: ${DROPPED}`]],
    // Rules of the gateway's Service.
    ["subsets without exportTo in the consumer's namespace", [subsets("payments/egress")], [`subsets-hidden missing: DestinationRule payments/egress is for the gateway's Service and has no exportTo, but the subsets of this catalogue in payments have exportTo ["."]: ${MERGE} → Give it exportTo: ["."], or delete it.`]],
    ["subsets exported to all in the consumer's namespace", [subsets("payments/egress", { exportTo: ["*"] })], [`subsets-hidden missing: DestinationRule payments/egress is for the gateway's Service and has exportTo ["*"], but the subsets of this catalogue in payments have exportTo ["."]: ${MERGE} → Give it exportTo: ["."], or delete it.`]],
    ["subsets that merge with ours", [subsets("payments/egress", { exportTo: ["."] })], []],
    ["subsets in another namespace", [subsets("shop/egress")], []],
    ["subsets with the Service", [subsets("istio-egress/egress", { host: "istio-egressgateway", subsets: [{ name: "cnn" }, { name: "bank" }] })], [`subsets-hidden warning: DestinationRule istio-egress/egress is for the gateway's Service, and its subsets (cnn and bank) will no longer count for the sidecars of payments: ${BEFORE}`]],
    ["a policy in the root namespace", [subsets("istio-system/egress")], [`subsets-hidden warning: DestinationRule istio-system/egress is for the gateway's Service, and its policy will no longer count for the sidecars of payments: ${BEFORE}`]],
    ["subsets with the Service, which ours hide already", [subsets("istio-egress/egress"), subsets("payments/ours", { exportTo: ["."] }, OWN)], []],
    ["subsets with the Service, private to it", [subsets("istio-egress/egress", { exportTo: ["."] })], []],
    // Rules of the host.
    ["a rule beside ours", [rule("egress/partner")], [`host-rule-hidden missing: DestinationRule egress/partner is for ${HOST}, as that of partner-api will be, in the same namespace: it has no exportTo and ours exportTo ["istio-egress"], so that they hide one another. → Delete it; ${BELONGS}`]],
    ["a rule beside ours, exported alike", [rule("egress/partner", { exportTo: ["istio-egress"] })], [`host-rule-hidden missing: DestinationRule egress/partner is for ${HOST}, as that of partner-api will be, in the same namespace: the two merge, and the older one's policy counts. → Delete it; ${BELONGS}`]],
    ["a rule in the gateway's namespace", [rule("istio-egress/partner")], [`host-rule-hidden missing: DestinationRule istio-egress/partner is for ${HOST}: proxies of istio-egress look in their own namespace first and would not see the rule of partner-api, which is in egress. → Delete it, or narrow its host; ${BELONGS}`]],
    ["a wildcard rule in the gateway's namespace", [rule("istio-egress/all", { host: "*.example" })], [
        `host-rule-hidden missing: DestinationRule istio-egress/all is for *.example, which covers ${HOST}: proxies of istio-egress look in their own namespace first and would not see the rule of partner-api, which is in egress. → Delete it, or narrow its host; ${BELONGS}`,
    ]],
    ["a wildcard rule in the direct consumer's namespace", [rule("build/all", { host: "*" })], [
        `host-rule-hidden missing: DestinationRule build/all is for *, which covers api.code.example: proxies of build look in their own namespace first and would not see the rule of source-code, which is in egress. → Delete it, or narrow its host; ${BELONGS}`,
    ]],
    ["rules that nobody here looks at", [rule("shop/partner"), rule("istio-egress/other", { host: "*.other.example" }), rule("istio-egress/abroad", { exportTo: ["shop"] }), rule("egress/all", { host: "*" }), rule("istio-system/all", { host: "*" })], []],
];

describe("objects in the way", () => {
    for (const [what, there, lines, changes = {}] of CASES) {
        it(`${lines.length === 0 ? "leaves" : "tells"}: ${what}`, () => {
            const found = complaints({ ...objects(...there), ...changes });
            // A case about something else names the check that speaks of it.
            expect(lines.some((text) => text.includes(" ")) || lines.length === 0 ? found : found.map((text) => text.split(" ")[0])).to.deep.equal(lines);
        });
    }

    it("looks in the root namespace at private rules only", () => {
        const inRoot = needs({ "partner-api": { gateway: { ...GATEWAY, namespace: "istio-system", serviceHost: "egress.istio-system.svc.cluster.local" } } });
        const hidden = (spec: object): number => linesOf("host-rule-hidden", objects(rule("istio-system/partner", spec)), inRoot).length;
        expect([{}, { exportTo: ["*"] }, { exportTo: ["."] }, { exportTo: ["istio-system"] }].map(hidden)).to.deep.equal([0, 0, 1, 1]);
    });

    it("takes the root namespace from meshConfig", () => {
        const changes = { ...objects(subsets("istio-config/egress")), meshes: [mesh({ rootNamespace: "istio-config" })] };
        expect(linesOf("subsets-hidden", changes)).to.have.length(1);
        expect(linesOf("subsets-hidden", objects(subsets("istio-config/egress")))).to.have.length(0);
    });

    it("knows the gateway for all: its subsets are with the Service, for everybody", () => {
        const forAll = needs({ "partner-api": { gateway: { ...GATEWAY, consumers: GatewayConsumers.All }, consumers: [{ namespace: "*" }] } });
        expect(linesOf("subsets-hidden", objects(subsets("shop/egress"), subsets("istio-egress/egress"), subsets("istio-egress/same", { exportTo: ["*"] }), subsets("far/egress", { exportTo: ["shop"] })), forAll)).to.deep.equal([
            "subsets-hidden missing: DestinationRule shop/egress is for the gateway's Service: the sidecars of shop look in their own namespace first and would not see the subsets, which are in istio-egress. → Delete it.",
            `subsets-hidden missing: DestinationRule istio-egress/egress is for the gateway's Service and has no exportTo, but the subsets of this catalogue have exportTo ["*"]: ${MERGE} → Give it exportTo: ["*"], or delete it.`,
        ]);
        expect(linesOf("host-taken", objects(entry("shop/partner", { exportTo: ["."] })), forAll)).to.deep.equal([`host-taken missing: ServiceEntry shop/partner declares ${HOST} too and is seen by shop, as that of partner-api is: ${BREAK}`]);
        expect(linesOf("host-taken", objects(entry("shop/partner")), forAll)[0]).to.include("is seen by all namespaces");
    });

    it("has no mesh leg to compare while a declaration is not active, and none for a direct host", () => {
        expect(complaints(objects(route("shop/partner")), needs({ "partner-api": { active: false } }))).to.deep.equal([]);
        expect(complaints(objects(route("shop/code", { hosts: ["api.code.example"] })), needs({ "source-code": DIRECT }))).to.deep.equal([]);
    });

    it("finds Sidecar objects that leave out what the consumers need", () => {
        const scope = (place: string, ...hosts: readonly string[]): IstioObject => foreign("Sidecar", place, { egress: [{ hosts }] });
        const said = (...list: readonly IstioObject[]): readonly string[] => linesOf("sidecar-scope", { sidecars: { objects: list, unseen: [] } });
        expect(said(scope("payments/default", "./*", "istio-system/*"), scope("build/default", "./*", "~/*"))).to.deep.equal([
            'sidecar-scope missing: Sidecar payments/default leaves egress/* out of what its sidecars import: connections to the hosts of partner-api do not take the route. → Add "egress/*" to its spec.egress[].hosts, or the hosts alone.',
            'sidecar-scope missing: Sidecar build/default leaves egress/* out of what its sidecars import: connections to the hosts of source-code do not take the route. → Add "egress/*" to its spec.egress[].hosts, or the hosts alone.',
        ]);
        expect(said(scope("istio-system/default", "istio-system/*"))).to.deep.equal([
            'sidecar-scope missing: Sidecar istio-system/default leaves ./* and egress/* out of what its sidecars import: connections to the hosts of partner-api and source-code do not take the route. → Add "./*" and "egress/*" to its spec.egress[].hosts, or the hosts alone.',
        ]);
        const content: readonly (readonly IstioObject[])[] = [
            [scope("payments/default", "./*", "egress/*"), scope("build/default", "*/*")],
            [scope("payments/default", `payments/${HOST}`, "egress/*.partner.example"), scope("shop/default", "./*")],
            [foreign("Sidecar", "payments/default", { ingress: [] })],
            // The root's own rules no namespace that has one for all its pods.
            [scope("istio-system/default", "*/*.code.example"), scope("payments/default", "*/*")],
            [foreign("Sidecar", "istio-system/default", { workloadSelector: { labels: { a: "b" } }, egress: [{ hosts: ["~/*"] }] })],
            [foreign("Sidecar", "payments/default", { egress: [{ port: { number: 80 }, hosts: ["./*"] }, { port: { number: 443 }, hosts: ["*/*"] }] })],
        ];
        expect(content.map((list) => said(...list))).to.deep.equal(content.map(() => []));
        expect(linesOf("sidecar-scope", { sidecars: { objects: [], unseen: [{ kind: "forbidden", action: "list sidecars in all namespaces" }] } })).to.deep.equal([
            "sidecar-scope unknown: Sidecar objects are not all known: this account may not list sidecars in all namespaces. → Allow it to list sidecars in all namespaces, or have it looked at by somebody who may.",
        ]);
    });

    it("says which objects it could not see, once for all kinds", () => {
        const of = needs(), why = (plural: string): Snapshot["objects"]["Gateway"] => ({ objects: [], unseen: [{ kind: "forbidden", action: `list ${plural} in all namespaces` }] });
        const snapshot = cluster({ objects: { ServiceEntry: why("serviceentries"), DestinationRule: why("destinationrules"), Gateway: NOTHING, EnvoyFilter: NOTHING, VirtualService: { objects: [], unseen: [{ kind: "failed", action: "list virtualservices in all namespaces", text: "there was no answer in time" }] } } });
        expect(judge(of, snapshot).filter(({ id }) => id === "in-the-way").map(line)).to.deep.equal([
            "in-the-way ok: Gateway objects of others do not stand in the way of partner-api and source-code.",
            "in-the-way unknown: ServiceEntry and DestinationRule objects of others are not all known: this account may not list serviceentries and destinationrules in all namespaces. → Allow it to list serviceentries and destinationrules in all namespaces, or have it looked at by somebody who may.",
            "in-the-way unknown: VirtualService objects of others are not all known: to list virtualservices in all namespaces failed, there was no answer in time. → Run the preflight again.",
        ]);
    });

    it("is not put off by objects of any shape", () => {
        const shapes: readonly unknown[] = [null, 1, "x", [], {}, [null], [{}]];
        const odd = shapes.flatMap((value) => [entry("a/a", { hosts: value, exportTo: value }), route("b/b", { hosts: value, gateways: value }), servers("c/c", { selector: value, servers: value }), rule("d/d", { host: value, subsets: value })]);
        expect(complaints(objects(...odd))).to.deep.equal([]);
    });
});
