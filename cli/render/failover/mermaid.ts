// The failovers as Mermaid: one gantt chart of all that was asked for, and a sequence diagram per failure.
import { type FailureTimeline, shownMs } from "../../../model";
import type { HostReport } from "../../plan/report";
import { FAULT_WORDS } from "./words";

/** Text that ends no statement of Mermaid's: colons, semicolons and hashes do. */
const plain = (text: string): string => text.replace(/[:;#]/g, ",");

/** Milliseconds after the event, as Mermaid's times. */
export function renderGantt(reports: readonly HostReport[]): string {
    return [
        "gantt", "    title Failovers, in minutes and seconds after they begin", "    dateFormat x", "    axisFormat %M:%S",
        ...reports.flatMap(({ name, failure, planned }) => [
            ...(failure?.timelines ?? []).flatMap(({ fault, seconds, events }) => section(`${name}, an address dies, ${FAULT_WORDS[fault]}`, events, 1000 * seconds.length, lost(seconds))),
            ...(planned === undefined || planned.events.length === 0 ? [] : section(`${name}, a record is moved`, planned.events, 1000 * planned.seconds.length, [])),
        ]),
        "",
    ].join("\n");
}

function section(title: string, events: FailureTimeline["events"], endMs: number, bars: readonly string[]): readonly string[] {
    const shown = events.filter(({ atMs }) => atMs <= endMs);
    return [
        `    section ${plain(title)}`, ...bars,
        // Each phase lasts until the next event.
        ...shown.map(({ atMs, text }, index) => `    ${plain(text)} :${String(atMs)}, ${String(Math.max(atMs + 1, shown[index + 1]?.atMs ?? endMs))}`),
    ];
}

/** The stretch in which connections begin that fail. */
function lost(seconds: FailureTimeline["seconds"]): readonly string[] {
    const bad = seconds.filter(({ failed }) => failed > 0), first = bad[0], last = bad.at(-1);
    if (first === undefined || last === undefined) return [];
    return [`    ${String(bad.reduce((sum, { failed }) => sum + failed, 0))} new connections fail :crit, ${String(1000 * first.second)}, ${String(1000 * (last.second + 1))}`];
}

export function renderSequence({ name, host, failure }: HostReport, { fault, events, seconds }: FailureTimeline): string {
    const row = failure?.rows.find((one) => one.isDeclared && one.fault === fault), servers = [...new Set(seconds.flatMap(({ by }) => Object.keys(by)))];
    return [
        "sequenceDiagram", "    participant application", "    participant proxy", "    participant dead as dead address", ...servers.map((server, index) => `    participant s${String(index)} as ${server}`), "    participant dns as GSLB and DNS",
        `    Note over application,dns: ${plain(`${name} (${host}), ${FAULT_WORDS[fault]}`)}`,
        "    application->>proxy: new connection", "    proxy-xdead: connection attempt",
        ...events.map(({ atMs, text }) => `    Note over proxy,dns: after ${shownMs(atMs)}, ${plain(text)}`),
        ...servers.map((_, index) => `    proxy->>s${String(index)}: new connections, ${String(seconds.reduce((sum, { by }) => sum + (by[servers[index] ?? ""] ?? 0), 0))} in ${String(seconds.length)} s`),
        ...(row === undefined ? [] : [`    Note over application,proxy: ${String(row.failed)} of ${String(row.sent)} failed, slowest wait ${shownMs(row.waitMs.slowest)}`]), "",
    ].join("\n");
}
