// npm run up -- ENVIRONMENT: the program of stacks/ on the real Pulumi CLI with the compiled pack, rendered to YAML; with --context into a
// cluster, after a preflight.
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Command } from "commander";
import { readProject } from "../cli/embedded/project";
import { countResults, renderPreflight, runPreflight } from "../cli/preflight";
import { build } from "./build";
import { type Pulumi, preparePulumi } from "./pulumi";
import { repository } from "./support/places";
import { isAlive } from "./support/process";
import { UserError, main, say } from "./support/report";
import { prepareStack } from "./support/stack-run";

interface Options { readonly preview?: boolean; readonly destroy?: boolean; readonly context?: string }

const command = new Command("npm run up --")
    .description("Runs an environment of stacks/ on the real Pulumi CLI with the policy pack, and renders its objects as YAML to out/rendered/.")
    .argument("<environment>", "a name of stacks/Pulumi.<environment>.yaml")
    .option("--context <name>", "deploy into the cluster of this context of your kubeconfig instead, after a preflight")
    .option("--preview", "only show what would change")
    .option("--destroy", "remove what an earlier run made");

main(async () => {
    command.parse();
    const [environment = ""] = command.args;
    const { preview, destroy, context } = command.opts<Options>();
    if (preview === true && destroy === true) throw new UserError("up: --preview and --destroy exclude each other; choose one.");
    if (context !== undefined && destroy !== true) await preflight(environment, context);
    // Two states: what is rendered and what is deployed have nothing to do with each other.
    const work = path.join(repository, context === undefined ? "out/pulumi" : "out/pulumi-cluster");
    const rendered = context === undefined ? path.join(repository, "out/rendered", environment) : undefined;
    // The passphrase guards secrets of the stack's configuration, if there are any.
    const passphrase = process.env["PULUMI_CONFIG_PASSPHRASE"];
    const env = { ...(passphrase === undefined ? {} : { PULUMI_CONFIG_PASSPHRASE: passphrase }), ...(context === undefined ? {} : { KUBECONFIG: process.env["KUBECONFIG"] }) };
    const pulumi = await preparePulumi({ backend: path.join(work, "state"), env });
    // Files that were deleted by hand are not made again while the state still lists them.
    if (rendered !== undefined && preview !== true && !existsSync(rendered) && existsSync(path.join(work, "state/.pulumi/stacks"))) {
        const removed = await pulumi.run(["stack", "rm", environment, "--yes", "--force", "--preserve-config"], { cwd: repository });
        if (removed.code === 0) say(`out/rendered/${environment} is gone, so the state of its last run is dropped and everything is rendered anew.`);
    }
    const { stackArgs, policyArgs } = await prepareStack(pulumi, environment, { work, ...(rendered === undefined ? {} : { rendered }) });
    await unlock(pulumi, environment, path.join(work, "state"));
    if (destroy !== true) await build();
    const target = context === undefined ? [] : ["-c", `istio-egress:context=${context}`];
    const args = destroy === true ? ["destroy", "--yes", "--skip-preview", ...stackArgs]
        : preview === true ? ["preview", ...stackArgs, ...policyArgs, ...target] : ["up", "--yes", ...stackArgs, ...policyArgs, ...target];
    const { code } = await pulumi.run(args, { cwd: repository, output: "show" });
    if (rendered !== undefined && code === 0 && preview !== true) say(`${String(await count(rendered))} objects in out/rendered/${environment}`);
    return code;
});

/** Takes away the lock of a run that was killed on this machine; a run that is still alive keeps its lock. */
async function unlock(pulumi: Pulumi, environment: string, state: string): Promise<void> {
    const locks = path.join(state, ".pulumi/locks");
    if (!existsSync(locks)) return;
    const files = (await readdir(locks, { recursive: true })).filter((name) => name.endsWith(".json") && name.split(path.sep).includes(environment));
    for (const file of files) {
        const { pid, hostname } = JSON.parse(await readFile(path.join(locks, file), "utf8")) as { pid?: number; hostname?: string };
        if (hostname !== os.hostname() || pid === undefined || isAlive(pid)) continue;
        await pulumi.run(["cancel", environment, "--yes"], { cwd: repository });
        say(`The run of process ${String(pid)} was ended before it had finished; its lock on ${environment} is taken away.`);
        return;
    }
}

/** Nothing is written to a cluster that lacks something. */
async function preflight(environment: string, context: string): Promise<void> {
    const { catalogue } = readProject(repository, environment);
    if (catalogue === undefined) return;
    const report = await runPreflight({ catalogue, context });
    say([...renderPreflight(report), countResults(report.results)].join("\n"));
    if (!report.passed) throw new UserError(`up: the cluster of context ${context} is not ready for ${environment}; nothing was written.`);
}

async function count(folder: string): Promise<number> {
    if (!existsSync(folder)) return 0;
    return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".yaml")).length;
}
