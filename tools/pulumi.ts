// The real Pulumi CLI, isolated from the user's own: own home, own backend folder, pinned CLI and provider, a language host that is there.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { version } from "@pulumi/kubernetes/package.json";
import { locate } from "./setup/install";
import { beside, cacheFolder, onPath, repository } from "./support/places";
import { run } from "./support/process";
import type { RunOptions, RunResult } from "./support/process";
import { UserError, lastLines } from "./support/report";

const LANGUAGE_HOST = "pulumi-language-nodejs";
const PROVIDER = "pulumi-resource-kubernetes";

export interface PulumiOptions {
    /** The folder that keeps the state, one per project; made when missing. */
    readonly backend: string;
    /** PULUMI_HOME: plugins and workspace files. Default: `pulumi-home` in the tools' cache, shared by all runs. */
    readonly home?: string;
    /** Variables over those of this process; undefined removes one. */
    readonly env?: NodeJS.ProcessEnv;
    /**
     * Save the state only at the end of an update, not after each resource. On a file backend each save writes the whole state,
     * so that 1,000 resources need 263 s, and 30 s without. For throw-away state only: a CLI that is killed forgets what it did.
     */
    readonly skipCheckpoints?: boolean;
    /** Put before the CLI's command, for example `ip netns exec NAME`. */
    readonly prefix?: readonly string[];
}

export interface Pulumi {
    /** The CLI's file. */
    readonly file: string;
    readonly env: NodeJS.ProcessEnv;
    /** Runs `pulumi ARGS`, without questions and colours unless the output is shown; a failure is in the result. */
    readonly run: (args: readonly string[], options: RunOptions) => Promise<RunResult>;
    /** As `run`, for a step that must succeed. */
    readonly must: (args: readonly string[], options: RunOptions) => Promise<RunResult>;
}

/** Finds the tools (`npm run setup` gets them), places the plugin, and gives the function that runs the CLI. */
export async function preparePulumi(options: PulumiOptions): Promise<Pulumi> {
    const home = path.resolve(options.home ?? path.join(cacheFolder(), "pulumi-home"));
    const backend = path.resolve(options.backend);
    await mkdir(backend, { recursive: true });
    const file = await withLanguageHost(await locate("pulumi"));
    const env: NodeJS.ProcessEnv = {
        ...withoutPulumi(process.env),
        PULUMI_HOME: home,
        PULUMI_BACKEND_URL: `file://${backend}`,
        PULUMI_CONFIG_PASSPHRASE: "",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        // Only the pinned provider in `home`, whatever lies on PATH.
        PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
        NODE_OPTIONS: [process.env["NODE_OPTIONS"], `--require=${JSON.stringify(path.join(repository, "tools/language-host/inspect-fix.cjs"))}`].join(" ").trim(),
        ...(options.skipCheckpoints === true ? { PULUMI_SKIP_CHECKPOINTS: "true" } : {}),
        ...options.env,
    };
    const [command = file, ...prefixed] = [...options.prefix ?? [], file];
    const runCli: Pulumi["run"] = (args, given) =>
        run(command, [...prefixed, ...(given.output === "show" ? args : [...args, "--non-interactive", "--color=never"])], { ...given, env: { ...env, ...given.env } });
    const must: Pulumi["must"] = async (args, given) => {
        const result = await runCli(args, given);
        if (result.code === 0) return result;
        const why = result.timedOut ? "took too long and was ended" : `ended with exit code ${String(result.code)}`;
        throw new UserError(`pulumi ${args.join(" ")} ${why}; its last lines:\n${lastLines(`${result.stdout}\n${result.stderr}`, 30)}`);
    };
    await installPlugin(must, home);
    return { file, env, run: runCli, must };
}

async function installPlugin(must: Pulumi["must"], home: string): Promise<void> {
    const provider = await locate(PROVIDER);
    if (existsSync(path.join(home, "plugins", `resource-kubernetes-v${version}`, PROVIDER))) return;
    await must(["plugin", "install", "resource", "kubernetes", version, "--file", provider], { cwd: repository });
}

/**
 * The CLI finds its language host beside its own file. The vendor's installation has one there. Otherwise the CLI is linked into a
 * folder of this repository's own in the cache, next to the host of PATH, or to the stand-in of tools/language-host.
 */
async function withLanguageHost(cli: string): Promise<string> {
    if (beside(cli, LANGUAGE_HOST) !== undefined) return cli;
    const host = onPath(LANGUAGE_HOST) ?? path.join(repository, "tools/language-host", LANGUAGE_HOST);
    const key = createHash("sha256").update(`${cli}\n${host}`).digest("hex").slice(0, 12);
    const folder = path.join(cacheFolder(), "cli", key);
    const file = path.join(folder, "pulumi");
    if (existsSync(file)) return file;
    const stage = `${folder}.${String(process.pid)}.partial`;
    await rm(stage, { recursive: true, force: true });
    await mkdir(stage, { recursive: true });
    // A symbolic link would not do: the CLI looks beside the file that the link means.
    await link(cli, path.join(stage, "pulumi")).catch(() => copyFile(cli, path.join(stage, "pulumi")));
    await symlink(host, path.join(stage, LANGUAGE_HOST));
    try {
        await rename(stage, folder);
    } catch (error) {
        await rm(stage, { recursive: true, force: true });
        if (!existsSync(file)) throw error; // Otherwise another run was first.
    }
    return file;
}

/** The environment without what would steer the CLI elsewhere: tokens, backends, stacks, experiments, and any cluster. */
function withoutPulumi(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PULUMI_") && name !== "KUBECONFIG"));
}
