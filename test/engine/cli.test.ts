// The real CLI, provider and language host as the other tests need them: rendering, updates, hooks, packs, errors, a clean end.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { version as providerVersion } from "@pulumi/kubernetes/package.json";
import { version as sdkVersion } from "@pulumi/pulumi/package.json";
import { expect } from "chai";
import { parse } from "yaml";
import { tools } from "../../tools/setup/table";
import { repository } from "../../tools/support/places";
import { descendants, isAlive, signal } from "../../tools/support/process";
import { changes, filesUnder, fixtureProject, linesOf, stateResources } from "./harness";
import type { Project } from "./harness";

const FILES = ["1-manifest/networking.istio.io_v1-destinationrule-default-partner.yaml", "1-manifest/networking.istio.io_v1-serviceentry-default-partner.yaml"];

describe("the real Pulumi CLI", function () {
    this.timeout(180_000);
    let project: Project;
    let rendered: string;
    let hookLog: string;
    let config: string[];

    before(async () => {
        project = await fixtureProject("render");
        rendered = path.join(project.folder, "rendered");
        hookLog = path.join(project.folder, "hooks.log");
        config = ["-c", `renderTo=${rendered}`, "-c", `hookLog=${hookLog}`];
    });
    after(() => project.remove());

    it("has the versions that package.json pins", async () => {
        const pinned = Object.fromEntries(tools.map(({ name, version }) => [name, version]));
        expect(pinned).to.include({ pulumi: sdkVersion, "pulumi-resource-kubernetes": providerVersion });
        expect((await project.must(["version"])).stdout.trim()).to.equal(`v${sdkVersion}`);
    });

    it("previews without writing anything or calling a hook", async () => {
        const result = await project.must(["preview", ...config]);
        expect(changes(result)).to.deep.equal({ "to create": 4 });
        expect(await filesUnder(rendered)).to.deep.equal([]);
        expect(await linesOf(hookLog)).to.deep.equal([]);
    });

    it("renders the objects, with the pinned provider in the state", async () => {
        const result = await project.must(["up", "--yes", "--skip-preview", ...config]);
        expect(changes(result)).to.deep.equal({ created: 4 });
        expect(await filesUnder(rendered)).to.deep.equal(FILES);
        const provider = (await stateResources(project.must)).find(({ type }) => type === "pulumi:providers:kubernetes");
        expect(provider?.inputs).to.include({ version: providerVersion });
    });

    it("called the hooks around the creation, in order, and waited for them", async () => {
        const calls = (await linesOf(hookLog)).map((line) => line.split(" "));
        expect(calls.map(([, ...what]) => what.join(" "))).to.deep.equal(["after entry", "before rule"]);
        const state = await stateResources(project.must) as readonly { urn: string; created?: string }[];
        const created = Date.parse(state.find(({ urn }) => urn.endsWith("::rule"))?.created ?? "");
        expect(created - Number(calls[1]?.[0])).to.be.at.least(450);
    });

    it("changes nothing the second time, and calls no hook", async () => {
        await project.must(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
        expect(await linesOf(hookLog)).to.have.lengthOf(2);
    });

    it("updates the one object of which a field changed", async () => {
        const result = await project.must(["up", "--yes", "--skip-preview", "-c", "resolution=STATIC"]);
        expect(changes(result)).to.deep.equal({ updated: 1, unchanged: 3 });
        const entry = parse(await readFile(path.join(rendered, FILES[1] ?? ""), "utf8")) as { spec: { resolution: string } };
        expect(entry.spec.resolution).to.equal("STATIC");
        expect((await linesOf(hookLog)).at(-1)).to.match(/ before entry$/);
    });

    it("fails a preview on a violation, with its message, and passes configuration to the pack", async () => {
        const file = path.join(project.folder, "pack.json");
        const surroundings = path.join(project.folder, "surroundings.json");
        const pack = path.join(repository, "test/engine/fixtures/pack");
        const args = ["preview", "--policy-pack", pack, "--policy-pack-config", file];
        await writeFile(file, JSON.stringify({ "forbidden-resolution": { forbidden: "STATIC", surroundings } }));
        const refused = await project.run(args);
        expect(refused.code).to.not.equal(0);
        expect(refused.stdout).to.include("[mandatory]  forbidden-resolution  (kubernetes:networking.istio.io/v1:ServiceEntry: entry)");
        expect(refused.stdout).to.include("spec.resolution is STATIC, but the configuration forbids it: choose another.");
        await writeFile(file, JSON.stringify({ "forbidden-resolution": { forbidden: "NONE" } }));
        expect(changes(await project.must(args))).to.deep.equal({ unchanged: 4 });
        // What a pack may build on: its own folder, and none of the variables that a program gets.
        const { cwd, env } = JSON.parse(await readFile(surroundings, "utf8")) as { cwd: string; env: Record<string, string> };
        expect(cwd).to.equal(pack);
        expect(env).to.not.have.any.keys("PULUMI_PROJECT", "PULUMI_STACK", "PULUMI_NODEJS_PROJECT", "PULUMI_NODEJS_STACK");
    });

    it("tells an error of the program at once", async () => {
        const begin = Date.now();
        const result = await project.run(["preview", "-c", "fault=throw"]);
        expect(result.code).to.not.equal(0);
        expect(result.stdout).to.include("the program gives up on purpose");
        expect(Date.now() - begin).to.be.below(30_000);
    });

    for (const [how, kill] of [["takes too long", false], ["is killed", true]] as const) {
        it(`leaves no process behind when it ${how}`, async () => {
            const noted = (await linesOf(hookLog)).length;
            let family: number[] = [];
            const watch = async (pid: number): Promise<void> => {
                while ((await linesOf(hookLog)).length === noted) await wait(100);
                family = [pid, ...descendants(pid)];
                if (kill) signal(pid, "SIGKILL");
            };
            // Long enough for the program to be running on a busy machine.
            const result = await project.run(["preview", "-c", "fault=hang"], { timeout: 25_000, started: (pid) => void watch(pid) });
            expect(result).to.include({ timedOut: !kill, code: 1 });
            expect(family).to.have.length.above(2);
            expect(family.filter(isAlive)).to.deep.equal([]);
        });
    }

    it("destroys everything without running the program", async () => {
        await project.must(["config", "rm", "fault"]);
        const result = await project.must(["destroy", "--yes", "--skip-preview"]);
        expect(changes(result)).to.deep.equal({ deleted: 4 });
        expect(await filesUnder(rendered)).to.deep.equal([]);
        expect(await stateResources(project.must)).to.deep.equal([]);
    });
});
