// Rules about objects together, on both sides of what one proxy sees; full messages are in the fixtures.
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { type JudgeOptions, type Manifest, fixtures, judgeWith, resourceOf, ruleOf } from "./support";

const read = (text: string): Manifest[] => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const levels = (code: string, manifests: readonly Manifest[], options: JudgeOptions = {}): string[] =>
    judgeWith(ruleOf(code), manifests.map((manifest) => resourceOf(manifest)), options).violations.map(({ level }) => level ?? ruleOf(code).level);
const unjudged = (code: string, manifests: readonly Manifest[]): readonly string[] => judgeWith(ruleOf(code), manifests.map((manifest) => resourceOf(manifest))).unjudged;

function entry(name: string, spec: Record<string, unknown>, namespace = "egress"): Manifest {
    return {
        apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name, namespace },
        spec: { hosts: ["api.partner.example"], location: "MESH_EXTERNAL", resolution: "DNS", ports: [{ number: 443, name: "tls", protocol: "TLS" }], ...spec },
    };
}
const sidecar = (namespace: string, hosts: readonly string[], spec: object = {}): Manifest => ({
    apiVersion: "networking.istio.io/v1", kind: "Sidecar", metadata: { name: "default", namespace }, spec: { egress: [{ hosts }], ...spec },
});
/** The complete mTLS passthrough setup of the fixtures, with one object changed. */
function setup(change: (manifest: Manifest) => Manifest | undefined = (manifest) => manifest): Manifest[] {
    const whole = fixtures("valid").find(({ file }) => file.startsWith("E203-"))?.manifests ?? [];
    return whole.flatMap((manifest) => change(structuredClone(manifest)) ?? []);
}
const named = (name: string, change: (spec: Record<string, unknown>) => Record<string, unknown> | undefined) => (manifest: Manifest): Manifest | undefined => {
    if (manifest.metadata?.["name"] !== name) return manifest;
    const spec = change(manifest.spec ?? {});
    return spec === undefined ? undefined : { ...manifest, spec };
};

describe("E301 host-twice", () => {
    it("finds two entries that some proxy sees together", () => {
        for (const [one, other] of [[undefined, undefined], [["*"], ["payments"]], [["payments", "orders"], ["orders"]], [["."], ["egress"]]] as const) {
            expect(levels("E301", [entry("a", { exportTo: one }), entry("b", { exportTo: other, resolution: "NONE" })]), JSON.stringify([one, other])).to.deep.equal(["mandatory"]);
        }
    });

    it("leaves alone views that no proxy sees together, ports that merge, and NONE twice", () => {
        expect(levels("E301", [entry("a", { exportTo: ["istio-egress"] }), entry("b", { exportTo: ["."], resolution: "NONE" }, "payments"), entry("c", { exportTo: ["."], resolution: "NONE" }, "orders")])).to.be.empty;
        expect(levels("E301", [entry("a", { exportTo: ["~"] }), entry("b", { resolution: "NONE" })])).to.be.empty;
        expect(levels("E301", [entry("a", {}), entry("b", { ports: [{ number: 8443, name: "tls", protocol: "TLS" }] })])).to.be.empty;
        expect(levels("E301", [entry("a", { resolution: "NONE" }), entry("b", { resolution: "NONE" })])).to.be.empty;
        expect(levels("E301", [entry("a", { hosts: ["api.partner.example", "API.partner.example."] })])).to.be.empty;
    });

    it("follows the Sidecar of a namespace, and the root's where it has none", () => {
        const both = [entry("a", { exportTo: ["payments"] }), entry("b", { exportTo: ["payments"], resolution: "NONE" }, "orders")];
        expect(levels("E301", both)).to.deep.equal(["mandatory"]);
        for (const place of ["payments", "istio-system"]) {
            expect(levels("E301", [...both, sidecar(place, ["egress/*", "./*"])])).to.be.empty;
            expect(levels("E301", [...both, sidecar(place, ["*/*"])])).to.deep.equal(["mandatory"]);
        }
        // A Sidecar for some workloads leaves the others of the namespace.
        expect(levels("E301", [...both, sidecar("payments", ["egress/*"], { workloadSelector: { labels: { app: "a" } } })])).to.deep.equal(["mandatory"]);
        expect(levels("E301", [...both, sidecar("orders", ["egress/*"])])).to.deep.equal(["mandatory"]);
    });
});

