// The corpus: manifests in the shapes that people write, and what the audit finds in each.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { audit } from "../../cli/audit";
import { FailOn } from "../../cli/audit/report";
import { RULES } from "../../policies/rules";

export const CORPUS = path.join(__dirname, "../fixtures/corpus");
export const EXPECTED = path.join(CORPUS, "expected.yaml");

/** The day on which the corpus is judged, so that what expires is the same every day. */
const DAY = new Date("2026-11-30T00:00:00Z");

export function corpusFiles(): readonly string[] {
    return readdirSync(CORPUS).filter((name) => /\.(yaml|json)$/.test(name) && name !== path.basename(EXPECTED)).sort();
}

export function expectedFindings(): Readonly<Record<string, readonly string[]>> {
    return parse(readFileSync(EXPECTED, "utf8")) as Record<string, readonly string[]>;
}

/** `E101 mandatory DestinationRule payments/bank: spec.trafficPolicy…`, by file, each judged by itself. */
export async function auditCorpus(file: string): Promise<{ readonly findings: readonly string[]; readonly problems: readonly string[] }> {
    const report = await audit({
        input: { kind: "paths", paths: [path.join(CORPUS, file)], options: {} }, rules: RULES, configuration: {}, pools: [], failOn: FailOn.Mandatory, now: DAY,
    });
    return { findings: report.findings.map(({ code, level, object, field }) => `${code} ${level} ${object.label}: ${field}`), problems: report.problems.map(({ text }) => text) };
}

/** What the first comment of a manifest says that it is. */
export function aboutOf(file: string): string {
    const text = readFileSync(path.join(CORPUS, file), "utf8"), comment = /^# (?!Source)(.*)$/m.exec(text)?.[1];
    return comment ?? (file.endsWith(".json") ? "A List, as kubectl get -o json prints it." : "What helm template prints for a chart with one host.");
}
