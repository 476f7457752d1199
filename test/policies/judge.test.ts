// Judging outside of any engine: order, levels, exemptions, what is not judged, what is at hand.
import { expect } from "chai";
import { type JudgeOptions, Catalogues, type MeshObject, RULES, judgeObjects, objectsIn, readCatalogue, readExemption } from "../../policies/library";
import { type Manifest, NOW, fixtures } from "./support";

const OPTIONS: JudgeOptions = { rules: RULES, catalogues: new Catalogues(readCatalogue, []), now: NOW };
const rule = (annotations: Record<string, string> = {}, name = "partner"): Manifest => ({
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name, namespace: "egress", annotations },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5 } } },
});
const objects = (...manifests: readonly unknown[]): readonly MeshObject[] => manifests.flatMap((manifest) => objectsIn(manifest));
const until = (text: string): Manifest => rule({ "istio-egress/exempt-E105": text });

describe("judgeObjects", () => {
    it("gives what a tool needs of a finding, by object and then by code", () => {
        const [first, second] = objects({ apiVersion: "v1", kind: "List", items: [rule({}, "b"), { ...rule({}, "a"), apiVersion: "networking.istio.io/v1beta1" }] });
        const { findings, unjudged, exempted, problems } = judgeObjects([first, second] as MeshObject[], OPTIONS);
        expect(findings.map(({ code, label, object }) => [code, label, object])).to.deep.equal([["E105", "DestinationRule egress/b", first], ["E105", "DestinationRule egress/a", second], ["E602", "DestinationRule egress/a", second]]);
        expect(second?.position).to.deep.equal(["items", 1]);
        const [finding] = findings;
        expect(finding).to.deep.include({ code: "E105", name: "ejection-guard-missing", level: "mandatory", severity: "high", path: ["spec", "trafficPolicy", "outlierDetection", "maxEjectionPercent"], field: "spec.trafficPolicy.outlierDetection.maxEjectionPercent" });
        expect(finding).to.have.property("message").that.equals(`E105 DestinationRule egress/b: spec.trafficPolicy.outlierDetection.maxEjectionPercent ${finding?.text} See docs/rules/E105.md`);
        expect({ unjudged, exempted, problems }).to.deep.equal({ unjudged: [], exempted: [], problems: [] });
    });

    it("finds in every fixture what the pack finds", () => {
        for (const { file, manifests, findings: expected, configuration, environment } of fixtures("invalid").filter(({ configuration: given }) => Object.keys(given).length === 0)) {
            const { findings } = judgeObjects(objects(...manifests), { ...OPTIONS, environment });
            expect(findings.map(({ level, message }) => `${level} ${message}`).sort(), file).to.deep.equal(expected.map(({ level, message }) => `${level} ${message}`).sort());
            expect(configuration).to.deep.equal({});
        }
    });

    it("takes levels and properties in the format of the pack's configuration", () => {
        const found = (configuration: JudgeOptions["configuration"]): string[] => judgeObjects(objects(rule()), { ...OPTIONS, configuration }).findings.map(({ code, level }) => `${code} ${level}`);
        expect(found({ all: "advisory" })).to.deep.equal(["E105 advisory"]);
        expect(found({ all: "disabled", "ejection-guard-missing": { enforcementLevel: "remediate" } })).to.deep.equal(["E105 mandatory"]);
        expect(found({ "ejection-guard-missing": "disabled" })).to.deep.equal([]);
        expect(found({ "ejection-guard-missing": { pools: [{ host: "api.partner.example", membership: "fixed", addressesPerAnswer: 12 }] } })).to.deep.equal(["E105 advisory"]);
        expect(judgeObjects(objects(rule()), { ...OPTIONS, configuration: { "ejection-guard-missing": { pool: [] } } }).problems).to.have.lengthOf(1);
    });

    it("tells of pools that the caller knows, and of kinds of which everything is at hand", () => {
        const pools = [{ host: "api.partner.example", membership: "fixed", addressesPerAnswer: 2 }] as const;
        expect(judgeObjects(objects(rule()), { ...OPTIONS, pools }).findings.map(({ code }) => code)).to.deep.equal(["E105", "E111", "E407"]);
        const filter = fixtures("invalid").find(({ file }) => file.startsWith("E603-"))?.manifests ?? [];
        expect(judgeObjects(objects(...filter), OPTIONS)).to.have.nested.property("unjudged.length", 1);
        expect(judgeObjects(objects(...filter), { ...OPTIONS, complete: ["ServiceEntry"] }).findings.map(({ code }) => code)).to.deep.equal(["E603"]);
    });

    it("reads any value: no object of ours, cycles and depth included", () => {
        const cycle: Record<string, unknown> = { apiVersion: "networking.istio.io/v1", kind: "Gateway" };
        cycle["spec"] = cycle;
        for (const value of [null, undefined, 1, "text", [], {}, { kind: "List" }, { kind: "List", items: [null, 1, [], { kind: "List", items: {} }] }]) expect(objects(value)).to.deep.equal([]);
        expect(judgeObjects(objects(cycle), OPTIONS).problems).to.deep.equal([]);
        expect(objects({ apiVersion: "v1", kind: "Service" }).map(({ label }) => label)).to.deep.equal(["Service of no name"]);
    });
});

describe("an exemption", () => {
    it("takes the findings of its rule away until its day, and is told with its reason", () => {
        const { findings, exempted } = judgeObjects(objects(until("until 2026-11-30: the partner changes its pool")), OPTIONS);
        expect(findings).to.deep.equal([]);
        expect(exempted.map(({ code, until: day, reason }) => [code, day, reason])).to.deep.equal([["E105", "2026-11-30", "the partner changes its pool"]]);
    });

    it("that has expired, or lacks its day or its reason, exempts from nothing and is a finding", () => {
        for (const text of ["until 2026-11-29: too late", "until 2027-01-31:", "until 2027-02-30: no such day", "2027-01-31: no until", "", "true"]) {
            expect(judgeObjects(objects(until(text)), OPTIONS).findings.map(({ code }) => code), text).to.deep.equal(["E105", "E506"]);
        }
    });

    it("counts for its rule and its object only, and never for the rule about exemptions", () => {
        const other = { ...until("until 2027-01-31: reason"), spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent: 100 } } } };
        expect(judgeObjects(objects(other, rule({}, "b")), OPTIONS).findings.map(({ code }) => code)).to.deep.equal(["E102", "E105"]);
        expect(judgeObjects(objects(rule({ "istio-egress/exempt-E105": "soon", "istio-egress/exempt-E506": "until 2027-01-31: reason" })), OPTIONS).findings.map(({ code }) => code)).to.deep.equal(["E105", "E506"]);
    });

    it("reads with any space around its parts", () => {
        expect(readExemption("  until  2027-01-31 :  two words \n", NOW)).to.deep.equal({ state: "valid", until: "2027-01-31", reason: "two words" });
        expect(readExemption("until 2026-01-31: reason", NOW)).to.deep.equal({ state: "expired", until: "2026-01-31" });
    });
});
