// The forms of a report, to the letter; SARIF against the schema of OASIS.
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { expect } from "chai";
import fc from "fast-check";
import { createColors } from "picocolors";
import type { AuditReport } from "../../../cli/audit/report";
import { renderGithub } from "../../../cli/render/audit/github";
import { renderJson } from "../../../cli/render/audit/json";
import { renderJunit } from "../../../cli/render/audit/junit";
import { renderSarif } from "../../../cli/render/audit/sarif";
import { renderText } from "../../../cli/render/audit/text";
import { BAD_MESSAGE, BAD_RULE, auditOf, within } from "./support";

const schema = JSON.parse(readFileSync(require.resolve("schemastore/schemas/json/sarif-2.1.0.json"), "utf8")) as object;
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
(addFormats as unknown as (to: Ajv) => void)(ajv);
const isSarif = ajv.compile(schema);
const text = (report: AuditReport, verbose = false): string => renderText(report, { colours: createColors(false), seconds: 0.25, verbose });

/** A finding, one that is exempt, one of a chart, something that is no YAML, and an object without findings. */
const FILES = {
    "deploy/hosts.yaml": `${BAD_RULE}---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: web}\n---\n{{ x }}\n`,
    "deploy/exempt.yaml": BAD_RULE.replace("name: partner", "name: exempt").replace("{istio-egress/membership", '{istio-egress/exempt-E101: "until 2026-12-31: CHG-1", istio-egress/membership'),
    "deploy/rendered.yaml": `# Source: chart/templates/rule.yaml\n${BAD_RULE.replace("name: partner", "name: rendered").replace("maxEjectionPercent: 30", "interval: 5s")}`,
};
const report = (): Promise<AuditReport> => within(FILES, () => auditOf(["deploy"]));
const MESSAGE = BAD_MESSAGE.replace(/^.*?: spec/, "spec").replace(" See docs/rules/E101.md", "");

