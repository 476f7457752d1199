// `istio-egress plan`: which hosts, the forms of the report, and where it goes.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { createColors } from "picocolors";
import { parse } from "yaml";
import { whole } from "../../../cli/commands/plan";
import { type HostChoice, chooseHosts } from "../../../cli/plan/choose";
import { type HostReport, hostReport } from "../../../cli/plan/report";
import { drawChart, stackCharts } from "../../../cli/render/chart";
import { embedded, renderMarkdown } from "../../../cli/render/failover/markdown";
import { renderGantt, renderSequence } from "../../../cli/render/failover/mermaid";
import { renderText } from "../../../cli/render/failover/text";
import { failureChart } from "../../../cli/render/failover/words";
import type { DeclarationInput } from "../../../model";
import { declaration } from "../../support/declarations";
import { within } from "../audit/support";

const root = path.join(__dirname, "../../.."), HOSTS = path.join(root, "stacks/catalogue/hosts.yaml");
const STANDBY: Partial<DeclarationInput> = { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["203.0.113.1", "203.0.113.2"] }, failover: { detectionTime: "10s", dnsTtl: "5s", longestConnection: "15m" } };
const reportOf = (changes: Partial<DeclarationInput>): HostReport => hostReport("partner-api", declaration(changes), { perSecond: 20, proxies: 1 });
const text = (report: HostReport): readonly string[] => renderText([report], createColors(false)).split("\n");

describe("istio-egress plan: which hosts", () => {
    const choose = (changes: Partial<HostChoice>): ReturnType<typeof chooseHosts> => chooseHosts({ hosts: [], all: false, project: ".", catalogue: HOSTS, ...changes });
    const refused = (changes: Partial<HostChoice>): Promise<string> => choose(changes).then(() => "nothing was refused", (error: unknown) => (error as Error).message);

    it("by name, by host, or all", async () => {
        expect((await choose({ hosts: ["settlement"] })).map(({ name }) => name)).to.deep.equal(["settlement"]);
        expect((await choose({ hosts: ["API.partner.example", "quotes"] })).map(({ name }) => name)).to.deep.equal(["partner-api", "quotes"]);
        expect((await choose({ all: true })).length).to.be.above(5);
    });

    it("says what is missing or wrong", async () => {
        expect(await refused({})).to.equal("Which hosts? Name one or more, as they are declared or by their host, or all with --all.");
        expect(await refused({ hosts: ["settlement"], all: true })).to.equal("Which hosts? Name them, or all with --all, not both.");
        expect(await refused({ hosts: ["setlement"] })).to.equal("Nothing that is declared has the name or host \"setlement\": did you mean settlement?");
        expect(await refused({ hosts: ["zzzzzzzzzzzz"] })).to.match(/^Nothing that is declared has the name or host "zzzzzzzzzzzz": there are settlement, partner-api, /);
        expect(await refused({ all: true, catalogue: undefined })).to.equal("Of what are the hosts? Name an environment with --env, or a catalogue with --catalogue.");
        expect(await refused({ all: true, catalogue: "none.yaml" })).to.equal("The catalogue none.yaml does not exist: correct --catalogue.");
        for (const bad of ["0", "501", "1.5", "-1", "x", ""]) expect(() => whole("--rate", bad, 1, 500)).to.throw(`--rate is ${JSON.stringify(bad)}, but takes a whole number from 1 to 500.`);
        expect([whole("--rate", "1", 1, 500), whole("--rate", "500", 1, 500)]).to.deep.equal([1, 500]);
    });
});