describe("E203 none-behind-gateway", () => {
    it("judges what the gateway sees: its own view, not the client's", () => {
        expect(levels("E203", setup())).to.be.empty;
        expect(levels("E203", setup(named("partner-api", (spec) => ("hosts" in spec && "resolution" in spec ? { ...spec, resolution: undefined } : spec))))).to.deep.equal(["mandatory"]);
    });

    it("knows the gateway by its Service where no mesh leg is at hand, and says nothing where it does not know it", () => {
        const service: Manifest = { apiVersion: "v1", kind: "Service", metadata: { name: "gw", namespace: "istio-egress" }, spec: { selector: { istio: "egressgateway", app: "gw" }, ports: [{ port: 443 }] } };
        const none = setup((manifest) => (manifest.metadata?.["name"] === "partner-api-mesh" ? undefined : named("partner-api", (spec) => ("hosts" in spec && "resolution" in spec ? { ...spec, resolution: "NONE" } : spec))(manifest)));
        expect(levels("E203", none)).to.be.empty;
        expect(levels("E203", [...none, service])).to.deep.equal(["mandatory"]);
    });
});

describe("E303 tcp-without-addresses", () => {
    const tcp = (name: string, hosts: readonly string[], spec: Record<string, unknown> = {}): Manifest => entry(name, { hosts, ports: [{ number: 5432, name: "tcp", protocol: "TCP" }], resolution: "NONE", ...spec });
    const said = (...manifests: readonly Manifest[]): readonly string[] =>
        judgeWith(ruleOf("E303"), manifests.map((manifest) => resourceOf(manifest))).violations.map(({ message, level = "mandatory" }) => `${level}: ${message.replace(/^.* is missing for (.*?): .*$/s, "$1")}`);

    it("tells of an entry's port once, whatever the number of its hosts", () => {
        expect(said(tcp("one", ["a.example"]))).to.deep.equal(["advisory: the TCP port 5432 of a.example"]);
        expect(said(tcp("two", ["a.example", "b.example"]))).to.deep.equal(["mandatory: the TCP port 5432 of a.example and b.example"]);
        expect(said(tcp("resolved", ["a.example", "b.example"], { resolution: "DNS" }))).to.deep.equal(["advisory: the TCP port 5432 of a.example and b.example"]);
        expect(said(tcp("two", ["a.example", "b.example"]), tcp("third", ["c.example"]))).to.deep.equal([
            "mandatory: the TCP port 5432 of a.example and b.example",
            "mandatory: the TCP port 5432 of c.example, and ServiceEntry egress/two has the same port without addresses for a.example and b.example, seen together by every namespace",
        ]);
        const ports = [5432, 5433].map((number) => ({ number, name: `tcp-${number}`, protocol: "TCP" }));
        expect(said(tcp("ports", ["a.example"], { ports }))).to.deep.equal(["advisory: the TCP port 5432 of a.example", "advisory: the TCP port 5433 of a.example"]);
    });

    it("takes two views of one host for one host", () => {
        expect(said(tcp("gateway", ["a.example"]), tcp("client", ["A.example."]))).to.deep.equal(["advisory: the TCP port 5432 of a.example", "advisory: the TCP port 5432 of a.example"]);
    });

    it("is content with addresses, and with ports whose connections carry a name", () => {
        expect(said(tcp("listed", ["a.example", "b.example"], { addresses: ["192.0.2.1"] }), tcp("tls", ["c.example"], { ports: [{ number: 5432, name: "tls", protocol: "TLS" }] }))).to.deep.equal([]);
    });
});

