// npm run up -- ENVIRONMENT: the program of stacks/ on the real Pulumi CLI with the compiled pack, rendered to YAML; no cluster is touched.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { Command } from "commander";
import { build } from "./build";
import { preparePulumi } from "./pulumi";
import { repository } from "./support/places";
import { UserError, main, say } from "./support/report";
import { prepareStack } from "./support/stack-run";

interface Options { readonly preview?: boolean; readonly destroy?: boolean }

const command = new Command("npm run up --")
    .description("Runs an environment of stacks/ on the real Pulumi CLI with the policy pack, and renders its objects as YAML to out/rendered/.")
    .argument("<environment>", "a name of stacks/Pulumi.<environment>.yaml")
    .option("--preview", "only show what would change")
    .option("--destroy", "remove what an earlier run made");

main(async () => {
    command.parse();
    const [environment = ""] = command.args;
    const { preview, destroy } = command.opts<Options>();
    if (preview === true && destroy === true) throw new UserError("up: --preview and --destroy exclude each other; choose one.");
    const work = path.join(repository, "out/pulumi");
    const rendered = path.join(repository, "out/rendered", environment);
    // The passphrase guards secrets of the stack's configuration, if there are any.
    const passphrase = process.env["PULUMI_CONFIG_PASSPHRASE"];
    const pulumi = await preparePulumi({ backend: path.join(work, "state"), env: passphrase === undefined ? {} : { PULUMI_CONFIG_PASSPHRASE: passphrase } });
    // Files that were deleted by hand are not made again while the state still lists them.
    if (!existsSync(rendered) && existsSync(path.join(work, "state/.pulumi/stacks"))) {
        const removed = await pulumi.run(["stack", "rm", environment, "--yes", "--force", "--preserve-config"], { cwd: repository });
        if (removed.code === 0) say(`out/rendered/${environment} is gone, so the state of its last run is dropped and everything is rendered anew.`);
    }
    const { stackArgs, policyArgs } = await prepareStack(pulumi, environment, { work, rendered });
    if (destroy !== true) await build();
    const args = destroy === true ? ["destroy", "--yes", "--skip-preview", ...stackArgs]
        : preview === true ? ["preview", ...stackArgs, ...policyArgs] : ["up", "--yes", ...stackArgs, ...policyArgs];
    const { code } = await pulumi.run(args, { cwd: repository, output: "show" });
    if (code === 0 && preview !== true) say(`${String(await count(rendered))} objects in out/rendered/${environment}`);
    return code;
});

async function count(folder: string): Promise<number> {
    if (!existsSync(folder)) return 0;
    return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".yaml")).length;
}
