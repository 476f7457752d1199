// What the tests of the embedded engine share: the fixtures, the command as a child process, programs in a process of their own.
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { runProject } from "../../cli/embedded/program";
import { readProject } from "../../cli/embedded/project";
import type { ProgramRun, Resource } from "../../cli/embedded/types";

export const root = resolve(__dirname, "..", "..");
export const fixture = (...names: string[]): string => join(root, "test", "fixtures", "programs", ...names);

/** Runs the program of a project's folder in this process. */
export const runIn = (folder: string, env = "dev", timeoutMs?: number): Promise<ProgramRun> => runProject(readProject(folder, env), timeoutMs);

export interface Outcome {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
}

/** Runs a TypeScript file under tsx, in the repository's folder. */
export function runFile(file: string, args: readonly string[]): Promise<Outcome> {
    return new Promise((done) => {
        const options = { cwd: root, env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" }, maxBuffer: 64 * 1024 * 1024 };
        execFile(process.execPath, ["--import", "tsx", join(root, file), ...args], options, (error, stdout, stderr) => {
            const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
            done({ code, stdout, stderr });
        });
    });
}

export const cli = (...args: string[]): Promise<Outcome> => runFile("cli/main.ts", args);

/** Programs with errors run in a process of their own: what they leave rejected would fail the test itself. */
export async function runPrograms(...names: string[]): Promise<Record<string, ProgramRun>> {
    const { stdout, stderr } = await runFile("test/embedded/run-programs.ts", names);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, ProgramRun>;
}

/** The one resource of a name. */
export function named(run: ProgramRun, name: string): Resource {
    const found = run.resources.filter((resource) => resource.name === name);
    if (found.length !== 1) throw new Error(`${found.length} resources have the name ${name}: ${run.resources.map((resource) => resource.name).join(", ")}`);
    return found[0] as Resource;
}
