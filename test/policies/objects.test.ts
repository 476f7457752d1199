// Every way in which an Istio object reaches the engine, and what cannot be known of it.
import { expect } from "chai";
import { unknownValue } from "@pulumi/pulumi/runtime";
import { meshObjects, objectsIn } from "../../policies/objects";
import { UNKNOWN, plainCopy } from "../../policies/plain";
import { type Manifest, behindProxy, findingsOf, judgeWith, resourceOf, ruleOf } from "./support";

const SPEC = { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5 } } };
const bad = (more: Record<string, unknown> = {}): Manifest => ({
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "partner", namespace: "egress" }, spec: SPEC, ...more,
});
const labels = (type: string, props: object): string[] => meshObjects({ type, name: "logical", urn: "", props: behindProxy(props) }).map(({ label }) => label);
const E105 = (manifest: Manifest, type?: string): readonly string[] => judgeWith(ruleOf("E105"), resourceOf(manifest, type)).violations.map(({ message }) => message);

describe("meshObjects", () => {
    it("finds generic and generated classes, under every version of the group", () => {
        for (const version of ["v1", "v1beta1", "v1alpha3"]) {
            expect(labels(`kubernetes:networking.istio.io/${version}:DestinationRule`, bad())).to.deep.equal(["DestinationRule egress/partner"]);
        }
    });

    it("goes by the type where a class leaves out apiVersion and kind, and by the object where another package registers it", () => {
        expect(labels("kubernetes:networking.istio.io/v1:Gateway", { metadata: { name: "egress" } })).to.deep.equal(["Gateway egress"]);
        expect(labels("crds:networking/v1:DestinationRule", bad())).to.deep.equal(["DestinationRule egress/partner"]);
        expect(labels("kubernetes:networking.istio.io/v1:Gateway", { apiVersion: unknownValue, kind: unknownValue, metadata: { name: "egress" } })).to.deep.equal(["Gateway egress"]);
    });

    it("finds what stands around egress: services, namespaces, policies, authorization, and the provider of a program", () => {
        const named = (apiVersion: string, kind: string): object => ({ apiVersion, kind, metadata: { name: "egress", namespace: "istio-egress" } });
        expect(labels("kubernetes:core/v1:Service", named("v1", "Service"))).to.deep.equal(["Service istio-egress/egress"]);
        expect(labels("kubernetes:core/v1:Namespace", { metadata: { name: "egress" } })).to.deep.equal(["Namespace egress"]);
        expect(labels("kubernetes:networking.k8s.io/v1:NetworkPolicy", named("networking.k8s.io/v1", "NetworkPolicy"))).to.deep.equal(["NetworkPolicy istio-egress/egress"]);
        expect(labels("kubernetes:security.istio.io/v1:AuthorizationPolicy", named("security.istio.io/v1", "AuthorizationPolicy"))).to.deep.equal(["AuthorizationPolicy istio-egress/egress"]);
        expect(labels("pulumi:providers:kubernetes", { upsertExistingObjects: "true" })).to.deep.equal(["Provider of the resource logical"]);
    });

    it("leaves every other resource alone", () => {
        expect(labels("kubernetes:core/v1:ConfigMap", { apiVersion: "v1", kind: "ConfigMap" })).to.be.empty;
        expect(labels("kubernetes:networking.k8s.io/v1:Ingress", { apiVersion: "networking.k8s.io/v1", kind: "Ingress" })).to.be.empty;
        expect(labels("kubernetes:gateway.networking.k8s.io/v1:Gateway", { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway" })).to.be.empty;
        expect(labels("kubernetes:toString/v1:Service", { apiVersion: "toString/v1", kind: "Service" })).to.be.empty;
        expect(labels("kubernetes:helm.sh/v3:Release", { chart: "istio" })).to.be.empty;
        expect(labels("pulumi:pulumi:Stack", {})).to.be.empty;
        expect(labels("aws:s3/bucket:Bucket", { spec: SPEC })).to.be.empty;
    });

    it("names an object without a name by its resource", () => {
        expect(labels("kubernetes:networking.istio.io/v1:Gateway", {})).to.deep.equal(["Gateway of the resource logical"]);
        expect(labels("kubernetes:networking.istio.io/v1:Gateway", { metadata: { name: unknownValue } })).to.deep.equal(["Gateway of the resource logical"]);
    });

    it("takes each item of a list, typed by itself or by the list", () => {
        const list = { apiVersion: "networking.istio.io/v1", kind: "DestinationRuleList", items: [{ ...bad(), apiVersion: undefined, kind: undefined }, null, bad({ kind: "Gateway" })] };
        expect(labels("kubernetes:networking.istio.io/v1:DestinationRuleList", list)).to.deep.equal(["DestinationRule egress/partner", "Gateway egress/partner"]);
        const mixed = { apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } }, bad(), { apiVersion: "v1", kind: "List", items: [bad()] }] };
        for (const type of ["kubernetes:core/v1:List", "kubernetes:v1:List"]) {
            expect(labels(type, mixed)).to.deep.equal(["DestinationRule egress/partner", "DestinationRule egress/partner"]);
        }
        expect(labels("kubernetes:core/v1:List", { kind: "List", items: unknownValue })).to.be.empty;
        expect(labels("kubernetes:networking.istio.io/v1:GatewayList", {})).to.be.empty;
    });

    it("gives a finding in a list the path within its object, and the fix the path within the resource", () => {
        const { violations, fixes } = judgeWith(ruleOf("E105"), resourceOf({ apiVersion: "v1", kind: "List", items: [bad(), bad()] }));
        expect(violations.map(({ message }) => message)).to.have.lengthOf(2);
        expect(violations[1]?.message).to.include("DestinationRule egress/partner: spec.trafficPolicy.outlierDetection.maxEjectionPercent");
        expect(fixes[1]?.path).to.deep.equal(["items", 1, "spec", "trafficPolicy", "outlierDetection", "maxEjectionPercent"]);
    });
});

