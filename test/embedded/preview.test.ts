// `istio-egress preview` as users call it: text, JSON, files, exit codes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { cli, fixture, root } from "./support";

describe("istio-egress preview", () => {
    let out: string;
    beforeEach(() => { out = mkdtempSync(join(tmpdir(), "istio-egress-")); });
    afterEach(() => rmSync(out, { recursive: true }));

    const preview = (name: string, ...args: string[]): ReturnType<typeof cli> => cli("preview", "--env", "dev", "--project", fixture(name), "--out", out, ...args);
    const files = (): string[] => readdirSync(join(out, "dev"), { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name)).sort();

    it("shows components with their objects and plans, and writes one manifest per object", async () => {
        const { code, stdout, stderr } = await preview("tree", "--no-policy");
        expect(stderr).to.equal("warning: fixture:index:Host first: a warning\n");
        expect(stdout.replace(/\(\d+\.\d s\)/, "(T)").replaceAll(out, "OUT").split("\n")).to.deep.equal([
            "first Host",
            "├─ ServiceEntry     egress/first                networking.istio.io/v1",
            "└─ DestinationRule  egress/first-rule-9f746462  networking.istio.io/v1",
            "   first goes out directly",
            "  second Host",
            "  ├─ ServiceEntry     egress/second                networking.istio.io/v1",
            "  └─ DestinationRule  egress/second-rule-070c51b2  networking.istio.io/v1",
            "     second goes out directly",
            "",
            "Resources of no component",
            "└─ ConfigMap  egress/note  v1",
            "",
            "dev: 2 hosts, 5 Kubernetes objects, no policies ran. Manifests are in OUT/dev (T).",
            "",
        ]);
        expect(code).to.equal(0);
        expect(readdirSync(out)).to.deep.equal(["dev"]);
        expect(files()).to.deep.equal([
            "egress/ConfigMap-note.yaml", "egress/DestinationRule-first-rule-9f746462.yaml", "egress/DestinationRule-second-rule-070c51b2.yaml",
            "egress/ServiceEntry-first.yaml", "egress/ServiceEntry-second.yaml", "plan.json",
        ]);
        expect(readFileSync(join(out, "dev/egress/ServiceEntry-first.yaml"), "utf8")).to.equal([
            "apiVersion: networking.istio.io/v1", "kind: ServiceEntry", "metadata:", "  name: first", "  namespace: egress",
            "spec:", "  hosts:", "    - api.example.test", "  ports:", "    - number: 443", "    - number: 8443", "",
        ].join("\n"));
        expect(JSON.parse(readFileSync(join(out, "dev/plan.json"), "utf8"))).to.deep.equal({
            project: "tree", environment: "dev",
            hosts: [
                { name: "first", urn: "urn:pulumi:dev::tree::fixture:index:Host::first", plan: { summary: ["first goes out directly"], window: "15s" } },
                { name: "second", urn: "urn:pulumi:dev::tree::fixture:index:Host$fixture:index:Host::second", plan: { summary: ["second goes out directly"], window: "15s" } },
            ],
        });
    });

    it("refuses mandatory findings with exit code 1, as JSON, and leaves the former folder as it was", async () => {
        mkdirSync(join(out, "dev"));
        writeFileSync(join(out, "dev", "plan.json"), "former");
        const { code, stdout } = await preview("secrets", "--json", "--policy-pack", fixture("packs", "tiny"));
        expect(code).to.equal(1);
        expect(stdout).not.to.include("hunter2");
        const document = JSON.parse(stdout) as Record<string, unknown>;
        expect(document["findings"]).to.deep.include({
            level: "mandatory", policy: "reads-data", message: "data.secret is a secret in clear here", urn: "urn:pulumi:dev::secrets::kubernetes:core/v1:ConfigMap::mixed",
        });
        expect(document).to.include({ project: "secrets", environment: "dev", written: null });
        expect(document).to.have.all.keys("project", "environment", "resources", "outputs", "plans", "pack", "findings", "remediations", "diagnostics", "errors", "written", "seconds");
        expect(files()).to.deep.equal(["plan.json"]);
        expect(readFileSync(join(out, "dev", "plan.json"), "utf8")).to.equal("former");
    });

    it("shows findings by level and writes no secret when policies only advise", async () => {
        const config = join(out, "policies.yaml");
        writeFileSync(config, "all: advisory\n");
        const { code, stdout } = await preview("secrets", "--policy-pack", fixture("packs", "tiny"), "--policy-config", config);
        expect(code).to.equal(0);
        expect(stdout).to.include([
            "3 advisory",
            "  reads-data",
            "    data.secret is a secret in clear here",
            "    ConfigMap egress/mixed",
            "  reads-data",
            "    can't run policy 'reads-data' from policy pack 'tiny@v1.2.3' during preview: string value at .data.unknown can't be known during preview",
            "    ConfigMap egress/mixed",
            "  whole-stack",
            "    5 resources, 0 in components, 1 with dependencies",
        ].join("\n"));
        expect(readFileSync(join(out, "dev/egress/ConfigMap-mixed.yaml"), "utf8")).to.equal([
            "# Not complete: <unknown> and [secret] stand for values that only a deployment has.",
            "apiVersion: v1", "data:", "  composed: <unknown>", "  plain: visible", '  secret: "[secret]"', "  unknown: <unknown>",
            "kind: ConfigMap", "metadata:", "  name: mixed", "  namespace: egress", "",
        ].join("\n"));
    });

    it("shows the errors of a program, message first, exit code 1, nothing written", async () => {
        const { code, stdout, stderr } = await preview("throws");
        expect(stderr).to.equal([
            "error: TypeError: the program's own mistake",
            "    at test/fixtures/programs/throws/index.ts:12:7",
            "    at test/fixtures/programs/throws/index.ts:12:48",
            'error: Host "partner-api": pool is missing: say how many addresses an answer holds.',
            "",
        ].join("\n"));
        expect(stdout).to.match(/^dev: 2 errors\. Nothing was written \(\d+\.\d s\)\.\n$/);
        expect(code).to.equal(1);
        expect(existsSync(join(out, "dev"))).to.equal(false);
    });

    it("refuses a Kubernetes object that two resources make, exit code 1, nothing written", async () => {
        const { code, stdout, stderr } = await preview("twice", "--no-policy");
        expect(stderr).to.equal([
            "error: 3 Kubernetes objects are registered by more than one resource; the cluster would hold the one that is written last, and removing either removes the object. "
                + "Keep one of them, or give the other another host, name or namespace:",
            '    DestinationRule egress/egress-api-partner-example: "first-destination-rule" of ExternalEgressHost "first" and "second-destination-rule" of ExternalEgressHost "second"',
            '    ServiceEntry egress/egress-api-partner-example: "first-service-entry" of ExternalEgressHost "first" and "second-service-entry" of ExternalEgressHost "second"',
            '    Gateway egress/edge: "new" and "old"',
            "",
        ].join("\n"));
        expect(stdout).to.match(/^dev: 1 error\. Nothing was written/);
        expect(code).to.equal(1);
        expect(existsSync(join(out, "dev"))).to.equal(false);
    });

    it("ends the pack's process when it is interrupted", async () => {
        const pidFile = join(out, "pid");
        const args = ["--import", "tsx", "cli/main.ts", "preview", "--env", "dev", "--project", fixture("exports"), "--out", out, "--policy-pack", fixture("packs", "silent")];
        const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, PACK_PID_FILE: pidFile }, stdio: "ignore" });
        const ended = once(child, "exit");
        while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await delay(50);
        child.kill("SIGINT");
        expect(await ended).to.deep.equal([130, null]);
        const pid = Number(readFileSync(pidFile, "utf8"));
        for (let tries = 0; isAlive(pid) && tries < 40; tries += 1) await delay(50);
        expect(isAlive(pid)).to.equal(false);
        expect(readdirSync(out)).to.deep.equal(["pid"]);
    });

    it("replaces no folder that it has not written, and no usage error runs anything", async () => {
        mkdirSync(join(out, "dev"));
        writeFileSync(join(out, "dev", "thesis.txt"), "mine");
        const foreign = await preview("tree");
        expect(foreign).to.deep.equal({
            code: 2, stdout: "",
            stderr: `error: ${join(out, "dev")} holds files, but no plan.json: it was not written by this command, which would replace it. Name another folder with --out, or empty this one.\n`,
        });
        const unknown = await cli("preview", "--env", "nowhere", "--project", fixture("tree"));
        expect(unknown).to.deep.equal({
            code: 2, stdout: "",
            stderr: 'error: There is no environment "nowhere": there are dev, prod. An environment is a file Pulumi.<env>.yaml.\n',
        });
        const incomplete = await cli("preview");
        expect(incomplete).to.deep.equal({ code: 2, stdout: "", stderr: "error: required option '--env <env>' not specified\n" });
    });
});

