#!/usr/bin/env node
// The `istio-egress` command: its subcommands, and what their outcome means for the process.
import { Command, CommanderError, Option } from "commander";
import { type AuditOptions, FAIL_ON, FORMATS } from "./audit/choices";
import type { AdmissionCommandOptions } from "./commands/admission";
import type { PlanOptions } from "./commands/plan";
import type { PreflightOptions } from "./commands/preflight";
import type { PreviewOptions } from "./commands/preview";
import type { RegisterOptions } from "./commands/register";
import type { VerifyPoolOptions } from "./commands/verify-pool";
import { ExitCode, Failure } from "./failure";
import { PLAN_FORMATS } from "./plan/choices";

const LINGER_MS = 500;

/** Each command is loaded when it is called: together they take longer than an audit of a few files. */
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
        .action(async (options: PreviewOptions) => finish(await (await import("./commands/preview.js")).preview(options)));
    program.command("register")
        .description("write into the shared registry which hosts an environment declares, unless another stack contradicts them")
        .requiredOption("--env <env>", "the environment: there is a Pulumi.<env>.yaml for it")
        .option("--project <dir>", "the folder of Pulumi.yaml", ".")
        .option("--registry <file>", "the registry (default: istio-egress:registry of the environment)")
        .option("--remove", "take the stack out of it", false)
        .exitOverride()
        .action(async (options: RegisterOptions) => finish((await import("./commands/register.js")).register(options)));
    choosingHosts(program.command("plan"))
        .description("say what the failovers of hosts will cost, second by second, with each device and without, what the GSLB could change, and the runbook; nothing is asked, and only the report is written")
        .addOption(new Option("--format <format>", "the form of the report; svg has the pictures only, mermaid the times only").choices(PLAN_FORMATS).default("text"))
        .option("--output <file>", "write the report there; Markdown's pictures go beside it")
        .option("--rate <number>", "new connections a second", "20")
        .option("--proxies <number>", "how many gateway pods (with route direct: sidecars) share them, each of which learns by itself", "1")
        .exitOverride()
        .action(async (hosts: readonly string[], options: PlanOptions) => finish(await (await import("./commands/plan.js")).plan(hosts, options)));
    choosingHosts(program.command("verify-pool"))
        .description("ask DNS whether it answers what pools declare: their standby addresses, and how many addresses at once; only DNS questions are sent. Exit codes: 0 as declared, 1 drift, 2 wrong call, 3 something could not be asked")
        .option("--resolver <ip[:port]>", "whom to ask, best the resolver of the gateway's pods (default: this machine's)")
        .option("--times <number>", "how often each host is asked for", "3")
        .option("--interval <seconds>", "between two rounds of questions; resolvers answer the same for a TTL", "1")
        .addOption(new Option("--format <format>", "the form of the report").choices(["text", "json"]).default("text"))
        .exitOverride()
        .action(async (hosts: readonly string[], options: VerifyPoolOptions) => finish(await (await import("./commands/verify-pool.js")).verifyPool(hosts, options)));
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
        .action(async (options: PreflightOptions) => finish(await (await import("./commands/preflight.js")).preflight(options)));
    program.command("audit")
        .description("judge manifests or a live cluster by the rules of the policy pack: what Pulumi never touched; nothing is written. Exit codes: 0 fine, 1 findings, 2 wrong call, 3 something was not audited")
        .argument("[path...]", "files and folders of YAML or JSON (also Helm or kustomize output, and Pulumi states), - for standard input")
        .option("--context [name]", "a live cluster instead, by a context of the kubeconfig (default: the current one)")
        .option("--kubeconfig <file>", "the kubeconfig (default: KUBECONFIG, else ~/.kube/config)")
        .option("-n, --namespace <name>", "of a live cluster these namespaces only; may be repeated", collected, [])
        .option("--istio-namespace <namespace>", "the namespace of istiod (default: istio-system)")
        .addOption(new Option("--format <format>", "the form of the report").choices(FORMATS).default("text"))
        .option("--output <file>", "write the report there, and how it went to stderr")
        .addOption(new Option("--fail-on <level>", "the lowest level of a finding that makes the exit code 1").choices(FAIL_ON).default("mandatory"))
        .option("--only <rules>", "these rules only: codes, names or families (E101,ejection-never,E2)", listed, [])
        .option("--skip <rules>", "all rules but these", listed, [])
        .option("--exclude <pattern>", "leave out paths in folders, as a glob; may be repeated", collected, [])
        .option("--baseline <file>", "findings that are in there do not count")
        .option("--write-baseline <file>", "write the findings of this run there")
        .option("--catalogue <file>", "a catalogue that tells the pools of hosts")
        .option("--policy-config <file>", "levels and properties per policy, in the format of --policy-pack-config")
        .option("--env <env>", "the environment, for rules that ask which one it is")
        .option("--verbose", "also show what could not be known, and what exemptions and the baseline take away", false)
        .option("--list-rules", "show the rules, and audit nothing", false)
        .exitOverride()
        .action(async (paths: readonly string[], options: AuditOptions) => finish(await (await import("./commands/audit.js")).auditCommand(paths, options)));
    program.command("admission")
        .description("print the rules about single objects as ValidatingAdmissionPolicies and bindings (CEL), so that kubectl, Helm and GitOps meet them; nothing is written")
        .option("--policy-config <file>", "levels per policy: mandatory refuses, advisory warns, disabled leaves out; in the format of --policy-pack-config")
        .option("--exclude-namespace <name>", "a namespace whose objects are not judged; may be repeated", collected, [])
        .addOption(new Option("--failure-policy <policy>", "what happens to an object where a policy cannot be evaluated").choices(["Fail", "Ignore"]).default("Fail"))
        .option("--list-rules", "show which rules have a form at admission, and why others have none", false)
        .exitOverride()
        .action(async (options: AdmissionCommandOptions) => finish(await (await import("./commands/admission.js")).admission(options)));
    return program;
}

function collected(value: string, former: readonly string[]): readonly string[] {
    return [...former, value];
}

function listed(value: string, former: readonly string[]): readonly string[] {
    return [...former, ...value.split(",").map((word) => word.trim()).filter((word) => word !== "")];
}

/** What commands about some hosts of an environment or a catalogue take. */
function choosingHosts(command: Command): Command {
    return command.argument("[host...]", "declarations, by their name or host")
        .option("--all", "every host", false)
        .option("--env <env>", "the environment, whose program is run: there is a Pulumi.<env>.yaml for it")
        .option("--project <dir>", "the folder of Pulumi.yaml", ".")
        .option("--catalogue <file>", "the hosts of a catalogue instead");
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
