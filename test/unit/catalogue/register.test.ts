// `istio-egress register`: what it writes, what it says, and whom it refuses; a stack's hosts by the catalogue alone, the program is not run.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parseRegistry } from "../../../catalogue";
import { within } from "../audit/support";
import { HOST } from "./support";

interface Outcome { readonly code: number; readonly stdout: string; readonly stderr: string }
const root = path.join(__dirname, "../../..");

function register(...args: readonly string[]): Promise<Outcome> {
    return new Promise((done) => {
        execFile(process.execPath, ["--import", path.join(root, "node_modules/tsx/dist/loader.mjs"), path.join(root, "cli/main.ts"), "register", ...args],
            { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" } }, (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    });
}

const OTHER = HOST.replace("partner-api", "rates").replace("api.partner.example", "rates.bank.example");
/** Two stacks of one folder each, which share a registry. */
const project = (name: string, catalogue: string): Readonly<Record<string, string>> => ({
    [`${name}/Pulumi.yaml`]: `name: ${name}\nruntime: nodejs\n`, [`${name}/index.js`]: "throw new Error('the program is not run');\n",
    [`${name}/Pulumi.prod.yaml`]: "config:\n  istio-egress:catalogue: catalogue.yaml\n  istio-egress:registry: ../registry.yaml\n",
    [`${name}/Pulumi.dev.yaml`]: "config:\n  istio-egress:catalogue: catalogue.yaml\n",
    [`${name}/Pulumi.bare.yaml`]: "config:\n  istio-egress:registry: ../registry.yaml\n",
    [`${name}/catalogue.yaml`]: `hosts:\n${catalogue}`,
});
const FILES = { ...project("egress", HOST), ...project("trading", OTHER) };
const PROD = ["--env", "prod", "--project"] as const;

function declaredBy(stack: string): readonly string[] | undefined {
    const parsed = parseRegistry(readFileSync("registry.yaml", "utf8"), "registry.yaml");
    if (!parsed.ok) throw new Error(parsed.errors.join("\n"));
    const section = parsed.registry.get(stack);
    return section === undefined ? undefined : Object.values(section.hosts).map(({ host }) => host);
}

describe("istio-egress register", function () {
    this.timeout(60_000);

    it("begins the registry, writes each stack's section, says when nothing changes, and takes a stack out again", () => within(FILES, async () => {
        expect(await register(...PROD, "egress")).to.deep.equal({ code: 0, stdout: "registry.yaml: egress/prod declares 1 host.\n", stderr: "" });
        const first = readFileSync("registry.yaml", "utf8");
        expect(await register(...PROD, "trading")).to.deep.equal({ code: 0, stdout: "registry.yaml: trading/prod declares 1 host.\n", stderr: "" });
        expect([declaredBy("egress/prod"), declaredBy("trading/prod")]).to.deep.equal([["api.partner.example"], ["rates.bank.example"]]);
        const both = readFileSync("registry.yaml", "utf8");
        expect(await register(...PROD, "egress")).to.deep.equal({ code: 0, stdout: "registry.yaml: egress/prod declares 1 host, as before.\n", stderr: "" });
        expect(readFileSync("registry.yaml", "utf8")).to.equal(both);
        expect(await register(...PROD, "trading", "--remove")).to.deep.equal({ code: 0, stdout: "registry.yaml: trading/prod is not in it any more.\n", stderr: "" });
        expect(readFileSync("registry.yaml", "utf8")).to.equal(first);
        expect(await register(...PROD, "trading", "--remove")).to.deep.equal({ code: 0, stdout: "registry.yaml: trading/prod is not in it any more, as before.\n", stderr: "" });
        expect(readdirSync(".").sort(), "nothing temporary").to.deep.equal(["egress", "registry.yaml", "trading"]);
    }));

    it("takes the registry that is named, by the caller's folder, before the environment's", () => within(FILES, async () => {
        expect(await register("--env", "dev", "--project", "egress", "--registry", "mine.yaml")).to.deep.equal({ code: 0, stdout: "mine.yaml: egress/dev declares 1 host.\n", stderr: "" });
        expect(await register(...PROD, "egress", "--registry", "mine.yaml")).to.include({ code: 1, stdout: "" });
        expect([existsSync("mine.yaml"), existsSync("registry.yaml")]).to.deep.equal([true, false]);
    }));

    it("counts several hosts", () => within({ ...FILES, "egress/catalogue.yaml": `hosts:\n${HOST}${OTHER}` }, async () => {
        expect((await register(...PROD, "egress")).stdout).to.equal("registry.yaml: egress/prod declares 2 hosts.\n");
    }));

    it("refuses a host of another stack, at its place in the catalogue, and leaves the registry as it is", () => within({ ...FILES, "trading/catalogue.yaml": `hosts:\n${HOST.replace("partner-api", "partner")}` }, async () => {
        await register(...PROD, "egress");
        const before = readFileSync("registry.yaml", "utf8");
        const { code, stdout, stderr } = await register(...PROD, "trading");
        expect([code, stdout]).to.deep.equal([1, ""]);
        expect(stderr).to.equal('error: trading/catalogue.yaml:2:3: hosts.partner.host conflicts with stack egress/prod (registry.yaml): "partner-api" of stack egress/prod and "partner" both declare api.partner.example: two ServiceEntries of one host break or shadow each other; make them one declaration, with the ports and consumers of both.\n');
        expect(readFileSync("registry.yaml", "utf8")).to.equal(before);
        expect((await register(...PROD, "egress", "--remove")).code).to.equal(0);
        expect(await register(...PROD, "trading"), "once the other stack is out").to.include({ code: 0 });
    }));

    it("says what the call lacks", () => within(FILES, async () => {
        const [noRegistry, noCatalogue, noProject, noEnv] = await Promise.all([register("--env", "dev", "--project", "egress"), register("--env", "bare", "--project", "egress"), register("--env", "prod"), register("--project", "egress")]);
        expect(noRegistry).to.deep.equal({ code: 2, stdout: "", stderr: 'error: The environment "dev" names no registry: set istio-egress:registry in Pulumi.dev.yaml, or name a file with --registry.\n' });
        expect(noCatalogue).to.deep.equal({ code: 2, stdout: "", stderr: 'error: The environment "bare" names no catalogue: set istio-egress:catalogue in Pulumi.bare.yaml.\n' });
        expect(noProject).to.deep.equal({ code: 2, stdout: "", stderr: "error: There is no Pulumi.yaml in .: run the command in the project's folder, or name it with --project.\n" });
        expect(noEnv).to.deep.equal({ code: 2, stdout: "", stderr: "error: required option '--env <env>' not specified\n" });
        expect(existsSync("registry.yaml")).to.equal(false);
    }));

    it("refuses a catalogue or a registry with errors", () => within({ ...FILES, "egress/catalogue.yaml": "hosts:\n  partner-api: { host: api.partner.example }\n", "registry.yaml": "stacks: [\n", "odd.yaml": "stacks: { a/b: { hosts: { x: { hosts: [] } } } }\n" }, async () => {
        const [broken, odd, catalogue] = await Promise.all([register(...PROD, "trading"), register(...PROD, "trading", "--registry", "odd.yaml"), register(...PROD, "egress", "--registry", "new.yaml")]);
        expect([broken.code, odd.code, catalogue.code]).to.deep.equal([1, 1, 1]);
        expect(broken.stderr).to.match(/^error: registry\.yaml:\d+: /);
        expect(odd.stderr).to.match(/^error: odd\.yaml: stacks\["?a\/b"?\]\.hosts\.x/);
        expect(catalogue.stderr).to.match(/^error: egress\/catalogue\.yaml:2:\d+: hosts\.partner-api/);
        expect([readFileSync("registry.yaml", "utf8"), existsSync("new.yaml")]).to.deep.equal(["stacks: [\n", false]);
    }));

    it("says when the registry cannot be written", () => within(FILES, async () => {
        const { code, stdout, stderr } = await register(...PROD, "egress", "--registry", "nowhere/registry.yaml");
        expect([code, stdout]).to.deep.equal([1, ""]);
        expect(stderr).to.match(/^error: nowhere\/registry\.yaml cannot be written: ENOENT: no such file or directory, open /);
    }));
});
