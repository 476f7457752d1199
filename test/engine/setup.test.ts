// npm run setup on a cache of its own: what is not whole is made anew, two at once do not disturb each other, mistakes are told.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { tools } from "../../tools/setup/table";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import type { RunResult } from "../../tools/support/process";
import { filesUnder, temporaryFolder } from "./harness";

/** A tool that is fetched in a second: a file of a module that is in the module cache already. */
const TOOL = "istio-crds";

describe("npm run setup", function () {
    this.timeout(60_000);
    const { version = "", file = "" } = tools.find(({ name }) => name === TOOL) ?? {};
    let cache: string;
    let target: string;

    beforeEach(async () => {
        cache = await temporaryFolder();
        target = path.join(cache, "tools", TOOL, version, file);
    });
    afterEach(() => rm(cache, { recursive: true, force: true }));

    function setup(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunResult> {
        const program = [path.join(repository, "node_modules/tsx/dist/cli.mjs"), path.join(repository, "tools/setup.ts"), ...args];
        return run(process.execPath, program, { cwd: repository, env: { ...process.env, ISTIO_EGRESS_CACHE: cache, ...env } });
    }

    it("gets a tool once, and leaves nothing but the tool", async () => {
        const first = await setup(["--only", TOOL]);
        expect(first.stdout, first.stderr).to.match(new RegExp(`^${TOOL} ${version}: fetched`, "m"));
        expect((await setup(["--only", TOOL])).stdout).to.match(new RegExp(`^${TOOL} ${version}: in the cache`, "m"));
        expect(await filesUnder(cache)).to.deep.equal([path.relative(cache, target)]);
    });

    it("replaces a file that is not whole, and removes what a killed setup left", async () => {
        await mkdir(path.dirname(target), { recursive: true });
        await writeFile(target, "half");
        await mkdir(path.join(cache, "tools", TOOL, `.${version}.partial`));
        await writeFile(path.join(cache, "tools/.setup.lock"), "999999999");
        const result = await setup(["--only", TOOL]);
        expect(result.code, result.stderr).to.equal(0);
        expect(result.stdout).to.include("is not usable (it reports version nothing); it is replaced");
        expect(await readFile(target, "utf8")).to.include("kind: CustomResourceDefinition");
        expect(await filesUnder(cache)).to.deep.equal([path.relative(cache, target)]);
    });

    it("lets two run at once", async () => {
        const results = await Promise.all([setup(["--only", TOOL]), setup(["--only", TOOL])]);
        expect(results.map(({ code }) => code)).to.deep.equal([0, 0]);
        expect(results.map(({ stdout }) => /: (fetched|in the cache)/.exec(stdout)?.[1]).sort()).to.deep.equal(["fetched", "in the cache"]);
    });

    it("says what to install when Go is missing", async () => {
        const result = await setup(["--only", "kube-apiserver"], { PATH: "/nonexistent" });
        expect(result.code).to.equal(1);
        expect(result.stderr.trim()).to.match(/^setup: go is not on PATH\. Install Go 1\.26 or newer, to build kube-apiserver \S+ from its module, or put kube-apiserver \S+ on PATH; then run npm run setup again\.$/);
    });

    it("says which tools there are when one is unknown", async () => {
        const result = await setup(["--only", "kubectl"]);
        expect(result.code).to.equal(1);
        expect(result.stderr.trim()).to.equal(`setup: --only names "kubectl", which is no tool. Choose from ${tools.map(({ name }) => name).join(", ")}.`);
    });
});
