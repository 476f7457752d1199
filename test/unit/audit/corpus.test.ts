// The corpus: what the audit finds in each manifest, exactly; nothing in good ones. ACCEPT=1 writes the list anew, for review in the diff.
import { writeFileSync } from "node:fs";
import { expect } from "chai";
import { stringify } from "yaml";
import { EXPECTED, auditCorpus, corpusFiles, expectedFindings } from "../../support/corpus";

describe("the corpus of manifests that people write", () => {
    it("has at least forty, and a list of what is expected of each", async () => {
        if (process.env["ACCEPT"] === "1") {
            const found = await Promise.all(corpusFiles().map(async (file) => [file, (await auditCorpus(file)).findings] as const));
            writeFileSync(EXPECTED, `# What the audit finds in each manifest of this folder, judged by itself on 30 November 2026. Good ones have nothing.\n${stringify(Object.fromEntries(found), { lineWidth: 0 })}`);
        }
        expect(corpusFiles().length).to.be.at.least(40);
        expect(Object.keys(expectedFindings()).sort()).to.deep.equal(corpusFiles());
    });

    for (const file of corpusFiles()) {
        it(file, async () => {
            const { findings, problems } = await auditCorpus(file);
            expect(problems).to.deep.equal([]);
            expect(findings).to.deep.equal(expectedFindings()[file]);
            if (file.startsWith("good-")) expect(findings).to.deep.equal([]);
            else expect(findings).to.not.deep.equal([]);
        });
    }
});