describe("E304 sni-twice", () => {
    const route = (name: string, port: number | undefined, gateway = "istio-egress/gw"): Manifest => ({
        apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name, namespace: "istio-egress" },
        spec: { hosts: ["api.partner.example"], gateways: [gateway], tls: [{ match: [{ port, sniHosts: ["api.partner.example"] }], route: [{ destination: { host: "api.partner.example" } }] }] },
    });

    it("finds one SNI in two VirtualServices of a gateway, on the same port", () => {
        expect(levels("E304", [route("a", 443), route("b", 443)])).to.deep.equal(["mandatory"]);
        expect(levels("E304", [route("a", 443), route("b", 8443)])).to.be.empty;
        expect(levels("E304", [route("a", 443), route("b", 443, "other")])).to.be.empty;
    });

    it("tells servers of other pods, other addresses and redirects apart", () => {
        const gateway = (name: string, spec: object, server: object = {}): Manifest => ({
            apiVersion: "networking.istio.io/v1", kind: "Gateway", metadata: { name, namespace: "istio-egress" },
            spec: { selector: { istio: "egressgateway" }, servers: [{ port: { number: 443, protocol: "TLS" }, hosts: ["api.partner.example"], tls: { mode: "PASSTHROUGH" }, ...server }], ...spec },
        });
        expect(levels("E304", [gateway("a", {}), gateway("b", {})])).to.deep.equal(["mandatory"]);
        expect(levels("E304", [gateway("a", {}), gateway("b", { selector: { istio: "other" } })])).to.be.empty;
        expect(levels("E304", [gateway("a", {}), gateway("b", { selector: undefined })])).to.be.empty;
        expect(levels("E304", [gateway("a", {}), gateway("b", {}, { bind: "127.0.0.1" })])).to.be.empty;
        expect(levels("E304", [gateway("a", {}), gateway("b", {}, { hosts: ["payments/api.partner.example"] })])).to.deep.equal(["mandatory"]);
        expect(levels("E304", [gateway("a", {}, { port: { number: 80, protocol: "HTTP" }, tls: { httpsRedirect: true } }), gateway("b", {}, { port: { number: 80, protocol: "HTTP" }, tls: { httpsRedirect: true } })])).to.be.empty;
    });
});

describe("E401 export-unseen", () => {
    it("finds a gateway or a consumer that does not see its part", () => {
        expect(levels("E401", setup())).to.be.empty;
        expect(levels("E401", setup(named("partner-api-client", () => undefined)))).to.deep.equal(["mandatory"]);
        expect(levels("E401", setup(named("partner-api-gateway", (spec) => ({ ...spec, exportTo: ["payments"] }))))).to.deep.equal(["mandatory"]);
        expect(levels("E401", setup((manifest) => (manifest.kind === "DestinationRule" && manifest.metadata?.["namespace"] === "egress" ? { ...manifest, spec: { ...manifest.spec, exportTo: ["payments"] } } : manifest)))).to.deep.equal(["mandatory"]);
        const moved = setup((manifest) => (manifest.kind === "DestinationRule" && manifest.metadata?.["namespace"] === "egress" ? { ...manifest, metadata: { ...manifest.metadata, namespace: "third" } } : manifest));
        expect(judgeWith(ruleOf("E401"), moved.map((manifest) => resourceOf(manifest))).violations.map(({ message }) => message.slice(0, 67))).to.deep.equal(["E401 DestinationRule third/partner-api: metadata.namespace is third"]);
    });

    it("tells once of many hosts that are exported to all", () => {
        const hosts = (count: number): Manifest[] => Array.from({ length: count }, (_, index) => entry(`h${index}`, { hosts: [`h${index}.partner.example`] }));
        expect(levels("E401", hosts(49))).to.be.empty;
        expect(levels("E401", hosts(50))).to.deep.equal(["advisory"]);
        expect(levels("E401", hosts(200), { configuration: { hostsForAll: 500 } })).to.be.empty;
    });
});

