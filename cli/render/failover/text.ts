// The report as text, with a chart of a line per second.
import { stringify } from "yaml";
import type { TimelineEvent, TimelineSecond } from "../../../model";
import { formatDuration, shownMs, waitedOf } from "../../../model";
import type { HostReport } from "../../plan/report";
import type { Colours } from "../colours";
import { ADVICE_HEADER, FAULT_WORDS, TABLE_HEADER, adviceRow, failureTitle, plannedTitle, tableRow } from "./words";

/** More lines than this are no picture any more: then a line stands for several seconds. */
const MOST_LINES = 45, BAR = 20;
const STEPS = [1, 2, 5, 10, 15, 30, 60];

export function renderText(reports: readonly HostReport[], colours: Colours): string {
    return reports.map((report) => `${hostLines(report, colours).join("\n")}\n`).join("\n");
}

function hostLines(report: HostReport, colours: Colours): readonly string[] {
    const { name, host, plan, failure, planned, withoutTimeline, advice, runbook, statistics, alert } = report, { bold, dim } = colours;
    return [
        `${bold(name)}  ${host}`, ...plan.summary.map((line) => `  ${line}`), "",
        ...(withoutTimeline === undefined ? [] : [`  no timeline: ${withoutTimeline}`, ""]),
        ...(failure === undefined ? [] : [
            bold(failureTitle(failure)), ...failure.assumptions.map((text) => dim(`  taken for granted: ${text}`)), ...table([TABLE_HEADER, ...failure.rows.map(tableRow)], dim), "",
            ...failure.timelines.flatMap(({ fault, seconds, events }) => [bold(`Second by second as declared, ${FAULT_WORDS[fault]}`), ...chart(seconds, events, colours), ""]),
        ]),
        ...(planned === undefined ? [] : [bold(plannedTitle(planned)), ...chart(planned.seconds, planned.events, colours), `  ${planned.drainText}`, ""]),
        bold("What the GSLB could change"),
        ...(advice.length === 0 ? ["  nothing that the model finds worth a change"] : table([ADVICE_HEADER, ...advice.map(adviceRow)], dim)), "",
        bold("What the application must do"), ...plan.contract.map(({ term, value, reason }) => `  ${term}: ${value} ${dim(`(${reason})`)}`), "",
        bold("Runbook"), ...runbook.flatMap(({ when, title, text, commands, queries }) => [`  ${title} ${dim(`(${when})`)}`, `    ${text}`, ...commands.map((one) => `    $ ${one}`), ...queries.map((one) => `    ? ${one}`)]), dim(`  ${statistics}`),
        ...(alert === undefined ? [] : ["", bold("Alert"), ...stringify(alert, { lineWidth: 0 }).trimEnd().split("\n").map((line) => `  ${line}`)]),
    ];
}

function table(rows: readonly (readonly string[])[], dim: (text: string) => string): readonly string[] {
    const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    return rows.map((row, index) => {
        const line = `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()}`;
        return index === 0 ? dim(line) : line;
    });
}

/** A line per step: a bar of those that were made at once, made after a wait, and failed; who made them, the longest wait, and what happened. */
function chart(seconds: readonly TimelineSecond[], events: readonly TimelineEvent[], { red, green, yellow, dim }: Colours): readonly string[] {
    const step = STEPS.find((one) => seconds.length / one <= MOST_LINES) ?? 60, bins = Array.from({ length: Math.ceil(seconds.length / step) }, (_, index) => seconds.slice(index * step, (index + 1) * step));
    const total = (bin: readonly TimelineSecond[], of: (one: TimelineSecond) => number): number => bin.reduce((sum, one) => sum + of(one), 0);
    const most = Math.max(1, ...bins.map((bin) => total(bin, ({ sent }) => sent)));
    const rows = bins.map((bin, index) => {
        const sent = total(bin, (one) => one.sent), failed = total(bin, (one) => one.failed), waited = total(bin, waitedOf), slowest = Math.max(...bin.map(({ slowestMs }) => slowestMs));
        // What failed or waited is seen, however few they are.
        const cells = Math.round((BAR * sent) / most), part = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round((cells * count) / Math.max(1, sent))));
        const bad = part(failed), late = Math.min(cells - bad, part(waited)), good = cells - bad - late;
        const happened = events.filter(({ atMs }) => Math.floor(atMs / 1000 / step) === index).map(({ atMs, text }) => `${text} (${shownMs(atMs)})`);
        const words = [
            ...(failed === 0 ? [] : [`${String(failed)} failed`]), ...Object.entries(merged(bin)).sort(([a], [b]) => (a < b ? -1 : 1)).map(([server, count]) => `${String(count)} ${server}`),
            ...(waited === 0 ? [] : [`${String(waited)} waited, the slowest ${shownMs(slowest)}`]),
        ];
        return {
            from: index * step, until: (index + 1) * step - 1, isEventful: happened.length > 0,
            text: [`${green("█".repeat(good))}${yellow("▒".repeat(late))}${red("×".repeat(bad))}${" ".repeat(BAR - cells)}`, words.join(", "), ...(happened.length === 0 ? [] : [dim(`← ${happened.join("; ")}`)])].join("  "),
        };
    });
    // Lines that say the same are one.
    const folded: { from: number; until: number; text: string; isEventful: boolean }[] = [];
    for (const row of rows) {
        const last = folded.at(-1);
        if (last !== undefined && last.text === row.text && !row.isEventful) last.until = row.until;
        else folded.push({ ...row });
    }
    const times = folded.map(({ from, until }) => `${from === until ? String(from) : `${String(from)}–${String(Math.min(until, seconds.length - 1))}`} s`), width = Math.max(0, ...times.map(({ length }) => length));
    return [
        ...folded.map(({ text }, index) => `  ${(times[index] ?? "").padStart(width)}  ${text}`),
        ...events.filter(({ atMs }) => atMs >= 1000 * seconds.length).map(({ atMs, text }) => `  ${dim(`later: ${text} (${formatDuration(atMs)})`)}`),
    ];
}

function merged(bin: readonly TimelineSecond[]): Readonly<Record<string, number>> {
    const by: Record<string, number> = {};
    for (const second of bin) for (const [server, count] of Object.entries(second.by)) by[server] = (by[server] ?? 0) + count;
    return by;
}
