// What scenarios of failing addresses share: fresh addresses for each run, one run of load with its counters, and claims about failures.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { lastKnownAggregate } from "../../model";
import type { Lab } from "./lab";
import { VIP_COUNT, vip } from "./lab/layout";
import type { LoadResult } from "./lab/agent/load";
import type { Fault } from "./lab/faults";
import type { Pod } from "./lab/pods";
import type { ClusterStatistics } from "./counters";
import { clusterName, delta } from "./counters";

/** What one run of load showed. */
export interface Run {
    readonly sent: number;
    readonly failed: number;
    readonly failedBy: LoadResult["failedBy"];
    readonly by: LoadResult["by"];
    /** Until the answer, of those that succeeded; milliseconds. */
    readonly totalMs: LoadResult["totalMs"];
    readonly failedMs: LoadResult["failedMs"];
    readonly durationMs: number;
    /** What the gateway counted meanwhile for the host; what it did not count is left out. */
    readonly counted: Readonly<Record<string, number>>;
}

const COUNTED = [
    "upstream_cx_total", "upstream_cx_connect_fail", "upstream_cx_connect_timeout", "upstream_cx_connect_attempts_exceeded", "upstream_cx_none_healthy", "membership_change",
    "outlier_detection.ejections_enforced_total", "outlier_detection.ejections_overflow",
];

/** Addresses that no run has used: what Envoy knows of an address (its ejection) is as new as the address. */
export class Addresses {
    private last = 0;

    take(count: number): readonly string[] {
        const first = this.last + count > VIP_COUNT ? 0 : this.last;
        this.last = first + count;
        return Array.from({ length: count }, (_, index) => vip(first + index + 1));
    }
}

/** Runs a load, and reads what the proxy that chooses the address (the gateway, by default) counted meanwhile. */
export async function counting(lab: Lab, host: string, load: () => Promise<LoadResult>, { pod = lab.gateways.pod(0), port = 443 }: { readonly pod?: Pod; readonly port?: number } = {}): Promise<{ readonly run: Run; readonly timeline: LoadResult["timeline"] }> {
    const read = (): Promise<readonly ClusterStatistics[]> => Promise.all([clusterName(host, port), lastKnownAggregate(host, port)].map((name) => pod.envoy.cluster(name)));
    const before = await read();
    const { sent, failed, failedBy, by, totalMs, failedMs, durationMs, timeline } = await load();
    // What the route's cluster counts and what the address's does: with the aggregate these are two.
    const counts = (await read()).map((after, index) => delta(before[index] ?? {}, after)).reduce((sum, one) => ({ ...sum, ...Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value + (sum[key] ?? 0)])) }));
    const counted = Object.fromEntries(Object.entries(counts).filter(([key, value]) => COUNTED.includes(key) && value !== 0));
    return { run: { sent, failed, failedBy, by, totalMs, failedMs, durationMs, counted }, timeline };
}

export interface Failover {
    readonly dead: string;
    readonly fault: Fault;
    /** What DNS answers once the GSLB has noticed, and with which TTL in seconds. */
    readonly after: readonly string[];
    readonly ttl: number;
    readonly detectionMs: number;
    readonly load: Parameters<Lab["apps"]["payments"]["load"]>[1];
}

/** One of a host's addresses dies, and its record moves when the GSLB would have noticed, under load. */
export async function failover(lab: Lab, host: string, { dead, fault, after, ttl, detectionMs, load }: Failover): ReturnType<typeof counting> {
    lab.faults.vip(dead, fault);
    try {
        return await counting(lab, host, async () => {
            const [result] = await Promise.all([
                lab.apps.payments.load(host, load),
                wait(detectionMs).then(() => lab.dns.addresses(host, after, { ttl })), // Part of the experiment: the GSLB's detection time.
            ]);
            return result;
        }, load.port === undefined ? {} : { port: load.port });
    } finally {
        lab.faults.clearVip(dead);
    }
}

/** One connection that must succeed: the path is there, and the server has made its certificate. */
export async function warmUp(lab: Lab, host: string): Promise<void> {
    const exchange = await lab.apps.payments.request(host);
    expect(exchange.ok, `${host} before the fault: ${JSON.stringify(exchange)}`).to.equal(true);
}

/** What a single run of so many connections may differ by: 3 points, and three standard deviations of chance when that is more. */
export function expectShare(failed: number, sent: number, percent: number, points = 3): void {
    const share = percent / 100, chance = 300 * Math.sqrt(share * (1 - share) / sent);
    expect(100 * failed / sent, `per cent of ${String(sent)} that failed`).to.be.closeTo(percent, Math.max(points, chance));
}

export function percent(part: number, whole: number): string {
    const value = 100 * part / Math.max(1, whole);
    return part === 0 ? "0" : `${value.toFixed(value < 10 ? 2 : 1)} %`;
}

/** "0 of 3,000", or "210 of 400 (52.5 %)". */
export function failures(runs: readonly Pick<Run, "failed" | "sent">[]): string {
    const failed = runs.reduce((sum, run) => sum + run.failed, 0), sent = runs.reduce((sum, run) => sum + run.sent, 0);
    return `${failed.toLocaleString("en")} of ${sent.toLocaleString("en")}${failed === 0 ? "" : ` (${percent(failed, sent)})`}`;
}

/** "slowest 1.23 s". */
export function slowest(runs: readonly Pick<Run, "totalMs">[]): string {
    return `slowest ${(Math.max(...runs.map(({ totalMs }) => totalMs?.max ?? 0)) / 1000).toFixed(1)} s`;
}