describe("a patch", () => {
    const patch = "kubernetes:networking.istio.io/v1:DestinationRulePatch";
    const outlier = (fields: object): Manifest => bad({ spec: { trafficPolicy: { outlierDetection: fields } } });

    it("is judged by what it says, and what it leaves out is not known to be missing", () => {
        expect(E105(outlier({ interval: "5s" }), patch)).to.be.empty;
        expect(E105(outlier({ maxEjectionPercent: 0 }), patch)).to.have.lengthOf(1);
        expect(judgeWith(ruleOf("E102"), resourceOf(outlier({ maxEjectionPercent: 100 }), patch)).violations).to.be.empty;
        expect(judgeWith(ruleOf("E102"), resourceOf(outlier({ maxEjectionPercent: 100, minHealthPercent: 0 }), patch)).violations).to.have.lengthOf(1);
    });

    it("names the object that it changes, also where its own kind says Patch", () => {
        expect(labels(patch, bad())).to.deep.equal(["DestinationRule egress/partner"]);
        expect(labels(patch, bad({ kind: "DestinationRulePatch" }))).to.deep.equal(["DestinationRule egress/partner"]);
    });

    it("does not hide LOGICAL_DNS on a pool that the configuration knows, and is never called undeclared", () => {
        const entry: Manifest = { apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "partner" }, spec: { hosts: ["api.partner.example"], resolution: "DNS_ROUND_ROBIN" } };
        const type = "kubernetes:networking.istio.io/v1:ServiceEntryPatch";
        const configuration = { pools: [{ host: "api.partner.example", membership: "fixed" }] };
        expect(judgeWith(ruleOf("E201"), resourceOf(entry, type), { configuration }).violations).to.have.lengthOf(1);
        expect(judgeWith(ruleOf("E207"), resourceOf(entry, type)).violations).to.be.empty;
    });
});

