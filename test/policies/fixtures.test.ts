// The grid of rule fixtures: manifests in, the findings of all rules out, with their exact messages.
import { expect } from "chai";
import { RULES } from "../../policies/rules";
import { findingsOf, fixtures } from "./support";

describe("rule fixtures", () => {
    for (const side of ["valid", "invalid"] as const) {
        for (const fixture of fixtures(side)) {
            it(`${side}/${fixture.file}`, () => {
                const options = { configuration: fixture.configuration };
                expect(fixture.manifests.flatMap((manifest) => findingsOf(manifest, options))).to.deep.equal(fixture.findings);
            });
        }
    }

    it("are judged alike in every API version that Istio has served these kinds under", () => {
        for (const fixture of [...fixtures("invalid"), ...fixtures("valid")]) {
            for (const version of ["v1", "v1beta1", "v1alpha3"]) {
                const manifests = fixture.manifests.map((manifest) => ({ ...manifest, apiVersion: `networking.istio.io/${version}` }));
                expect(manifests.flatMap((manifest) => findingsOf(manifest, { configuration: fixture.configuration })), `${fixture.file} as ${version}`)
                    .to.deep.equal(fixture.findings);
            }
        }
    });

    it("hold, for each rule, a bad one that the rule finds and a good one without any finding", () => {
        for (const { code, name } of RULES) {
            const bad = fixtures("invalid").filter(({ file }) => file.startsWith(`${code}-`));
            const good = fixtures("valid").filter(({ file }) => file.startsWith(`${code}-`));
            expect(bad, `invalid/${code}-*.yaml`).to.not.be.empty;
            expect(good, `valid/${code}-*.yaml`).to.not.be.empty;
            for (const { file, findings } of bad) expect(findings.map(({ policy }) => policy), file).to.include(name);
            for (const { file, findings } of good) expect(findings, file).to.be.empty;
        }
    });
});
