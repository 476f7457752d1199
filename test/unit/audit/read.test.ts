// What can be read, in every form it comes in, and what cannot: one clear word about each part, and the rest is audited.
import { execFileSync } from "node:child_process";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { formatProblem } from "../../../cli/audit/problem";
import { readPaths } from "../../../cli/audit/read";
import { BAD_RULE, GOOD_RULE, auditOf, readText, within } from "./support";

const SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: egress, namespace: istio-egress}\n";
const problemsIn = async (text: string | Buffer): Promise<string[]> => (await readText(text)).problems.map(formatProblem);
const labels = async (text: string): Promise<string[]> => (await readText(text)).objects.map(({ object }) => object.label);

describe("what an audit reads", () => {
    it("is a stream of YAML documents, with empty ones, comments and objects of other kinds between", async () => {
        const reading = await readText(`# Source: chart/a.yaml\n${GOOD_RULE}---\n---\n# only a comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n${SERVICE}`);
        expect(reading.problems).to.deep.equal([]);
        expect(reading.objects.map(({ object: { label }, written }) => [label, written?.line, written?.template])).to.deep.equal([["DestinationRule egress/partner", 1, "chart/a.yaml"], ["Service istio-egress/egress", 22, undefined]]);
        expect(reading.total).to.equal(3);
    });

    it("is JSON: an object, a List, a list of a kind, lists in lists", async () => {
        const rule = { apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "a", namespace: "n" }, spec: {} };
        expect(await labels(JSON.stringify(rule))).to.deep.equal(["DestinationRule n/a"]);
        expect(await labels(JSON.stringify({ apiVersion: "v1", kind: "List", items: [rule, null, 7, { apiVersion: "v1", kind: "List", items: [rule] }] }))).to.deep.equal(["DestinationRule n/a", "DestinationRule n/a"]);
        expect(await labels(JSON.stringify({ apiVersion: "networking.istio.io/v1", kind: "DestinationRuleList", items: [{ metadata: { name: "b" } }] }))).to.deep.equal(["DestinationRule b"]);
    });

    it("is read as kubectl reads it: yes and on are booleans, dates texts, merge keys merged, a byte order mark is none", async () => {
        const text = `\uFEFFapiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: a, annotations: {istio-egress/expires: 2027-06-30}}\nspec: {host: h, trafficPolicy: {outlierDetection: {splitExternalLocalOriginErrors: yes, <<: &b {interval: 5s}}}}\n`;
        const [read] = (await readText(text)).objects;
        expect(read?.object.at(["spec", "trafficPolicy", "outlierDetection"])).to.deep.equal({ splitExternalLocalOriginErrors: true, interval: "5s" });
        expect(read?.object.annotation("istio-egress/expires")).to.equal("2027-06-30");
    });

    it("is a folder, with what lies below it, each file once, and nothing hidden or foreign", () => within({
        "deploy/a.yaml": GOOD_RULE, "deploy/b/c.yml": SERVICE, "deploy/b/d.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: [] }), "deploy/notes.txt": "kind: [",
        "deploy/.git/x.yaml": "kind: [", "deploy/node_modules/y/z.yaml": "kind: [",
    }, async (folder) => {
        symlinkSync(folder, path.join(folder, "deploy/loop"));
        symlinkSync("a.yaml", path.join(folder, "deploy/again.yaml"));
        const reading = await readPaths(["deploy"]);
        expect(reading.problems).to.deep.equal([]);
        expect(reading.sources).to.deep.equal(["deploy/a.yaml", "deploy/b/c.yml", "deploy/b/d.json"]);
        expect((await readPaths(["deploy", "deploy/a.yaml"], { exclude: ["deploy/b", "**/*.json"] })).sources).to.deep.equal(["deploy/a.yaml"]);
    }));

    it("is a Pulumi state, exported or as a backend of one's own keeps it: outputs, else inputs, patches, secrets", async () => {
        const secret = (plaintext?: string): object => ({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ...(plaintext === undefined ? { ciphertext: "x" } : { plaintext }) });
        const of = (type: string, name: string, more: object): object => ({ urn: `urn:pulumi:dev::p::${type}::${name}`, type, custom: true, ...more });
        const kind = "kubernetes:networking.istio.io/v1:DestinationRule";
        const manifest = (spec: object): object => ({ apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "r", namespace: "n", annotations: { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "2" } }, spec });
        const guard = (maxEjectionPercent: unknown): object => ({ host: "a.example", trafficPolicy: { outlierDetection: { maxEjectionPercent, minHealthPercent: 1 } } });
        const resources = [
            of("pulumi:pulumi:Stack", "p-dev", {}),
            of(kind, "live", { inputs: manifest(guard(50)), outputs: manifest(guard(30)) }),
            of(kind, "rendered", { inputs: manifest(guard(31)), outputs: {} }),
            of(kind, "encrypted", { outputs: manifest(guard(secret())) }),
            of(kind, "shown", { outputs: manifest(guard(secret("32"))) }),
            of(`${kind}Patch`, "patch", { outputs: { ...manifest({ trafficPolicy: { outlierDetection: { interval: "5s" } } }), kind: "DestinationRulePatch" } }),
            of(kind, "going", { delete: true, outputs: manifest(guard(33)) }),
        ];
        for (const state of [{ version: 3, deployment: { resources } }, { version: 3, checkpoint: { stack: "dev", latest: { resources } } }]) {
            await within({ "state.json": JSON.stringify(state, undefined, 1) }, async () => {
                const report = await auditOf(["state.json"]);
                expect(report.problems).to.deep.equal([]);
                expect(report.findings.map(({ code, text }) => `${code} ${text.split(",")[0] ?? ""}`)).to.deep.equal(["E101 is 30", "E101 is 31", "E101 is [secret]"]);
                expect(report.findings.map(({ location: { region } }) => JSON.stringify(state, undefined, 1).split("\n")[(region?.line ?? 0) - 1]?.trim().slice(0, 20))).to.deep.equal(Array(3).fill('"maxEjectionPercent"'));
                expect(report.findings[2]?.message).to.not.include("32");
            });
        }
    });
});

