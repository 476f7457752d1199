// The grid of rule fixtures: manifests in, the findings of all rules out, with their exact messages.
import { expect } from "chai";
import { RULES } from "../../policies/rules";
import { type Manifest, accept, findingsOf, fixtures } from "./support";

/** The rule about API versions themselves. */
const VERSIONS = "outdated-api-version";

describe("rule fixtures", function () {
    this.timeout(120_000);

    for (const side of ["valid", "invalid"] as const) {
        for (const fixture of fixtures(side)) {
            it(`${side}/${fixture.file} (ACCEPT=1 writes what is expected anew)`, () => {
                const found = findingsOf(fixture.manifests, fixture);
                if (process.env["ACCEPT"] === "1") accept(side, fixture, found);
                else expect(found).to.deep.equal(fixture.findings);
            });
        }
    }

    it("are judged alike in every API version that Istio has served these kinds under", () => {
        for (const fixture of [...fixtures("invalid"), ...fixtures("valid")]) {
            for (const version of ["v1", "v1beta1", "v1alpha3"]) {
                const manifests = fixture.manifests.map((manifest): Manifest => (/^networking\.istio\.io/.test(manifest.apiVersion) ? { ...manifest, apiVersion: `networking.istio.io/${version}` } : manifest));
                expect(findingsOf(manifests, fixture).filter(({ policy }) => policy !== VERSIONS), `${fixture.file} as ${version}`)
                    .to.deep.equal(fixture.findings.filter(({ policy }) => policy !== VERSIONS));
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
