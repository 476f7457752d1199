// What istiod's rules make of exportTo, hosts and selectors.
import { expect } from "chai";
import { covers, fullHost, hasLabels, isVisible, sameExport, selects } from "../../../model/preflight";

describe("visibility of objects", () => {
    it("follows exportTo: words, the mesh's default, nobody", () => {
        const cases: readonly (readonly [exportTo: readonly string[] | undefined, viewer: string, meshDefault: readonly string[] | undefined, visible: boolean])[] = [
            [undefined, "b", undefined, true], [[], "b", undefined, true], [undefined, "b", ["."], false], [undefined, "a", ["."], true],
            [["*"], "b", ["."], true], [["."], "a", undefined, true], [["."], "b", undefined, false], [["b"], "b", undefined, true], [["b"], "a", undefined, false],
            [["~"], "a", undefined, false], [["~", "a"], "a", undefined, false], [["~", "*"], "a", undefined, true], [["a"], "*", undefined, false], [["*"], "*", undefined, true],
        ];
        expect(cases.map(([exportTo, viewer, meshDefault]) => isVisible(exportTo, "a", viewer, meshDefault))).to.deep.equal(cases.map(([, , , visible]) => visible));
    });

    it("compares what is exported as sets", () => {
        expect([sameExport(["a", "."], [".", "a", "a"]), sameExport([], ["*"]), sameExport(["."], ["*"])]).to.deep.equal([true, false, false]);
    });

    it("reads short names in their namespace, and full ones as they are", () => {
        expect([fullHost("gw", "a"), fullHost("GW.b.svc.cluster.local.", "a"), fullHost("gw.b", "a"), fullHost("*", "a"), fullHost("gw", "a", "corp")])
            .to.deep.equal(["gw.a.svc.cluster.local", "gw.b.svc.cluster.local", "gw.b", "*", "gw.a.svc.corp"]);
    });

    it("covers a host by its name, a wildcard above it, or *", () => {
        const hosts = ["api.partner.example", "API.partner.example.", "*.partner.example", "*.example", "*", "partner.example", "*.api.partner.example", "*.ner.example"];
        expect(hosts.map((pattern) => covers(pattern, "api.partner.example"))).to.deep.equal([true, true, true, true, true, false, false, false]);
        expect(covers("*.partner.example", ".partner.example")).to.equal(false);
    });

    it("selects by labels as Services do, and as label selectors do", () => {
        expect([hasLabels({ a: "1", b: "2" }, { a: "1" }), hasLabels({ a: "1" }, { a: "2" }), hasLabels({ a: "1" }, {}), hasLabels({}, { a: "" })]).to.deep.equal([true, false, false, false]);
        const by = (operator: string, values?: string[]): boolean | undefined => selects({ matchExpressions: [{ key: "a", operator, values }] }, { a: "1" });
        expect([by("In", ["1"]), by("In", ["2"]), by("NotIn", ["1"]), by("NotIn", ["2"]), by("Exists"), by("DoesNotExist"), by("Like")]).to.deep.equal([true, false, false, true, true, false, undefined]);
        expect([selects({}, {}), selects({ matchLabels: { a: "1" } }, { a: "1" }), selects({ matchLabels: { a: "1" } }, {}), selects({ matchExpressions: [{ key: "b", operator: "NotIn", values: ["x"] }] }, {})]).to.deep.equal([true, true, false, true]);
    });
});
