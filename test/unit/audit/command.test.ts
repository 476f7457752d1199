// The command: selection, levels, the baseline, what is written where, and the exit codes.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { selectRules } from "../../../cli/audit/select";
import { RULES } from "../../../policies/rules";
import { BAD_RULE, GOOD_RULE, within } from "./support";

interface Outcome { readonly code: number; readonly stdout: string; readonly stderr: string }
const root = path.join(__dirname, "../../..");

function run(args: readonly string[], stdin = ""): Promise<Outcome> {
    return new Promise((done) => {
        const child = execFile(process.execPath, ["--import", path.join(root, "node_modules/tsx/dist/loader.mjs"), path.join(root, "cli/main.ts"), ...args],
            { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "", SOURCE_DATE_EPOCH: "1796000000" } }, (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
        child.stdin?.end(stdin);
    });
}
const audit = (...args: string[]): Promise<Outcome> => run(["audit", ...args, "--only", "E101,E105"]);

describe("istio-egress audit", function () {
    this.timeout(60_000);

    it("ends with 0 where nothing is found, 1 on findings, 2 on a wrong call, 3 where something was not audited", () => within({ "good.yaml": GOOD_RULE, "bad.yaml": BAD_RULE, "broken.yaml": "kind: [" }, async () => {
        const [good, bad, lenient, broken, wrong, help] = await Promise.all([audit("good.yaml"), audit("bad.yaml"), audit("bad.yaml", "--fail-on", "never"), audit("bad.yaml", "broken.yaml"), audit(), audit("--format", "xml", "good.yaml")]);
        expect([good.code, bad.code, lenient.code, broken.code, wrong.code, help.code]).to.deep.equal([0, 1, 0, 3, 2, 2]);
        expect(bad.stdout).to.include("mandatory  E101 ejection-never  bad.yaml:12:7");
        expect(wrong.stderr).to.equal("error: What is to be audited? Name files or folders, - for standard input, or a cluster with --context.\n");
        expect(broken.stdout).to.include("1 part was not audited");
    }));

    it("reads standard input, and takes levels and pools from files", () => within({ "levels.json": JSON.stringify({ all: "advisory" }), "wrong.json": JSON.stringify({ "ejection-nevr": "advisory" }) }, async () => {
        const [piped, empty, wrong] = await Promise.all([run(["audit", "-", "--only", "E101", "--policy-config", "levels.json"], BAD_RULE), run(["audit", "-"], ""), run(["audit", "-", "--policy-config", "wrong.json"], BAD_RULE)]);
        expect([piped.code, empty.code, wrong.code]).to.deep.equal([0, 3, 2]);
        expect(piped.stdout).to.include("advisory   E101 ejection-never  standard input:12:7");
        expect(wrong.stderr).to.match(/^error: wrong\.json: "ejection-nevr" is no rule: there are ejection-never, /);
    }));

    it("counts only what is new against a baseline, which survives lines that move, and tells what is gone", () => within({ "a.yaml": BAD_RULE }, async () => {
        const made = await audit("a.yaml", "--write-baseline", "baseline.json");
        expect(made).to.deep.equal({ code: 0, stdout: "baseline.json holds 1 finding: with --baseline baseline.json only new ones fail.\n", stderr: "" });
        expect(JSON.parse(readFileSync("baseline.json", "utf8"))).to.deep.equal({ version: 1, findings: [{ code: "E101", object: "DestinationRule egress/partner", field: "spec.trafficPolicy.outlierDetection.maxEjectionPercent", count: 1 }] });
        writeFileSync("a.yaml", `# moved\n\n${BAD_RULE}`);
        writeFileSync("b.yaml", BAD_RULE.replace("name: partner", "name: other"));
        const [same, more, gone, missing] = await Promise.all([audit("a.yaml", "--baseline", "baseline.json"), audit("a.yaml", "b.yaml", "--baseline", "baseline.json"), audit("b.yaml", "--baseline", "baseline.json"), audit("a.yaml", "--baseline", "none.json")]);
        expect([same.code, more.code, gone.code, missing.code]).to.deep.equal([0, 1, 1, 2]);
        expect(same.stdout).to.match(/^No new findings in 1 object of 1 source, by 2 rules; 1 in the baseline \(/);
        expect(more.stdout).to.include("egress/other").and.not.include("egress/partner  ");
        expect(gone.stdout).to.include("1 entry of the baseline is gone: --write-baseline keeps the rest.");
        expect(missing.stderr).to.equal("error: The baseline none.json does not exist: correct --baseline, or make it with --write-baseline.\n");
    }));

    it("writes the report to a file, and how it went to stderr", () => within({ "bad.yaml": BAD_RULE }, async () => {
        const { code, stdout, stderr } = await audit("bad.yaml", "--format", "sarif", "--output", "report.sarif");
        expect([code, stdout]).to.deep.equal([1, ""]);
        expect(stderr).to.match(/^1 mandatory and 0 advisory findings in 1 object of 1 source, by 2 rules \([\d.]+ s\)\.\n$/);
        expect((JSON.parse(readFileSync("report.sarif", "utf8")) as { version: string }).version).to.equal("2.1.0");
    }));

    it("judges an object that is written twice by itself each time, and together with others once", () => within({ "base/a.yaml": BAD_RULE, "prod/a.yaml": GOOD_RULE }, async () => {
        const { code, stdout } = await audit("base", "prod");
        expect(code).to.equal(1);
        expect(stdout).to.include("base/a.yaml:12:7").and.include("notice  DestinationRule egress/partner is written 2 times (base/a.yaml:1, prod/a.yaml:1), and a cluster can hold it once: each is judged by itself, the last one together with the other objects.");
    }));

    it("lists its rules, and those at admission with the reason for the others", async () => {
        const [rules, admitted] = await Promise.all([run(["audit", "--list-rules"]), run(["admission", "--list-rules"])]);
        expect(rules.stdout.split("\n")).to.have.lengthOf(RULES.length + 1);
        expect(rules.stdout).to.match(/^E101 {2}ejection-never +mandatory {2}Outlier detection of a fixed pool must/);
        expect(admitted.stdout).to.include("E207  pool-undeclared  not at admission: a catalogue or a configuration, which admission does not know, may declare the pool\n");
    });
});

describe("the selection of rules", () => {
    const codes = (only: string[], skip: string[] = []): string[] => selectRules(RULES, only, skip).map(({ code }) => code);

    it("takes codes, names and families", () => {
        expect(codes([])).to.deep.equal(RULES.map(({ code }) => code));
        expect(codes(["e101", "shared-mutual-server"])).to.deep.equal(["E101", "E410"]);
        expect(codes(["E1"], ["E102"])).to.include("E101").and.to.not.include.members(["E102"]);
        expect(codes(["E1"]).every((code) => code.startsWith("E1"))).to.equal(true);
    });

    it("refuses what is no rule, and a selection of nothing", () => {
        expect(() => codes(["ejection-nevr"])).to.throw('--only names "ejection-nevr", which is no rule (did you mean ejection-never?): give codes (E101), names (ejection-never) or families (E1), separated by commas. istio-egress audit --list-rules shows them.');
        expect(() => codes(["E101"], ["E1"])).to.throw("--only and --skip leave no rule: name at least one that is not skipped.");
    });
});
