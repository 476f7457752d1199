// An audit as text: by object, then what was not audited, then a summary.
import { formatProblem } from "../../audit/problem";
import { type AuditFinding, type AuditNote, type AuditReport, type Location, fails } from "../../audit/report";
import type { Colours } from "../colours";
import { counted } from "../report";

export interface TextOptions {
    readonly colours: Colours;
    readonly seconds: number;
    /** Also what rules could not know, and what exemptions and the baseline take away. */
    readonly verbose: boolean;
}

export function renderText(report: AuditReport, { colours, seconds, verbose }: TextOptions): string {
    const fresh = report.findings.filter(({ known }) => !known);
    return [
        ...grouped(verbose ? report.findings : fresh, colours),
        ...(verbose ? renderNotes(report, colours) : []),
        ...report.notices.map((notice) => `${colours.cyan("notice")}  ${notice}`),
        ...(report.problems.length === 0 ? [] : [colours.red(colours.bold("Not audited")), ...report.problems.map((problem) => `  ${formatProblem(problem)}`), ""]),
        ...byRule(fresh, colours),
        ...summaryOf(report, { colours, seconds }),
    ].map((line) => `${line}\n`).join("");
}

/** The findings of one object stand together, whatever rule they come from. */
function grouped(findings: readonly AuditFinding[], colours: Colours): string[] {
    const lines: string[] = [];
    let last: AuditFinding["object"] | undefined;
    for (const finding of findings) {
        if (finding.object !== last) {
            if (last !== undefined) lines.push("");
            lines.push(`${colours.bold(finding.object.label)}  ${colours.dim(origin(finding.object.location))}`);
            last = finding.object;
        }
        const paint = finding.level === "mandatory" ? colours.red : colours.yellow;
        lines.push(`  ${paint(finding.level.padEnd(WIDTH))}  ${colours.bold(finding.code)} ${finding.name}  ${colours.dim(place(finding.location))}${finding.known ? colours.dim("  known") : ""}`);
        lines.push(`    ${finding.field === "" ? "" : `${finding.field} `}${finding.text} ${colours.dim(`See docs/rules/${finding.code}.md`)}`);
    }
    return lines.length === 0 ? [] : [...lines, ""];
}

const WIDTH = "mandatory".length;

function renderNotes({ unjudged, exempted }: AuditReport, colours: Colours): string[] {
    const line = (label: string, note: AuditNote, text: string): string => `${colours.cyan(label)}  ${note.code} ${note.object.label}  ${colours.dim(place(note.location))}\n    ${note.field === "" ? "" : `${note.field} `}${text}`;
    return [
        ...unjudged.map((note) => line("not known", note, note.text)),
        ...exempted.map((finding) => line("exempt", finding, `${finding.text} Exempt until ${finding.until}: ${finding.reason}`)),
        ...(unjudged.length + exempted.length === 0 ? [] : [""]),
    ];
}

/** `deploy/hosts.yaml:12:7`, which terminals and editors make a link of; a cluster has no lines. */
function place({ file, region }: Location): string {
    return region === undefined ? file : `${file}:${region.line}:${region.column}`;
}

function origin({ file, template }: Location): string {
    return template === undefined ? file : `${file}, from ${template}`;
}

/** How often each rule found something: with many findings the first thing to look at. */
function byRule(findings: readonly AuditFinding[], colours: Colours): string[] {
    const counts = new Map<string, number>();
    for (const { code, name } of findings) counts.set(`${code} ${name}`, (counts.get(`${code} ${name}`) ?? 0) + 1);
    if (findings.length < MANY) return [];
    const rows = [...counts].sort(([one], [other]) => (one < other ? -1 : 1)), width = Math.max(...rows.map(([, count]) => String(count).length));
    return [colours.bold("By rule"), ...rows.map(([rule, count]) => `  ${String(count).padStart(width)}  ${rule}`), ""];
}

const MANY = 10;

/** The last lines, which say how it went. */
export function summaryOf(report: AuditReport, { colours, seconds }: Pick<TextOptions, "colours" | "seconds">): string[] {
    const { findings, exempted, unjudged, problems, objects, files, rules, failOn, gone } = report;
    const fresh = findings.filter(({ known }) => !known), known = findings.length - fresh.length, failing = fresh.filter((finding) => fails(finding, failOn)).length;
    const mandatory = fresh.filter(({ level }) => level === "mandatory").length;
    const found = fresh.length === 0 ? (known === 0 ? "No findings" : "No new findings") : `${mandatory} mandatory and ${counted(fresh.length - mandatory, "advisory finding")}`;
    const paint = failing > 0 ? colours.red : fresh.length > 0 ? colours.yellow : problems.length > 0 ? (text: string) => text : colours.green;
    const aside = [
        known > 0 ? `${known} in the baseline` : undefined,
        exempted.length > 0 ? `${exempted.length} exempt` : undefined,
        unjudged.length > 0 ? `${counted(unjudged.length, "note")} on what could not be known (--verbose)` : undefined,
    ].filter((part) => part !== undefined);
    return [
        `${paint(found)} in ${counted(objects.length, "object")} of ${counted(files, "source")}, by ${counted(rules.length, "rule")}${aside.length === 0 ? "" : `; ${aside.join(", ")}`} (${seconds.toFixed(1)} s).`,
        ...(gone > 0 ? [`${counted(gone, "entry", "entries")} of the baseline ${gone === 1 ? "is" : "are"} gone: --write-baseline keeps the rest.`] : []),
        ...(problems.length > 0 ? [colours.red(`${counted(problems.length, "part")} ${problems.length === 1 ? "was" : "were"} not audited: what is in there is not known.`)] : []),
    ];
}