describe("E403 route-into-nothing", () => {
    it("says what is not at hand, and judges it where all is", () => {
        const without = setup((manifest) => (manifest.kind === "ServiceEntry" ? undefined : manifest));
        expect(levels("E403", without)).to.be.empty;
        expect(unjudged("E403", without)).to.deep.equal(["E403 VirtualService istio-egress/partner-api-gateway: spec.tcp[0].route[0].destination.host is api.partner.example, of which no ServiceEntry is at hand. It may be in another stack or file: whether it exists is not judged."]);
        expect(levels("E403", without, { configuration: { objects: "all" } })).to.deep.equal(["mandatory"]);
        expect(levels("E403", setup((manifest) => (manifest.kind === "VirtualService" ? undefined : manifest)), { configuration: { objects: "all" } })).to.deep.equal(["advisory"]);
    });

    it("leaves routes between services of the mesh alone", () => {
        const inside: Manifest = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "reviews", namespace: "shop" }, spec: { hosts: ["reviews"], http: [{ route: [{ destination: { host: "reviews", subset: "v2" } }] }] } };
        expect(levels("E403", [inside], { configuration: { objects: "all" } })).to.be.empty;
        expect(unjudged("E403", [inside])).to.be.empty;
    });
});

describe("E404 mutual-without-sni", () => {
    const withTls = (tls: object): Manifest[] => setup(named("partner-api-subset", (spec) => ({ ...spec, subsets: [{ name: "partner-api", trafficPolicy: { tls } }] })));

    it("finds an sni that is missing, or another host's", () => {
        expect(levels("E404", withTls({ mode: "ISTIO_MUTUAL", sni: "api.partner.example" }))).to.be.empty;
        expect(levels("E404", withTls({ mode: "ISTIO_MUTUAL" }))).to.deep.equal(["mandatory"]);
        expect(levels("E404", withTls({ mode: "ISTIO_MUTUAL", sni: "pay.partner.example" }))).to.deep.equal(["mandatory"]);
        expect(levels("E404", withTls({ mode: "SIMPLE" }))).to.be.empty;
    });

    it("leaves a gateway for every name alone, and says where none is at hand", () => {
        const bare = withTls({ mode: "ISTIO_MUTUAL" });
        expect(levels("E404", bare.map((manifest) => (manifest.kind === "Gateway" ? { ...manifest, spec: { ...manifest.spec, servers: [{ port: { number: 443, protocol: "TLS" }, hosts: ["*"], tls: { mode: "ISTIO_MUTUAL" } }] } } : manifest)))).to.be.empty;
        const without = bare.filter(({ kind }) => kind !== "Gateway");
        expect(levels("E404", without)).to.be.empty;
        expect(unjudged("E404", without).join()).to.include("no ISTIO_MUTUAL server for api.partner.example is at hand");
    });
});

describe("E409 subset-rule-hidden", () => {
    const subset = (name: string, namespace: string, exportTo: readonly string[] | undefined, subsetName = "partner-api"): Manifest => ({
        apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name, namespace },
        spec: { host: "egressgateway.istio-egress.svc.cluster.local", exportTo, subsets: [{ name: subsetName, trafficPolicy: { outlierDetection: { maxEjectionPercent: 50 } } }] },
    });
    const rest = setup((manifest) => (manifest.metadata?.["name"] === "partner-api-subset" ? undefined : manifest));
    const forAll = rest.map((manifest) => (manifest.metadata?.["name"] === "partner-api-mesh" ? { ...manifest, spec: { ...manifest.spec, exportTo: ["*"] } } : manifest));

    it("takes the client's namespace, the Service's and the root's, and no other", () => {
        for (const namespace of ["payments", "istio-egress", "istio-system"]) expect(levels("E409", [...rest, subset("s", namespace, ["*"])]), namespace).to.be.empty;
        for (const namespace of ["egress", "orders"]) expect(levels("E409", [...rest, subset("s", namespace, ["*"])]), namespace).to.deep.equal(["mandatory"]);
        expect(levels("E409", [...rest, subset("s", "istio-egress", ["."])])).to.deep.equal(["mandatory"]);
    });

    it("finds the one placement hidden by the other", () => {
        expect(levels("E409", [...forAll, subset("all", "istio-egress", ["*"])])).to.be.empty;
        expect(levels("E409", [...forAll, subset("all", "istio-egress", ["*"]), subset("own", "payments", ["."], "other")])).to.deep.equal(["mandatory"]);
        expect(levels("E409", [...rest, subset("all", "istio-egress", ["*"]), subset("own", "orders", ["."], "other")])).to.be.empty;
    });

    it("finds unequal exportTo within a namespace only where somebody sees both", () => {
        expect(levels("E409", [...rest, subset("a", "payments", ["."]), subset("b", "payments", ["*"], "other")])).to.deep.equal(["mandatory"]);
        expect(levels("E409", [...rest, subset("a", "payments", ["."]), subset("b", "payments", ["payments", "payments"], "other")])).to.deep.equal(["mandatory"]);
        expect(levels("E409", [...rest, subset("a", "istio-egress", ["payments"]), subset("b", "istio-egress", ["orders"], "other")])).to.be.empty;
    });
});

