// Finds a tool that is there already (PATH, then the cache) or gets it, so that a file in the cache is always a whole and tried one.
import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { cacheFolder, onPath } from "../support/places";
import { UserError, duration, say } from "../support/report";
import { Unavailable, emptyFolder, fetchFrom } from "./sources";
import { tools } from "./table";
import type { Tool } from "./table";

export interface InstallOptions {
    /** Only optimised builds will do: for benchmarks. */
    readonly bench: boolean;
}

export function toolsFolder(): string {
    return path.join(cacheFolder(), "tools");
}

/** The file of a tool, for a program that needs it now: the one on PATH, if its version is right, else the one in the cache. */
export async function locate(name: string): Promise<string> {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`No tool is called ${name}; there are ${tools.map((one) => one.name).join(", ")}.`);
    const file = await usableOnPath(tool) ?? cached(tool).find((candidate) => existsSync(candidate));
    if (file !== undefined) return file;
    throw new UserError(`${tool.name} ${tool.version} (${tool.use}) is neither on PATH nor in ${toolsFolder()}. Run npm run setup${tool.isDefault ? "" : ` -- --only ${tool.name}`}.`);
}

/** Makes a tool available and says how; the second time only its version is asked. */
export async function install(tool: Tool, options: InstallOptions): Promise<void> {
    const begin = Date.now();
    const report = (how: string): void => say(`${tool.name} ${tool.version}: ${how} (${duration(Date.now() - begin)})`);
    if (await usableOnPath(tool) !== undefined) return report("on PATH");
    for (const file of cached(tool, options)) {
        if (!existsSync(file)) continue;
        const problem = await problemOf(tool, file);
        if (problem === undefined) return report("in the cache");
        say(`${tool.name} ${tool.version}: the file in the cache is not usable (${problem}); it is replaced`);
    }
    for (const source of tool.sources) {
        const unoptimised = source.kind === "go" && !options.bench;
        const folder = path.join(toolsFolder(), tool.name, unoptimised ? `${tool.version}-unoptimised` : tool.version);
        const stage = path.join(path.dirname(folder), `.${path.basename(folder)}.partial`);
        if (source.kind === "go") say(`${tool.name} ${tool.version}: building ${tool.use} from source, about ${String(source.minutes * (options.bench ? 2 : 1))} min on two cores`);
        try {
            await emptyFolder(stage);
            await fetchFrom(source, tool, stage, unoptimised);
            const problem = await problemOf(tool, path.join(stage, tool.file));
            if (problem !== undefined) throw new UserError(`setup: the ${tool.name} that was made from ${source.kind} is not usable: ${problem}. Run npm run setup again; if it stays so, the pinned version does not fit this machine.`);
            await rm(folder, { recursive: true, force: true });
            await rename(stage, folder);
            return report(source.kind === "vendor" ? "from the vendor" : source.kind === "go" ? "built" : "fetched");
        } catch (error) {
            if (!(error instanceof Unavailable)) throw error;
            say(`${tool.name} ${tool.version}: ${error.message}`);
        } finally {
            await rm(stage, { recursive: true, force: true });
        }
    }
    throw new UserError(`setup: no source gave ${tool.name} ${tool.version}. Put ${tool.file} ${tool.version} on PATH and run npm run setup again.`);
}

/** Where the cache may hold the tool: an optimised one serves every purpose. */
function cached(tool: Tool, options: InstallOptions = { bench: false }): string[] {
    const folder = path.join(toolsFolder(), tool.name);
    const versions = [tool.version, ...(options.bench ? [] : [`${tool.version}-unoptimised`])];
    return versions.map((version) => path.join(folder, version, tool.file));
}

async function usableOnPath(tool: Tool): Promise<string | undefined> {
    const file = onPath(tool.file);
    return file !== undefined && await problemOf(tool, file) === undefined ? file : undefined;
}

/** What is wrong with a file, or undefined when it runs and reports the version wanted. */
async function problemOf(tool: Tool, file: string): Promise<string | undefined> {
    try {
        const version = await tool.versionOf(file);
        return version === tool.version ? undefined : `it reports version ${version ?? "nothing"}`;
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
}

/** Leftovers of setups that were killed. */
export async function removePartial(): Promise<void> {
    for (const tool of tools) {
        const folder = path.join(toolsFolder(), tool.name);
        if (!existsSync(folder)) continue;
        for (const name of readdirSync(folder).filter((one) => one.endsWith(".partial"))) await rm(path.join(folder, name), { recursive: true, force: true });
    }
}