describe("what an audit cannot read", () => {
    it("is told document by document, and the rest is audited", async () => {
        const reading = await readText(`${GOOD_RULE}---\nkind: [1, 2\n---\na: {{ .Values.x }}\n---\n${SERVICE}---\na:\n\tb: 1\n`);
        expect(reading.objects).to.have.lengthOf(2);
        expect(reading.problems.map(formatProblem)).to.deep.equal([
            "standard input:16:1: is no valid YAML: the text ends within a list or map in brackets: it is cut off, or a closing bracket is missing.",
            "standard input:17:4: holds a template ({{ … }}), which is no YAML before it is rendered: audit what a cluster gets, as in helm template CHART | istio-egress audit -",
            "standard input:24:1: is no valid YAML: a tab indents this line, and YAML allows spaces only: replace it with spaces.",
        ]);
    });

    it("is half a document", async () => {
        expect(await problemsIn("apiVersion: v1\nkind: Service\nspec: {a: [1")).to.deep.equal(["standard input:3:13: is no valid YAML: the text ends within a list or map in brackets: it is cut off, or a closing bracket is missing."]);
        expect(await problemsIn('apiVersion: v1\nkind: "Serv')).to.deep.equal(["standard input:2:12: is no valid YAML: the text ends within a quoted text: it is cut off, or a closing quote is missing."]);
        expect(await problemsIn('{"apiVersion": "v1", "kind": "Serv')).to.have.lengthOf(1);
    });

    it("is a key that is written twice, in YAML and in JSON", async () => {
        expect(await problemsIn("kind: Service\nmetadata:\n  name: a\n  labels: {}\n  name: b\n")).to.deep.equal(['standard input:5:3: has the key "name" twice in one map, here and 2 lines above: which of them counts differs from tool to tool. Remove one.']);
        expect(await problemsIn('{"kind": "A", "kind": "B"}')).to.deep.equal(['standard input:1:15: has the key "kind" twice in one map, here and before on this line: which of them counts differs from tool to tool. Remove one.']);
    });

    it("is a YAML bomb, a cycle, a nesting without end: at once, and the next document is audited", async function () {
        this.timeout(5_000);
        const bomb = "abcdefghi".split("").map((name, level, all) => `${name}: &${name} [${Array(9).fill(level === 0 ? "x" : `*${all[level - 1] ?? ""}`).join(",")}]`).join("\n");
        const reading = await readText(`${bomb}\n---\na: &x {y: [*x]}\n---\n${"[".repeat(50_000)}\n---\n${'{"a":'.repeat(50_000)}\n---\n${SERVICE}`, 10_000);
        expect(reading.objects).to.have.lengthOf(1);
        expect(reading.problems.map(({ text }) => text)).to.deep.equal([
            "has aliases (*) that stand for more than 1,000,000 values, as a YAML bomb does: write out what is meant.",
            "has an alias (*) inside of what it stands for, so that it never ends: write the value out.",
            "is nested deeper than 100 levels, as no object of Kubernetes is: correct its brackets or its indentation.",
            "is nested deeper than 100 levels, as no object of Kubernetes is: correct its brackets or its indentation.",
        ]);
    });

    it("is binary, UTF-16 or broken UTF-8", async () => {
        expect(await problemsIn(Buffer.from([0x61, 0x00, 0xff]))).to.deep.equal(["standard input:1: is binary, no text: name files that hold manifests, or leave this one out with --exclude."]);
        expect(await problemsIn(Buffer.from("\uFEFFkind: a", "utf16le"))).to.deep.equal(["standard input:1: is UTF-16, which no Kubernetes tool reads: save it as UTF-8."]);
        expect(await problemsIn(Buffer.from([0x61, 0x3a, 0x20, 0xff]))).to.deep.equal(["standard input:1: is not UTF-8: save it as UTF-8."]);
    });

    it("is a source without any object, which a failed command leaves behind", async () => {
        expect(await problemsIn("")).to.deep.equal(["standard input: holds no Kubernetes object: was it meant, or did the command before it fail?"]);
        await within({ "values.yaml": "replicas: 1\n", "empty/x.txt": "" }, async () => {
            expect((await readPaths(["values.yaml"])).problems.map(formatProblem)).to.deep.equal(["values.yaml: holds no Kubernetes object: was it meant, or did the command before it fail?"]);
            expect((await readPaths(["empty"])).problems.map(formatProblem)).to.deep.equal(["empty: holds no .yaml, .yml or .json file: name the folder of the manifests."]);
            expect((await readPaths(["."])).problems).to.deep.equal([]);
        });
    });

    it("is a path that is not there, a link to itself, a pipe in a folder, a chart's templates", () => within({ "a.yaml": BAD_RULE, "chart/Chart.yaml": "name: c", "chart/templates/t.yaml": "{{ .x }}" }, async (folder) => {
        symlinkSync("self.yaml", path.join(folder, "self.yaml"));
        symlinkSync("nowhere", path.join(folder, "lost.yaml"));
        symlinkSync("nowhere", path.join(folder, "lost"));
        execFileSync("mkfifo", [path.join(folder, "pipe.yaml")]);
        const reading = await readPaths([".", "missing.yaml"]);
        expect(reading.objects).to.have.lengthOf(1);
        expect(reading.problems.map(formatProblem)).to.deep.equal([
            "chart/templates: holds the templates of a Helm chart, which say nothing before they are rendered: audit what a cluster gets, helm template chart | istio-egress audit -, or leave them out with --exclude 'chart/templates'.",
            "lost.yaml: does not exist: check the path.",
            "pipe.yaml: is no regular file (a pipe, socket or device), which a folder's walk does not open: name it itself if it is meant.",
            "self.yaml: is a symbolic link that leads to itself: remove it, or name the file that it should mean.",
            "missing.yaml: does not exist: check the path.",
        ]);
    }));

    it("is a file that this user may not read", function () {
        if (process.getuid?.() === 0) this.skip();
        return within({ "a.yaml": BAD_RULE }, async (folder) => {
            chmodSync(path.join(folder, "a.yaml"), 0);
            expect((await readPaths(["a.yaml"])).problems.map(formatProblem)).to.deep.equal(["a.yaml: cannot be read, permission denied: change its mode, or run as a user who may."]);
        });
    });

    it("is one document of a size that no tool reads, in a file of 200 MB whose other documents are audited", function () {
        this.timeout(30_000);
        return within({}, async (folder) => {
            const file = path.join(folder, "huge.yaml"), line = `${"x".repeat(999)}\n`;
            writeFileSync(file, `${GOOD_RULE}---\na: |\n`);
            for (let megabyte = 0; megabyte < 200; megabyte += 10) writeFileSync(file, `  ${line}`.repeat(10_000), { flag: "a" });
            writeFileSync(file, `---\n${SERVICE}`, { flag: "a" });
            const before = process.memoryUsage().rss, reading = await readPaths(["huge.yaml"]);
            expect(reading.problems.map(formatProblem)).to.deep.equal(["huge.yaml:14: is one document of 200,400,009 bytes, too large to be read: split it into documents (---), or audit the cluster itself (--context)."]);
            expect(reading.objects.map(({ object, written }) => [object.label, written?.line])).to.deep.equal([["DestinationRule egress/partner", 1], ["Service istio-egress/egress", 200_016]]);
            expect((process.memoryUsage().rss - before) / 1e6, "MB more").to.be.below(300);
        });
    });
});