describe("rules about gateways", () => {
    it("E405 takes the match's own gateways, and both kinds of a route that is bound to both", () => {
        const passthrough = read(`
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: gw, namespace: default}
spec: {selector: {istio: egressgateway}, servers: [{port: {number: 443, name: tls, protocol: TLS}, hosts: [edition.example.com], tls: {mode: PASSTHROUGH}}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: direct, namespace: default}
spec:
  hosts: [edition.example.com]
  gateways: [mesh, gw]
  tls:
  - match: [{gateways: [mesh], port: 443, sniHosts: [edition.example.com]}]
    route: [{destination: {host: istio-egressgateway.istio-system.svc.cluster.local, subset: cnn, port: {number: 443}}}]
  - match: [{gateways: [gw], port: 443, sniHosts: [edition.example.com]}]
    route: [{destination: {host: edition.example.com, port: {number: 443}}}]
`);
        expect(levels("E405", passthrough)).to.be.empty;
        const https = passthrough.map((manifest) => (manifest.kind === "Gateway" ? { ...manifest, spec: { ...manifest.spec, servers: [{ port: { number: 443, protocol: "HTTPS" }, hosts: ["edition.example.com"], tls: { mode: "ISTIO_MUTUAL" } }] } } : manifest));
        expect(levels("E405", https)).to.deep.equal(["mandatory"]);
    });

    it("E108 leaves a wildcard route without a gateway, and outlier detection of the whole rule, alone", () => {
        expect(levels("E108", setup(named("partner-api-subset", (spec) => ({ ...spec, trafficPolicy: { outlierDetection: { maxEjectionPercent: 50 } }, subsets: [{ name: "partner-api" }] }))))).to.be.empty;
        expect(levels("E108", setup(named("partner-api-subset", (spec) => ({ ...spec, subsets: [{ name: "partner-api" }] }))))).to.deep.equal(["advisory"]);
    });

    it("E505 is content with an AuthorizationPolicy at the gateway, and with NetworkPolicies at every consumer", () => {
        const policy = (apiVersion: string, kind: string, namespace: string, spec: Record<string, unknown>): Manifest => ({ apiVersion, kind, metadata: { name: "p", namespace }, spec });
        const options = { configuration: { objects: "all" } };
        expect(levels("E505", setup(), options)).to.deep.equal(["advisory"]);
        expect(levels("E505", setup())).to.be.empty;
        expect(unjudged("E505", setup())).to.have.lengthOf(1);
        expect(levels("E505", [...setup(), policy("security.istio.io/v1", "AuthorizationPolicy", "istio-egress", {})], options)).to.be.empty;
        expect(levels("E505", [...setup(), policy("networking.k8s.io/v1", "NetworkPolicy", "payments", { policyTypes: ["Ingress"] })], options)).to.deep.equal(["advisory"]);
        expect(levels("E505", [...setup(), policy("networking.k8s.io/v1", "NetworkPolicy", "payments", { egress: [] })], options)).to.be.empty;
    });
});