describe("istio-egress plan: the report", () => {
    const report = reportOf(STANDBY);

    it("as text: a table of devices, a line per second, equal ones folded", () => {
        const lines = text(report), from = lines.indexOf("Second by second as declared, packets dropped"), table = lines.findIndex((line) => line.startsWith("  with "));
        expect(lines[table]?.split(/ {2,}/)).to.deep.equal(["", "with", "fault", "failed", "the last begins after", "p50", "p99", "slowest wait", "tried for"]);
        expect(lines[table + 1]?.split(/ {2,}/)).to.deep.equal(["", "connectTimeout alone", "packets dropped", "402 of 720", "20.1s", "0 s", "0 s", "0 s", "1s"]);
        expect(lines[from + 1]).to.match(/^ +0 s {2}█{0,4}▒{16,20} {2}20 standby, (1\d|20) waited, the slowest [12]\.\ds {2}← the address dies \(0 s\); it is ejected \(9\d\dms\); standby serves \(9\d\dms\)$/);
        const folded = lines.filter((line) => /^ +\d+–\d+ s {2}█{20} {2}20 (standby|new address)$/.test(line));
        expect(folded.length).to.be.above(3);
        expect(lines).to.include("  later: the old address may be removed, once its connections are none (15m for the longest) (15m10.1s)");
    });

    it("as text: what failed is marked, and long windows have lines of several seconds", () => {
        const fails = text(reportOf({ ...STANDBY, pool: { membership: "fixed", addressesPerAnswer: 1 }, failover: { detectionTime: "60s", dnsTtl: "5s", onConnectFailure: "fail" } }));
        const from = fails.indexOf("Second by second as declared, connections refused");
        expect(fails.slice(from + 1, from + 4)).to.deep.equal(["    0–1 s  ××××××××××××××××××××  40 failed  ← the address dies (0 s)", "   2–59 s  ××××××××××××××××××××  40 failed", "  60–61 s  ××××××××××××××××××××  40 failed  ← the GSLB answers without it (1m)"]);
        const wildcard = text(reportOf({ host: "*.partner.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating" } }));
        expect(wildcard).to.include("  no timeline: a wildcard has no address list: each application connects to what its own resolver answers");
    });

    it("as Markdown: pictures in the text or beside it, Mermaid, commands and the alert in blocks", () => {
        const files: string[] = [], markdown = renderMarkdown([report], (name) => { files.push(name); return `${name}.svg`; });
        expect(files).to.deep.equal(["partner-api-drop", "partner-api-refuse", "partner-api-planned"]);
        expect(markdown).to.include("# partner-api: api.partner.example\n").and.to.include("![partner-api: an address dies, packets dropped](partner-api-drop.svg)");
        expect(markdown.match(/```mermaid\nsequenceDiagram\n/g)).to.have.length(2);
        expect(markdown).to.include("```mermaid\ngantt\n").and.to.include("```sh\ndig +noall +answer A api.partner.example\n").and.to.include("```promql\n");
        const [, alert = ""] = /```yaml\n([^`]*)```/.exec(markdown) ?? [];
        expect(parse(alert)).to.deep.equal(report.alert);
        const [, data = ""] = /\(data:image\/svg\+xml;base64,([^)]*)\)/.exec(renderMarkdown([report], embedded)) ?? [], [timeline] = report.failure?.timelines ?? [];
        if (timeline === undefined) throw new Error("no timeline");
        expect(Buffer.from(data, "base64").toString()).to.equal(drawChart(failureChart("partner-api", timeline)));
    });

    it("as Mermaid: each phase until the next, what fails as critical, and no character that ends a statement within a text", () => {
        const lost = renderGantt([reportOf({ pool: { membership: "fixed", addressesPerAnswer: 1 }, failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail", longestConnection: "15m" } })]).split("\n");
        expect(lost.slice(0, 11)).to.deep.equal([
            "gantt", "    title Failovers, in minutes and seconds after they begin", "    dateFormat x", "    axisFormat %M:%S", "    section partner-api, an address dies, packets dropped",
            "    402 new connections fail :crit, 0, 21000", "    the address dies :0, 10000", "    the GSLB answers without it :10000, 15000", "    resolvers have forgotten the old answer :15000, 20100", "    the proxy has the new answer :20100, 36000",
            "    section partner-api, an address dies, connections refused",
        ]);
        for (const line of lost.slice(4)) expect(line.split(":").length - 1).to.equal(line.includes("section") || line === "" ? 0 : 1);
        const [timeline] = report.failure?.timelines ?? [];
        if (timeline === undefined) throw new Error("no timeline");
        const sequence = renderSequence(report, timeline).split("\n");
        expect(sequence[0]).to.equal("sequenceDiagram");
        expect(sequence).to.include("    proxy-xdead: connection attempt").and.to.include("    participant dns as GSLB and DNS");
    });

    it("as a picture: below one another; words that would lie over others go down a row", () => {
        const chart = { title: "a < b", seconds: [{ second: 0, failed: 1, by: { x: 2 } }], events: [{ second: 0, text: "first" }, { second: 0.02, text: "second" }] };
        expect(drawChart(chart)).to.include(">a &lt; b<").and.to.match(/y="56">first</).and.to.match(/y="68">second</);
        const svg = stackCharts([chart, chart]);
        expect(svg).to.match(/^<svg xmlns="[^"]*" viewBox="0 0 760 480">\n<svg y="0" width="760" height="240" /).and.to.include("<svg y=\"240\" ");
        expect(svg.match(/<svg /g)).to.have.length(3);
        expect(svg.match(/<\/svg>/g)).to.have.length(3);
    });
});

describe("istio-egress plan: the command", function () {
    this.timeout(60_000);
    const run = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => new Promise((done) => {
        execFile(process.execPath, ["--import", path.join(root, "node_modules/tsx/dist/loader.mjs"), path.join(root, "cli/main.ts"), "plan", ...args], { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" }, maxBuffer: 16 * 1024 * 1024 },
            (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    });

    it("plans the hosts of a program and of a catalogue alike, and writes files", () => within({}, async () => {
        const [program, written, wrong] = await Promise.all([
            run("mock.partner.example", "--env", "dev", "--project", root, "--format", "json"),
            run("settlement", "--catalogue", HOSTS, "--format", "markdown", "--output", "plans/settlement.md"), run("settlement", "--catalogue", HOSTS, "--proxies", "0"),
        ]);
        expect([program, written, wrong].map(({ code }) => code)).to.deep.equal([0, 0, 2]);
        const { perSecond, hosts: [planned] } = JSON.parse(program.stdout) as { perSecond: number; hosts: HostReport[] }, [entry] = await chooseHosts({ hosts: ["mock-partner"], all: false, project: ".", catalogue: path.join(root, "stacks/catalogue/dev.yaml") });
        if (entry === undefined) throw new Error("no entry");
        expect(planned).to.deep.equal(JSON.parse(JSON.stringify(hostReport("egress-mock-partner", entry.declaration, { perSecond: 20, proxies: 1 }))));
        expect(perSecond).to.equal(20);
        expect(written.stdout).to.equal("");
        for (const [, picture = ""] of readFileSync("plans/settlement.md", "utf8").matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)) expect(existsSync(path.join("plans", picture)), picture).to.equal(true);
        expect(wrong.stderr).to.equal("error: --proxies is \"0\", but takes a whole number from 1 to 100.\n");
    }));
});
