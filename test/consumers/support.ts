// A consumer's machine: the package as npm packs it, installed in a folder outside of this repository, and the examples beside it.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect } from "chai";
import { cacheFolder, repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import type { RunResult } from "../../tools/support/process";
import { lastLines } from "../../tools/support/report";

/** npm asks its registry for what its own cache lacks. */
export const INSTALL_MS = 300_000;
/** One command of a consumer, while other work is going on. */
export const COMMAND_MS = 120_000;
/** Nothing here needs an install script, and Pulumi's would fetch the provider. */
const NPM_INSTALL = ["install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];

interface Manifest {
    readonly name: string;
    readonly version: string;
    readonly dependencies?: Record<string, string>;
    readonly devDependencies?: Record<string, string>;
    readonly peerDependencies?: Record<string, string>;
}

let packed: Promise<string> | undefined;

/** The tarball of `npm pack`, whose prepack builds; made once in a run of tests. */
export function tarball(): Promise<string> {
    packed ??= (async () => {
        const folder = path.join(repository, "out/package");
        await mkdir(folder, { recursive: true });
        await npm(repository, ["pack", "--pack-destination", folder, "--loglevel=error"]);
        const { name, version } = readManifest(path.join(repository, "package.json"));
        return path.join(folder, `${name}-${version}.tgz`);
    })();
    return packed;
}

export interface Consumer {
    /** Holds node_modules and a copy of each example, which finds its packages there. */
    readonly folder: string;
    /** Runs a command in a folder of it; `node`, `npm` and `npx` are those of this process, or of `nodeFolder`. */
    readonly run: (within: string, command: string, args: readonly string[], nodeFolder?: string) => Promise<RunResult>;
    readonly remove: () => Promise<void>;
}

/**
 * A consumer outside of the repository, where an undeclared dependency is not found. What npm installs beside the package is
 * kept in the cache, and linked, so that only the first run waits for it.
 * @param versions of dependencies, instead of those of the examples
 */
export async function consumer(versions: Record<string, string> = {}): Promise<Consumer> {
    const file = await tarball(), installed = path.join(await dependencies(file, versions), "node_modules");
    const folder = await mkdtemp(path.join(os.tmpdir(), "istio-egress-consumer-")), modules = path.join(folder, "node_modules");
    await cp(path.join(repository, "examples"), folder, { recursive: true, filter: (name) => !["node_modules", "out", "rendered"].includes(path.basename(name)) });
    for (const example of readdirSync(folder)) await symlink(modules, path.join(folder, example, "node_modules"));
    await mkdir(path.join(modules, "istio-egress"), { recursive: true });
    for (const name of readdirSync(installed).filter((one) => one !== "istio-egress" && one !== ".bin")) await symlink(path.join(installed, name), path.join(modules, name));
    await cp(path.join(installed, ".bin"), path.join(modules, ".bin"), { recursive: true, verbatimSymlinks: true });
    const { code, stderr } = await run("tar", ["-xzf", file, "-C", path.join(modules, "istio-egress"), "--strip-components=1"]);
    if (code !== 0) throw new Error(`tar cannot unpack ${file}: ${stderr}`);
    return {
        folder,
        run: (within, command, args, nodeFolder = path.dirname(process.execPath)) =>
            run(command, args, { cwd: path.join(folder, within), timeout: COMMAND_MS, env: environment(nodeFolder) }),
        remove: () => rm(folder, { recursive: true, force: true }),
    };
}

/** What npm installs for the package and the examples, made once for each set of versions. */
async function dependencies(file: string, versions: Record<string, string>): Promise<string> {
    const own = readManifest(path.join(repository, "package.json"));
    const example = readManifest(path.join(repository, "examples/platform-team/package.json"));
    const wanted = { ...example.dependencies, ...example.devDependencies, ...versions };
    const key = createHash("sha256").update(JSON.stringify([wanted, own.dependencies, own.peerDependencies])).digest("hex").slice(0, 12);
    const base = path.join(cacheFolder(), "consumers"), folder = path.join(base, key);
    if (existsSync(folder)) return folder;
    await mkdir(base, { recursive: true });
    const stage = await mkdtemp(path.join(base, ".partial-"));
    try {
        await writeFile(path.join(stage, "package.json"), JSON.stringify({ name: "consumer", private: true, dependencies: { ...wanted, "istio-egress": `file:${file}` } }));
        await npm(stage, NPM_INSTALL);
        await rename(stage, folder).catch((error: unknown) => {
            if (!existsSync(folder)) throw error; // Otherwise another run was first.
        });
    } finally {
        await rm(stage, { recursive: true, force: true });
    }
    return folder;
}

/** This process's environment with a Node of choice, without what npm and Mocha put there. */
export function environment(nodeFolder: string): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$|^FORCE_COLOR$/.test(name));
    return { ...Object.fromEntries(own), NO_COLOR: "1", PATH: `${nodeFolder}${path.delimiter}${process.env["PATH"] ?? ""}` };
}

/** Compares lines with a file of `golden/`; ACCEPT=1 writes it anew, for review in the diff. */
export async function expectGolden(name: string, lines: readonly string[]): Promise<void> {
    const file = path.join(__dirname, "golden", `${name}.txt`);
    if (process.env["ACCEPT"] === "1") await writeFile(file, `${lines.join("\n")}\n`);
    expect(lines, `what test/consumers/golden/${name}.txt lists; ACCEPT=1 accepts a change`).to.deep.equal((await readFile(file, "utf8")).trimEnd().split("\n"));
}

async function npm(cwd: string, args: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await run("npm", args, { cwd, timeout: INSTALL_MS, env: environment(path.dirname(process.execPath)) });
    if (code !== 0) throw new Error(`npm ${args[0] ?? ""} in ${cwd} ended with exit code ${String(code)}; its last lines:\n${lastLines(stdout + stderr)}`);
}

function readManifest(file: string): Manifest {
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}
