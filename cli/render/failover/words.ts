// The words that every form of the report uses: rows of the device table, advice, titles, charts.
import type { Fault} from "../../../model";
import { type Advice, type DeviceRow, type FailureFailover, type FailureTimeline, type PlannedFailover, type TimelineSecond, formatDuration, shownMs, waitedOf } from "../../../model";
import type { Chart } from "../chart";

export const FAULT_WORDS: Readonly<Record<Fault, string>> = { drop: "packets dropped", refuse: "connections refused" };

export const devicesTitle = ({ devices, isDeclared }: Pick<DeviceRow, "devices" | "isDeclared">): string =>
    `${devices.length === 0 ? "connectTimeout alone" : devices.join(" + ")}${isDeclared ? " (declared)" : ""}`;

export const TABLE_HEADER = ["with", "fault", "failed", "the last begins after", "p50", "p99", "slowest wait", "tried for"] as const;

/** The cells of a row of the table of devices. */
export function tableRow(row: DeviceRow): readonly string[] {
    const { p50, p99, slowest } = row.waitMs;
    return [
        devicesTitle(row), FAULT_WORDS[row.fault], `${row.failed.toLocaleString("en")} of ${row.sent.toLocaleString("en")}`, row.lossMs === undefined ? "-" : shownMs(row.lossMs),
        shownMs(p50), shownMs(p99), shownMs(slowest), formatDuration(row.budgetMs),
    ];
}

export const ADVICE_HEADER = ["change", "failed", "slowest wait"] as const;

export function adviceRow({ text, before, after }: Advice): readonly string[] {
    return [text, `${before.failed.toLocaleString("en")} → ${after.failed.toLocaleString("en")}`, `${shownMs(before.slowestMs)} → ${shownMs(after.slowestMs)}`];
}

export const failureTitle = ({ perSecond, observedSeconds, windowMs }: FailureFailover): string =>
    `An address dies: ${String(perSecond)} new connections a second for ${formatDuration(1000 * observedSeconds)}${windowMs === undefined ? "" : `; the GSLB and DNS take ${formatDuration(windowMs)}`}`;

export const plannedTitle = ({ propagationMs, drainMs }: PlannedFailover): string =>
    `A record is moved on purpose: ${propagationMs === undefined ? "how long that takes is not declared (failover)" : `new connections follow within ${formatDuration(propagationMs)}${drainMs === undefined ? "" : `, the old address may be removed after ${formatDuration(drainMs)}`}`}`;

export function failureChart(name: string, { fault, seconds, events }: FailureTimeline): Chart {
    return { title: `${name}: an address dies, ${FAULT_WORDS[fault]}`, seconds: seconds.map(drawn), events: within(events, seconds.length) };
}

export function plannedChart(name: string, { seconds, events }: PlannedFailover): Chart {
    return { title: `${name}: a record is moved on purpose`, seconds, events: within(events, seconds.length) };
}

/** Those that waited have a colour of their own. */
function drawn(second: TimelineSecond): Chart["seconds"][number] {
    const { by, waitedBy } = second, waited = waitedOf(second);
    return { second: second.second, failed: second.failed, by: { ...Object.fromEntries(Object.entries(by).map(([server, count]) => [server, count - (waitedBy[server] ?? 0)])), ...(waited === 0 ? {} : { waited }) } };
}

/** What lies far behind the seconds that are drawn would leave no room for them. */
function within(events: FailureTimeline["events"], seconds: number): NonNullable<Chart["events"]> {
    return events.filter(({ atMs }) => atMs < 1000 * seconds).map(({ atMs, text }) => ({ second: atMs / 1000, text }));
}
