// `istio-egress preview`: runs the program and the policy pack of one environment without a cluster, and writes its manifests.
import { join, resolve } from "node:path";
import type { Analysis } from "../embedded/analyzer";
import { type Pack, startPack } from "../embedded/pack";
import { type Project, readProject, readSettings } from "../embedded/project";
import type { ProgramError, ProgramRun } from "../embedded/types";
import { ExitCode, Failure } from "../failure";
import { checkFolder, writeFolder } from "../out-folder";
import { exitOnSignals, stdoutToStderr } from "../streams";

export interface PreviewOptions {
    readonly env: string;
    readonly project: string;
    /** The folder that holds one folder per environment; `out` in the project's folder by default. */
    readonly out?: string;
    readonly json: boolean;
    /** False when policies are skipped. */
    readonly policy: boolean;
    readonly policyPack?: string;
    readonly policyConfig?: string;
}

/** The pack of this package: its TypeScript sources in the repository, the compiled one in the package. */
const OWN_PACK = join(__dirname, "..", "..", "policies");

export async function preview(options: PreviewOptions): Promise<ExitCode> {
    const started = Date.now();
    const project = readProject(options.project, options.env);
    const folder = resolve(options.out ?? join(project.root, "out"), project.env);
    checkFolder(folder);
    const policyConfig = options.policyConfig ?? project.policyConfig;
    const policies = policyConfig === undefined ? {} : readSettings(policyConfig);
    const packDir = options.policyPack ?? OWN_PACK;

    // The pack starts in a process of its own while this one loads the SDK and runs the program.
    const pack = options.policy ? startPack(packDir) : undefined;
    const restoreSignals = exitOnSignals();
    try {
        const { runProject } = await import("../embedded/program.js");
        const run = await (options.json ? stdoutToStderr(() => runProject(project)) : runProject(project));
        const logged = run.diagnostics.filter(({ severity }) => severity === "error").length;
        const judged = pack === undefined || run.errors.length + logged > 0 ? { errors: [] } : await judge(pack, packDir, run, project, policies);
        const errors = [...run.errors, ...judged.errors];
        const refused = errors.length + logged > 0 || (judged.analysis?.findings ?? []).some(({ level }) => level === "mandatory");

        const { environmentFiles } = await import("../render/manifests.js");
        const { remediated } = await import("../embedded/remediation.js");
        const { printJson, printText } = await import("../render/preview.js");
        const final = { ...run, resources: remediated(run.resources, judged.analysis?.remediations ?? []) };
        if (!refused) writeFolder(folder, environmentFiles(project.name, project.env, final));
        (options.json ? printJson : printText)({ project, run: final, analysis: judged.analysis, errors, folder, written: !refused, seconds: (Date.now() - started) / 1000 });
        return refused ? ExitCode.Refused : ExitCode.Ok;
    } finally {
        await pack?.stop();
        restoreSignals();
    }
}

/** A pack that fails is an error of the preview, beside those of the program; a wrong call stays a usage error. */
async function judge(pack: Pack, packDir: string, run: ProgramRun, { name, env, catalogue }: Project, policies: Record<string, unknown>): Promise<{ analysis?: Analysis; errors: ProgramError[] }> {
    const { analyzeWith } = await import("../embedded/analyzer.js");
    try {
        return { analysis: await analyzeWith(pack, packDir, run.resources, { project: name, stack: env, catalogue, policies }), errors: [] };
    } catch (error) {
        if (!(error instanceof Failure) || error.exitCode === ExitCode.Usage) throw error;
        return { errors: [{ message: error.message, frames: [] }] };
    }
}
