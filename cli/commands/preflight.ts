// `istio-egress preflight`: looks at the cluster of one environment before anything is written to it.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readProject } from "../embedded/project";
import { ExitCode, usageError } from "../failure";
import { shownPath } from "../paths";
import type { PreflightReport } from "../preflight";
import { coloursFor } from "../render/colours";

export interface PreflightOptions {
    readonly env?: string;
    readonly project: string;
    readonly catalogue?: string;
    readonly context?: string;
    readonly kubeconfig?: string;
    readonly istioNamespace?: string;
    readonly verbose: boolean;
    readonly json: boolean;
}

export async function preflight(options: PreflightOptions): Promise<ExitCode> {
    const started = Date.now();
    const { name, catalogue, context } = chooseEnvironment(options);
    const { runPreflight } = await import("../preflight/index.js");
    const { kubeconfig, istioNamespace } = options;
    const report = await runPreflight({ catalogue, context, kubeconfig, istioNamespace });
    const seconds = (Date.now() - started) / 1000;
    if (options.json) print([JSON.stringify({ environment: options.env ?? null, ...report, seconds }, null, 2)]);
    else await printText(name, report, options.verbose, seconds);
    return report.passed ? ExitCode.Ok : ExitCode.Refused;
}

interface Environment {
    /** What the report calls it: the environment, or the catalogue's file. */
    readonly name: string;
    readonly catalogue: string;
    readonly context?: string;
}

/** What is said on the command line counts more than what the environment's configuration says. */
function chooseEnvironment({ env, project: folder, catalogue: named, context }: PreflightOptions): Environment {
    if (named !== undefined && !existsSync(named)) throw usageError(`The catalogue ${shownPath(resolve(named))} does not exist: correct --catalogue.`);
    if (env === undefined) {
        if (named === undefined) throw usageError("Which environment? Name it with --env, or a catalogue with --catalogue.");
        return { name: shownPath(resolve(named)), catalogue: named, context };
    }
    const project = readProject(folder, env), catalogue = named ?? project.catalogue;
    if (catalogue === undefined) throw usageError(`The environment "${env}" names no catalogue: set istio-egress:catalogue in Pulumi.${env}.yaml, or name one with --catalogue.`);
    return { name: env, catalogue, context: context ?? project.config["istio-egress:context"] };
}

async function printText(name: string, report: PreflightReport, verbose: boolean, seconds: number): Promise<void> {
    const { countResults, renderPreflight } = await import("../preflight/render.js");
    const colours = coloursFor(process.stdout), { context, server, version, user } = report.cluster;
    const where = context === undefined ? [] : [`context ${context}`, server, version === undefined ? undefined : `Kubernetes ${version}`, user === undefined ? undefined : `as ${user}`].filter((part) => part !== undefined);
    print([
        ...(where.length === 0 ? [] : [colours.dim(where.join(", "))]),
        ...renderPreflight(report, { colours, verbose }),
        `${name}: ${countResults(report.results)} (${seconds.toFixed(1)} s).`,
    ]);
}

function print(lines: readonly string[]): void {
    process.stdout.write(`${lines.join("\n")}\n`);
}
