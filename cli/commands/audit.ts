// `istio-egress audit`: what already runs, or will, without Pulumi: files, a stream or a cluster, judged by the rules of the policy pack.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { ExitCode, messageOf, usageError } from "../failure";
import { shownPath } from "../paths";
import { type AuditOptions, Format } from "../audit/choices";
import { type AuditReport, fails } from "../audit/report";
import { coloursFor } from "../render/colours";
import { exitOnSignals } from "../streams";

/**
 * How much V8 lets a function run before it optimises it, about seven times its default. Most functions of an audit run for some
 * thousand objects: optimising them took another core for half of the audit's time, and won nothing (measured, docs/performance.md).
 * Later versions of Node.js have a compiler in between, and no such flag.
 */
const OPTIMISE_LATER = "--interrupt-budget=500000", WITH_FLAG = /^v20\./;

export async function auditCommand(paths: readonly string[], options: AuditOptions): Promise<ExitCode> {
    if (WITH_FLAG.test(process.version)) setFlagsFromString(OPTIMISE_LATER);
    const started = Date.now(), { prepare } = await import("../audit/options.js"), { audit } = await import("../audit/index.js");
    const { Progress } = await import("../audit/progress.js"), progress = new Progress(process.stderr);
    if (options.listRules) return await listRules();
    const restoreSignals = exitOnSignals();
    try {
        const report = await audit(await prepare(paths, options, (what, done, all) => progress.show(what, done, all)));
        progress.end();
        if (options.writeBaseline !== undefined) return await keepBaseline(options.writeBaseline, report);
        const code = exitCodeOf(report);
        await write(report, options, (Date.now() - started) / 1000, code);
        return code;
    } finally {
        progress.end();
        restoreSignals();
    }
}

/** What was not audited counts most: behind it there may be anything. */
function exitCodeOf({ findings, problems, failOn }: AuditReport): ExitCode {
    if (problems.length > 0) return ExitCode.Incomplete;
    return findings.some((finding) => fails(finding, failOn)) ? ExitCode.Refused : ExitCode.Ok;
}

async function keepBaseline(file: string, report: AuditReport): Promise<ExitCode> {
    const { writeBaseline } = await import("../audit/baseline.js"), { formatProblem } = await import("../audit/problem.js");
    writeBaseline(file, report.findings);
    process.stderr.write(report.problems.map((problem) => `not audited: ${formatProblem(problem)}\n`).join(""));
    process.stdout.write(`${shownPath(file)} holds ${report.findings.length} finding${report.findings.length === 1 ? "" : "s"}: with --baseline ${shownPath(file)} only new ones fail.\n`);
    return report.problems.length > 0 ? ExitCode.Incomplete : ExitCode.Ok;
}

async function write(report: AuditReport, { format, output, verbose }: AuditOptions, seconds: number, code: ExitCode): Promise<void> {
    const text = await render(report, { format, seconds, code, verbose, colours: coloursFor(output === undefined ? process.stdout : { isTTY: false }) });
    if (output === undefined) {
        process.stdout.write(text);
        return;
    }
    try {
        writeFileSync(output, text);
    } catch (error) {
        throw usageError(`The report cannot be written to ${shownPath(output)}: ${messageOf(error)}. Name another file with --output.`);
    }
    // Whoever waits at the terminal sees how it went.
    const { summaryOf } = await import("../render/audit/text.js");
    process.stderr.write(summaryOf(report, { colours: coloursFor(process.stderr), seconds }).map((line) => `${line}\n`).join(""));
}

interface RenderOptions {
    readonly format: Format;
    readonly seconds: number;
    readonly code: ExitCode;
    readonly verbose: boolean;
    readonly colours: ReturnType<typeof coloursFor>;
}

async function render(report: AuditReport, { format, seconds, code, verbose, colours }: RenderOptions): Promise<string> {
    switch (format) {
        case Format.Text: return (await import("../render/audit/text.js")).renderText(report, { colours, seconds, verbose });
        case Format.Json: return (await import("../render/audit/json.js")).renderJson(report, seconds);
        case Format.Sarif: return (await import("../render/audit/sarif.js")).renderSarif(report, packageVersion(), code);
        case Format.Github: return (await import("../render/audit/github.js")).renderGithub(report);
        case Format.Junit: return (await import("../render/audit/junit.js")).renderJunit(report, seconds);
    }
}

async function listRules(): Promise<ExitCode> {
    const { RULES } = await import("../../policies/rules/index.js"), width = Math.max(...RULES.map(({ name }) => name.length));
    process.stdout.write(RULES.map(({ code, name, level, description }) => `${code}  ${name.padEnd(width)}  ${level.padEnd("mandatory".length)}  ${description}\n`).join(""));
    return ExitCode.Ok;
}

/** The pack's own package.json has the package's version, in the repository and in the package. */
function packageVersion(): string {
    return (JSON.parse(readFileSync(join(__dirname, "..", "..", "policies", "package.json"), "utf8")) as { version: string }).version;
}