function isAlive(pid: number): boolean {
    try {
        return process.kill(pid, 0);
    } catch {
        return false;
    }
}

describe("the folder that preview writes", function () {
    this.timeout(60_000);

    it("is the one that a link means, and a file or a dangling link is refused at once", async () => {
        const base = mkdtempSync(join(tmpdir(), "istio-egress-links-"));
        try {
            const target = join(base, "target"), out = join(base, "out");
            mkdirSync(target);
            mkdirSync(out);
            symlinkSync(target, join(out, "dev"));
            const good = await cli("preview", "--env", "dev", "--out", out, "--no-policy");
            expect(good.code, good.stderr).to.equal(0);
            expect(lstatSync(join(out, "dev")).isSymbolicLink()).to.equal(true);
            expect(existsSync(join(target, "plan.json"))).to.equal(true);
            rmSync(target, { recursive: true });
            const dangling = await cli("preview", "--env", "dev", "--out", out, "--no-policy");
            expect(dangling.code).to.equal(2);
            expect(dangling.stderr).to.contain("is a link that leads nowhere: remove it, or make the folder that it means.");
            writeFileSync(join(base, "file"), "");
            const file = await cli("preview", "--env", "dev", "--out", join(base, "file"), "--no-policy");
            expect(file.code).to.equal(2);
            expect(file.stderr).to.match(/is a file, so that .* cannot be written below it: name another folder with --out\./);
        } finally {
            rmSync(base, { recursive: true, force: true });
        }
    });
});