describe("an unknown value in a preview", () => {
    it("is known to be the sentinel of Pulumi's SDK, also inside a longer text", () => {
        expect(plainCopy(unknownValue)).to.equal(UNKNOWN);
        expect(plainCopy({ host: `api.${unknownValue}.example` })).to.deep.equal({ host: UNKNOWN });
    });

    it("never becomes a finding, at whatever level it stands", () => {
        const places: Record<string, unknown>[] = [
            { spec: unknownValue },
            { spec: { ...SPEC, trafficPolicy: unknownValue } },
            { spec: { ...SPEC, trafficPolicy: { outlierDetection: unknownValue } } },
            { spec: { ...SPEC, trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent: unknownValue } } } },
            { spec: { ...SPEC, trafficPolicy: { outlierDetection: { consecutive5xxErrors: unknownValue } } } },
            { spec: { ...SPEC, subsets: unknownValue, trafficPolicy: { portLevelSettings: unknownValue } } },
            { spec: { ...SPEC, subsets: [unknownValue], trafficPolicy: { portLevelSettings: [unknownValue] } } },
        ];
        for (const place of places) expect(findingsOf(bad(place)), JSON.stringify(place)).to.deep.equal([]);
    });

    it("does not stop the rest from being judged", () => {
        const spec = { host: unknownValue, exportTo: [unknownValue], trafficPolicy: { connectionPool: unknownValue, outlierDetection: { interval: unknownValue, consecutive5xxErrors: 5 } } };
        expect(E105(bad({ metadata: { name: "partner", namespace: unknownValue, annotations: unknownValue }, spec })))
            .to.have.lengthOf(1).and.have.nested.property("[0]").that.matches(/^E105 DestinationRule partner: /);
    });

    it("of the pool leaves the pool unknown: neither fixed nor undeclared", () => {
        const entry = (annotations: unknown, spec: object = {}): Manifest => ({
            apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "partner", annotations },
            spec: { hosts: ["api.partner.example"], resolution: "DNS_ROUND_ROBIN", ...spec },
        });
        const configuration = { pools: [{ host: "api.partner.example", membership: "fixed" }] };
        expect(findingsOf(entry(unknownValue), { configuration })).to.deep.equal([]);
        expect(findingsOf(entry({ "istio-egress/membership": unknownValue }), { configuration })).to.deep.equal([]);
        expect(findingsOf(entry({ "istio-egress/host": "api.partner.example", "istio-egress/membership": "fixed" }, { hosts: unknownValue })).map(({ policy }) => policy))
            .to.deep.equal(["logical-dns-on-small-pool"]);
        expect(findingsOf(entry({}, { hosts: unknownValue }), { configuration })).to.deep.equal([]);
    });
});

describe("plainCopy", () => {
    it("copies data, drops what is undefined, keeps names that objects inherit, and marks what is no data", () => {
        const date = new Date(0);
        expect(plainCopy({ a: [1, undefined, null], b: undefined, c: { constructor: "x" }, d: date, e: () => 1, f: 1n })).to.deep.equal({ a: [1, null, null], c: { constructor: "x" }, d: UNKNOWN, e: UNKNOWN, f: UNKNOWN });
        const hostile = JSON.parse("{\"__proto__\": {\"polluted\": true}}") as object;
        expect(Object.keys(plainCopy(hostile) as object)).to.deep.equal(["__proto__"]);
        expect(({} as Record<string, unknown>)["polluted"]).to.equal(undefined);
    });

    it("ends at a depth that no object has, and survives objects that throw", () => {
        let deep: object = {};
        for (let level = 0; level < 100_000; level++) deep = { deep };
        expect(() => plainCopy(deep)).to.not.throw();
        const throwing = new Proxy({}, { ownKeys: () => { throw new Error("no"); } });
        expect(plainCopy({ a: throwing, get b(): number { throw new Error("no"); } })).to.deep.equal({ a: UNKNOWN, b: UNKNOWN });
    });
});

describe("what is made once of an object", () => {
    it("is made by the first who asks, also where it is undefined, and each time for an object that tells of its reads", () => {
        const [object] = objectsIn(bad()), made: string[] = [];
        const ask = (one: typeof object): unknown => one?.once("spec", () => { made.push("made"); return undefined; });
        ask(object);
        ask(object);
        expect(made).to.deep.equal(["made"]);
        const watched = object?.watched(() => undefined);
        ask(watched);
        ask(watched);
        expect(made).to.have.length(3);
    });

    it("is no field where it is inherited", () => {
        const [object] = objectsIn(bad());
        for (const key of ["constructor", "__proto__", "toString"]) expect(object?.at(["spec", key]), key).to.equal(undefined);
        expect(object?.at(["spec", "host", "length"])).to.equal(UNKNOWN);
    });
});
