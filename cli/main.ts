#!/usr/bin/env node
// The `istio-egress` command: its subcommands, and what their outcome means for the process.
import { Command, CommanderError } from "commander";
import { type PreflightOptions, preflight } from "./commands/preflight";
import { type PreviewOptions, preview } from "./commands/preview";
import { type RegisterOptions, register } from "./commands/register";
import { ExitCode, Failure } from "./failure";

const LINGER_MS = 500;

function commandLine(finish: (code: ExitCode) => void): Command {
    const program = new Command("istio-egress").description("Governed external egress on Istio, without a cluster.").exitOverride();
    program.command("preview")
        .description("run the program and the policies of one environment, show what they make of it, and write its manifests")
        .requiredOption("--env <env>", "the environment: there is a Pulumi.<env>.yaml for it")
        .option("--project <dir>", "the folder of Pulumi.yaml", ".")
        .option("--out <dir>", "the folder that gets one folder of manifests per environment (default: \"out\" in the project)")
        .option("--json", "print one JSON document instead of text", false)
        .option("--no-policy", "run no policies")
        .option("--policy-pack <dir>", "the folder of another policy pack")
        .option("--policy-config <file>", "levels and properties per policy (default: istio-egress:policyConfig of the environment)")
        .exitOverride()
        .action(async (options: PreviewOptions) => finish(await preview(options)));
    program.command("register")
        .description("write into the shared registry which hosts an environment declares, unless another stack contradicts them")
        .requiredOption("--env <env>", "the environment: there is a Pulumi.<env>.yaml for it")
        .option("--project <dir>", "the folder of Pulumi.yaml", ".")
        .option("--registry <file>", "the registry (default: istio-egress:registry of the environment)")
        .option("--remove", "take the stack out of it", false)
        .exitOverride()
        .action((options: RegisterOptions) => finish(register(options)));
    program.command("preflight")
        .description("look at the cluster of one environment, and say what its catalogue needs and does not find there; nothing is written")
        .option("--env <env>", "the environment: there is a Pulumi.<env>.yaml for it")
        .option("--project <dir>", "the folder of Pulumi.yaml", ".")
        .option("--catalogue <file>", "the catalogue (default: istio-egress:catalogue of the environment)")
        .option("--context <name>", "the context of the kubeconfig (default: istio-egress:context of the environment, else the current one)")
        .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
        .option("--istio-namespace <namespace>", "the namespace of istiod (default: istio-system)")
        .option("--verbose", "also show what is well, line by line", false)
        .option("--json", "print one JSON document instead of text", false)
        .exitOverride()
        .action(async (options: PreflightOptions) => finish(await preflight(options)));
    return program;
}

/** Whoever reads may stop reading, as `head` does: that is no error of ours. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(process.exitCode ?? ExitCode.Ok);
});

async function main(): Promise<void> {
    try {
        await commandLine((code) => { process.exitCode = code; }).parseAsync();
    } catch (error) {
        if (error instanceof CommanderError) {
            // Help is no mistake; commander has printed either.
            process.exitCode = error.exitCode === 0 ? ExitCode.Ok : ExitCode.Usage;
        } else if (error instanceof Failure) {
            process.stderr.write(`error: ${error.message}\n`);
            process.exitCode = error.exitCode;
        } else {
            process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
            process.exitCode = ExitCode.Refused;
        }
    }
    // A program may have left a timer or a server behind; it must not keep the command alive.
    setTimeout(() => process.exit(), LINGER_MS).unref();
}

void main();
