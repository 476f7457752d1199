// The steps of a test run: a gate (a command that must succeed) counts as one test, a Mocha run as its tests; one line each, failures in full.
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { repository } from "./places";
import { run } from "./process";
import { duration, lastLines, say } from "./report";

export interface Counts { readonly passed: number; readonly failed: number; readonly skipped: number }

interface MochaTest { readonly fullTitle: string; readonly file?: string; readonly err: { readonly message?: string; readonly stack?: string } }
interface MochaReport {
    readonly stats: { readonly passes: number; readonly failures: number; readonly pending: number };
    readonly failures: readonly MochaTest[];
}

const results = path.join(repository, "out/results");
const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Runs a Node program of a package, such as `typescript/bin/tsc`; shows what it prints only when it fails. */
export async function gate(name: string, program: string, args: readonly string[]): Promise<Counts> {
    const begin = Date.now();
    const { code, stdout, stderr } = await run(process.execPath, [path.join(repository, "node_modules", program), ...args], { cwd: repository });
    if (code !== 0) say(`${stdout}${stderr}`.trimEnd());
    say(`${name}: ${code === 0 ? "passed" : "FAILED"} (${duration(Date.now() - begin)})`);
    return code === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 };
}

/** Runs Mocha over files; a run that ends without a report, or without any test, is a failure. */
export async function mocha(name: string, globs: readonly string[], timeout?: number, env?: NodeJS.ProcessEnv): Promise<Counts> {
    const begin = Date.now();
    const file = path.join(results, `${name.replace(/\W+/g, "-")}.mocha.json`);
    await mkdir(results, { recursive: true });
    await rm(file, { force: true });
    const args = [path.join(repository, "node_modules/mocha/bin/mocha.js"), "--reporter", "json", "--reporter-option", `output=${file}`, ...globs];
    const { code, stdout, stderr, timedOut } = await run(process.execPath, args, { cwd: repository, timeout, ...(env === undefined ? {} : { env: { ...process.env, ...env } }) });
    const report = readReport(file);
    const line = (text: string): void => say(`${name}: ${text} (${duration(Date.now() - begin)})`);
    if (report === undefined || report.stats.passes + report.stats.failures === 0) {
        say(lastLines(`${stdout}\n${stderr}`, 40));
        line(timedOut ? "FAILED, it took too long and was ended" : `FAILED, Mocha ended with code ${String(code)} and ran no test`);
        return { ...NOTHING, failed: 1 };
    }
    for (const { fullTitle, file: source, err } of report.failures) {
        say(`\n  FAILED ${fullTitle}${source === undefined ? "" : `\n  in ${path.relative(repository, source)}`}\n${indent(err.stack ?? err.message ?? "no message")}`);
    }
    const { passes, failures, pending } = report.stats;
    // A hook or a process that fails outside the tests must not look like success.
    const unseen = failures === 0 && code !== 0 ? 1 : 0;
    if (unseen > 0) say(lastLines(`${stdout}\n${stderr}`, 40));
    line(`${String(passes)} passed, ${String(failures + unseen)} failed${pending > 0 ? `, ${String(pending)} skipped` : ""}`);
    return { passed: passes, failed: failures + unseen, skipped: pending };
}

export function sum(counts: readonly Counts[]): Counts {
    return counts.reduce((total, one) => ({ passed: total.passed + one.passed, failed: total.failed + one.failed, skipped: total.skipped + one.skipped }), NOTHING);
}

/** The closing line, alone on its line, and the exit code. */
export function close(counts: Counts): number {
    say(`${String(counts.passed)} passed, ${String(counts.failed)} failed${counts.skipped > 0 ? `, ${String(counts.skipped)} skipped` : ""}`);
    return counts.failed === 0 && counts.passed > 0 ? 0 : 1;
}

/** Keeps a tier's counts for a later run that adds them up. */
export async function keep(tier: string, counts: Counts): Promise<void> {
    await mkdir(results, { recursive: true });
    await writeFile(path.join(results, `${tier}.json`), JSON.stringify(counts));
}

/** The counts of a tier that ran before; a tier without any counts as one failure. */
export function kept(tier: string): Counts {
    try {
        return JSON.parse(readFileSync(path.join(results, `${tier}.json`), "utf8")) as Counts;
    } catch {
        say(`${tier}: FAILED, it left no result`);
        return { ...NOTHING, failed: 1 };
    }
}

function readReport(file: string): MochaReport | undefined {
    try {
        return JSON.parse(readFileSync(file, "utf8")) as MochaReport;
    } catch {
        return undefined;
    }
}

function indent(text: string): string {
    return text.split("\n").map((line) => `    ${line}`).join("\n");
}
