// What the engine tests share: a project in a throw-away folder on the real CLI, and readers for what the CLI says.
import { cp, mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { preparePulumi } from "../../tools/pulumi";
import type { Pulumi } from "../../tools/pulumi";
import { repository } from "../../tools/support/places";
import type { RunOptions, RunResult } from "../../tools/support/process";

export { temporaryFolder } from "../support/folders";

/** A command of the CLI on a small program; the first one compiles and warms caches. */
export const COMMAND_MS = 120_000;

export interface Project {
    /** Holds `program/`, `state/` and whatever a test puts there. */
    readonly folder: string;
    readonly pulumi: Pulumi;
    /** Runs `pulumi ARGS` in the program's folder. */
    readonly run: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
    readonly must: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
    readonly remove: () => Promise<void>;
}

export interface StateResource { readonly urn: string; readonly type: string; readonly inputs?: Record<string, unknown>; readonly outputs?: Record<string, unknown> }

/** A copy of a program of `fixtures/`, with its own state and a stack called `test`. */
export async function fixtureProject(fixture: string): Promise<Project> {
    // Inside the repository, where it finds node_modules and, as in fixtures/, the library four folders up.
    const base = path.join(repository, "out/engine");
    await mkdir(base, { recursive: true });
    const folder = await mkdtemp(path.join(base, `${fixture}-`));
    const program = path.join(folder, "program");
    await cp(path.join(__dirname, "fixtures", fixture), program, { recursive: true });
    const pulumi = await preparePulumi({ backend: path.join(folder, "state") });
    const options = (given: RunOptions = {}): RunOptions => ({ cwd: program, timeout: COMMAND_MS, ...given });
    const project: Project = {
        folder, pulumi,
        run: (args, given) => pulumi.run(args, options(given)),
        must: (args, given) => pulumi.must(args, options(given)),
        remove: () => rm(folder, { recursive: true, force: true }),
    };
    await project.must(["stack", "init", "test"]);
    return project;
}

/** The numbers under "Resources:", such as `{ created: 4, unchanged: 1 }`; a preview says "to create". */
export function changes({ stdout }: RunResult): Record<string, number> {
    const block = stdout.slice(stdout.lastIndexOf("\nResources:"));
    return Object.fromEntries([...block.matchAll(/^ +(?:[^\w\s]+ )?(\d+) (\w+(?: \w+)?)$/gm)].map(([, count, what]) => [what ?? "", Number(count)]));
}

export async function stateResources(run: Project["must"]): Promise<StateResource[]> {
    const { stdout } = await run(["stack", "export"]);
    const { deployment } = JSON.parse(stdout) as { deployment: { resources?: StateResource[] } };
    return deployment.resources ?? [];
}

/** The files under a folder, relative and sorted; none when there is no folder. */
export async function filesUnder(folder: string): Promise<string[]> {
    try {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        return entries.filter((entry) => entry.isFile()).map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort();
    } catch {
        return [];
    }
}

export async function linesOf(file: string): Promise<string[]> {
    return (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
}
