// The report as Markdown: tables, a picture per failover, Mermaid, and the commands of the runbook in blocks.
import { stringify } from "yaml";
import type { HostReport } from "../../plan/report";
import { type Chart, drawChart } from "../chart";
import { renderGantt, renderSequence } from "./mermaid";
import { ADVICE_HEADER, FAULT_WORDS, TABLE_HEADER, adviceRow, failureChart, failureTitle, plannedChart, plannedTitle, tableRow } from "./words";

/** Where a picture goes: the link to it. */
export type Place = (name: string, svg: string) => string;

/** A picture within the text, for a document that is one file. */
export const embedded: Place = (_, svg) => `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;

export function renderMarkdown(reports: readonly HostReport[], place: Place): string {
    return reports.map((report) => `${sections(report, place).join("\n\n")}\n`).join("\n");
}

function sections(report: HostReport, place: Place): readonly string[] {
    const { name, host, plan, failure, planned, withoutTimeline, advice, runbook, statistics, alert } = report;
    const picture = (chart: Chart, id: string): string => `![${escaped(chart.title)}](${place(id, drawChart(chart))})`;
    return [
        `# ${name}: ${host}`, list(plan.summary),
        ...(withoutTimeline === undefined ? [] : [`No timeline: ${withoutTimeline}.`]),
        ...(failure === undefined ? [] : [
            `## ${failureTitle(failure)}`, table([TABLE_HEADER, ...failure.rows.map(tableRow)]), `Taken for granted:\n\n${list(failure.assumptions)}`,
            ...failure.timelines.flatMap((timeline) => [`### As declared, ${FAULT_WORDS[timeline.fault]}`, picture(failureChart(name, timeline), `${name}-${timeline.fault}`), block("mermaid", renderSequence(report, timeline))]),
        ]),
        ...(planned === undefined ? [] : [`## ${plannedTitle(planned)}`, ...(planned.seconds.length === 0 ? [] : [picture(plannedChart(name, planned), `${name}-planned`)]), `Drain: ${planned.drainText}.`]),
        ...(failure === undefined ? [] : [block("mermaid", renderGantt([report]))]),
        "## What the GSLB could change", advice.length === 0 ? "Nothing that the model finds worth a change." : table([ADVICE_HEADER, ...advice.map(adviceRow)]),
        "## What the application must do", table([["term", "value", "why"], ...plan.contract.map(({ term, value, reason }) => [term, value, reason])]),
        "## Runbook", ...runbook.flatMap(({ when, title, text, commands, queries }) => [`### ${title} (${when})`, text, ...(commands.length === 0 ? [] : [block("sh", commands.join("\n"))]), ...(queries.length === 0 ? [] : [block("promql", queries.join("\n"))])]), statistics,
        ...(alert === undefined ? [] : ["## Alert", block("yaml", stringify(alert, { lineWidth: 0 }))]),
    ];
}

const escaped = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join("\n");
const block = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

function table([header = [], ...rows]: readonly (readonly string[])[]): string {
    return [header, header.map(() => "---"), ...rows].map((row) => `| ${row.map(escaped).join(" | ")} |`).join("\n");
}
