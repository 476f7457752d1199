// A stack of an example on the real CLI, with a state of its own and the Node of choice.
import { existsSync } from "node:fs";
import { link, mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { preparePulumi } from "../../../tools/pulumi";
import { locate } from "../../../tools/setup/install";
import { beside, cacheFolder, repository } from "../../../tools/support/places";
import { run } from "../../../tools/support/process";
import type { RunResult } from "../../../tools/support/process";
import { type Consumer, INSTALL_MS, environment } from "../support";

/** A preview or an update of some dozen objects, while other work is going on. */
export const STACK_MS = 240_000;
export const NODE_22 = "22.23.3";

export interface Stack {
    /** `pulumi COMMAND` on this stack; without questions and a preview before it where it changes something. */
    readonly run: (command: string, ...args: string[]) => Promise<RunResult>;
    /** As `run`, for a command that must succeed. */
    readonly must: (command: string, ...args: string[]) => Promise<RunResult>;
}

export async function exampleStack(team: Consumer, example: string, stack: string, nodeFolder = path.dirname(process.execPath)): Promise<Stack> {
    const { PATH } = environment(nodeFolder);
    const { run: pulumi, must } = await preparePulumi({ backend: path.join(team.folder, "state"), env: { PATH } });
    const options = { cwd: path.join(team.folder, example), timeout: STACK_MS };
    await must(["stack", "select", stack, "--create"], options);
    const args = (command: string, more: readonly string[]): string[] =>
        [command, ...more, "--stack", stack, ...(["up", "destroy"].includes(command) ? ["--yes", "--skip-preview"] : [])];
    return {
        run: (command, ...more) => pulumi(args(command, more), options),
        must: (command, ...more) => must(args(command, more), options),
    };
}

/** The folder of a Node 22, which the registry has as an ordinary package. */
export async function node22(): Promise<string> {
    const folder = path.join(cacheFolder(), "consumers", `node-${NODE_22}`), name = `node-${process.platform}-${process.arch}`;
    const bin = path.join(folder, "node_modules", name, "bin");
    if (!existsSync(path.join(bin, "node"))) {
        await mkdir(folder, { recursive: true });
        const { code, stderr } = await run("npm", ["install", "--prefix", folder, "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", `${name}@${NODE_22}`], { timeout: INSTALL_MS });
        if (code !== 0) throw new Error(`npm cannot install ${name}@${NODE_22}: ${stderr}`);
    }
    return bin;
}

/** A folder with the host of YAML programs and, where it looks for it to run our provider, the host of Node programs. */
export async function yamlHost(team: Consumer): Promise<string> {
    const { file } = await preparePulumi({ backend: path.join(team.folder, "state") });
    const folder = path.join(team.folder, "yaml-host");
    await mkdir(folder);
    // A symbolic link would not do: the host looks beside the file that the link means.
    await link(await locate("pulumi-language-yaml"), path.join(folder, "pulumi-language-yaml"));
    await symlink(beside(file, "pulumi-language-nodejs") ?? path.join(repository, "tools/language-host/pulumi-language-nodejs"), path.join(folder, "pulumi-language-nodejs"));
    return folder;
}