describe("the report of an audit", () => {
    it("as text has the findings by object, what was not audited, and how it went", async () => {
        const guard = "spec.trafficPolicy.outlierDetection.maxEjectionPercent is unset, so Envoy's default of 10 % is in force: nothing is ever ejected in a pool of fewer than 10 addresses, and a dead address keeps its share of the new connections; the pool behind api.partner.example has 2. Set 50, which ejects an address at every answer size from 2 up.";
        expect(text(await report())).to.equal([
            "DestinationRule egress/partner  deploy/hosts.yaml",
            "  mandatory  E101 ejection-never  deploy/hosts.yaml:12:7",
            `    ${MESSAGE} See docs/rules/E101.md`,
            "",
            "DestinationRule egress/rendered  deploy/rendered.yaml, from chart/templates/rule.yaml",
            "  mandatory  E105 ejection-guard-missing  deploy/rendered.yaml:11:5",
            `    ${guard} See docs/rules/E105.md`,
            "",
            "Not audited",
            "  deploy/hosts.yaml:19:1: holds a template ({{ … }}), which is no YAML before it is rendered: audit what a cluster gets, as in helm template CHART | istio-egress audit -",
            "",
            "2 mandatory and 0 advisory findings in 4 objects of 3 sources, by 3 rules; 1 exempt (0.3 s).",
            "1 part was not audited: what is in there is not known.",
            "",
        ].join("\n"));
        expect(text(await report(), true)).to.include(`exempt  E101 DestinationRule egress/exempt  deploy/exempt.yaml:12:7\n    ${MESSAGE} Exempt until 2026-12-31: CHG-1`);
    });

    it("as text says in colour what counts, and counts by rule where there is much", async () => {
        const rules = Array.from({ length: 12 }, (_, index) => BAD_RULE.replace("name: partner", `name: p${index}`)).join("---\n");
        const many = await within({ "a.yaml": rules }, () => auditOf(["a.yaml"]));
        expect(text(many)).to.include("By rule\n  12  E101 ejection-never\n");
        const coloured = renderText(many, { colours: createColors(true), seconds: 0, verbose: false });
        expect(coloured).to.include("\u001b[31mmandatory\u001b[39m");
        const none = await within({ "a.yaml": BAD_RULE.replace("maxEjectionPercent: 30", "maxEjectionPercent: 50") }, () => auditOf(["a.yaml"]));
        expect(text(none)).to.equal("No findings in 1 object of 1 source, by 3 rules (0.3 s).\n");
    });

    it("as JSON has every part", async () => {
        const { findings, exempted, notAudited, summary } = JSON.parse(renderJson(await report(), 1.5)) as Readonly<Record<"findings" | "exempted" | "notAudited" | "summary", readonly object[]>>;
        expect(findings[0]).to.deep.equal({
            code: "E101", name: "ejection-never", object: { kind: "DestinationRule", namespace: "egress", name: "partner" },
            field: "spec.trafficPolicy.outlierDetection.maxEjectionPercent", path: ["spec", "trafficPolicy", "outlierDetection", "maxEjectionPercent"],
            text: MESSAGE.replace(/^\S+ /, ""), message: BAD_MESSAGE, docs: "docs/rules/E101.md", file: "deploy/hosts.yaml", line: 12, column: 7, level: "mandatory", severity: "high", known: false,
        });
        expect(findings[1]).to.include({ file: "deploy/rendered.yaml", template: "chart/templates/rule.yaml" });
        expect(exempted[0]).to.include({ code: "E101", reason: "CHG-1", until: "2026-12-31" });
        expect(notAudited[0]).to.include({ file: "deploy/hosts.yaml", line: 19, column: 1 });
        expect(summary).to.deep.equal({ mandatory: 2, advisory: 0, failing: 2, inBaseline: 0, goneFromBaseline: 0, exempt: 1, notKnown: 0, notAudited: 1, objects: 4, read: 4, sources: 3, rules: 3, failOn: "mandatory", seconds: 1.5 });
    });

    it("as SARIF fits the schema, with file, line and column of the field, suppressions and what was not audited", async () => {
        const sarif = JSON.parse(renderSarif(await report(), "0.1.0", 3)) as { runs: [{ results: { [key: string]: unknown }[]; invocations: unknown[]; tool: { driver: { rules: { id: string }[] } } }] };
        expect(isSarif(sarif), JSON.stringify(isSarif.errors)).to.equal(true);
        const [{ results, invocations, tool }] = sarif.runs;
        expect(results[0]).to.deep.include({
            ruleId: "E101", ruleIndex: 0, level: "error", message: { text: BAD_MESSAGE }, baselineState: "new",
            locations: [{
                physicalLocation: { artifactLocation: { uri: "deploy/hosts.yaml", uriBaseId: "%SRCROOT%" }, region: { startLine: 12, startColumn: 7, endLine: 12, endColumn: 29 } },
                logicalLocations: [{ fullyQualifiedName: "DestinationRule egress/partner: spec.trafficPolicy.outlierDetection.maxEjectionPercent", kind: "object" }],
            }],
        });
        expect(results.map(({ suppressions }) => suppressions)).to.deep.equal([undefined, undefined, [{ kind: "inSource", status: "accepted", justification: "until 2026-12-31: CHG-1" }]]);
        expect(invocations[0]).to.deep.include({ executionSuccessful: false, exitCode: 3 });
        expect(tool.driver.rules.map(({ id }) => id)).to.deep.equal(["E101", "E105", "E201"]);
        expect(isSarif({ ...sarif, runs: [{ ...sarif.runs[0], results: [{ message: 1 }] }] }), "what is no SARIF").to.equal(false);
    });

    it("as SARIF fits the schema whatever stands in objects and paths", () => fc.assert(fc.asyncProperty(fc.string({ unit: "binary", maxLength: 20 }), fc.stringMatching(/^[a-z% #?äß&+-]{1,10}$/), async (name, file) => {
        const rule = JSON.stringify({ apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name, namespace: name }, spec: { host: name, trafficPolicy: { outlierDetection: { interval: name } } } });
        const found = await within({ [`${file}.json`]: rule }, () => auditOf([`${file}.json`])), sarif = JSON.parse(renderSarif(found, "0.1.0", 1)) as object;
        expect(found.findings).to.have.lengthOf(1);
        expect(isSarif(sarif), JSON.stringify(isSarif.errors)).to.equal(true);
        const junit = renderJunit(found, 0);
        // eslint-disable-next-line no-control-regex
        expect(junit).to.not.match(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/).and.not.match(/&(?!(amp|lt|gt|quot|#10);)/);
        expect(renderGithub(found).trim().split(/\r|\n/)).to.have.lengthOf(1);
    }), { numRuns: 60 }));

    it("as annotations of GitHub is one command a line, escaped", async () => {
        expect(renderGithub(await report()).split("\n")).to.deep.equal([
            `::error file=deploy/hosts.yaml,line=12,endLine=12,col=7,endColumn=29,title=E101 ejection-never::${BAD_MESSAGE}`,
            (await report()).findings.slice(1).map(({ message }) => `::error file=deploy/rendered.yaml,line=11,endLine=11,col=5,endColumn=21,title=E105 ejection-guard-missing::${message.replaceAll("%", "%25")}`)[0],
            "::error file=deploy/hosts.yaml,line=19,col=1,title=not audited::deploy/hosts.yaml: holds a template ({{ … }}), which is no YAML before it is rendered: audit what a cluster gets, as in helm template CHART | istio-egress audit -",
            "",
        ]);
    });

    it("as JUnit has a suite for each source and a case for each object", async () => {
        const escaped = BAD_MESSAGE.replaceAll("<", "&lt;"), lines = renderJunit(await report(), 0.25).split("\n");
        expect(lines.filter((line) => !line.includes("E105"))).to.deep.equal([
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<testsuites name="istio-egress audit" tests="5" failures="2" errors="1" time="0.250">',
            '  <testsuite name="deploy/exempt.yaml" tests="1" failures="0" errors="0">',
            '    <testcase classname="deploy/exempt.yaml" name="DestinationRule egress/exempt" file="deploy/exempt.yaml"/>',
            "  </testsuite>",
            '  <testsuite name="deploy/hosts.yaml" tests="3" failures="1" errors="1">',
            '    <testcase classname="deploy/hosts.yaml" name="DestinationRule egress/partner" file="deploy/hosts.yaml">',
            `      <failure type="E101 ejection-never" message="${escaped}">deploy/hosts.yaml:12:7: mandatory: ${escaped}</failure>`,
            "    </testcase>",
            '    <testcase classname="deploy/hosts.yaml" name="Service web/s" file="deploy/hosts.yaml"/>',
            '    <testcase classname="deploy/hosts.yaml" name="can be audited">',
            '      <error type="not audited" message="deploy/hosts.yaml:19:1: holds a template ({{ … }}), which is no YAML before it is rendered: audit what a cluster gets, as in helm template CHART | istio-egress audit -"/>',
            "    </testcase>",
            "  </testsuite>",
            '  <testsuite name="deploy/rendered.yaml" tests="1" failures="1" errors="0">',
            '    <testcase classname="deploy/rendered.yaml" name="DestinationRule egress/rendered" file="deploy/rendered.yaml">',
            "    </testcase>",
            "  </testsuite>",
            "</testsuites>",
            "",
        ]);
    });
});
