// What scenarios say about loads: shares of lost connections, several runs as one figure, the seconds in which something was lost.
import { expect } from "chai";
import type { LoadResult } from "./lab/agent/load";

/** A single run of some hundred connections tells a share no better than this, in percent. */
const SINGLE_RUN = 3;

export type Loss = Pick<LoadResult, "sent" | "failed">;

/** "12 of 400 (3.0 %)"; several runs are added up. */
export function lost(...runs: readonly Loss[]): string {
    const { sent, failed } = total(runs);
    return `${String(failed)} of ${String(sent)}${failed === 0 ? "" : ` (${percent({ sent, failed }).toFixed(1)} %)`}${runs.length > 1 ? `, ${String(runs.length)} runs` : ""}`;
}

/** Of what was sent, in percent. */
export function percent({ sent, failed }: Loss): number {
    return 100 * failed / sent;
}

export function total(runs: readonly Loss[]): Loss {
    return runs.reduce((sum, { sent, failed }) => ({ sent: sum.sent + sent, failed: sum.failed + failed }), { sent: 0, failed: 0 });
}

/** The share that is lost, in percent, lies between these, give or take what a single run can tell. */
export function expectBetween(loss: Loss, least: number, most: number): void {
    expect(percent(loss), lost(loss)).to.be.within(least - SINGLE_RUN, most + SINGLE_RUN);
}

/** Nothing is lost in any run; a failure shows the reasons. */
export function expectNone(...runs: readonly LoadResult[]): void {
    for (const run of runs) expect(run.failed, `${lost(run)}: ${JSON.stringify(run.failedBy)} ${JSON.stringify(run.examples)}`).to.equal(0);
}

/** The same measurement several times, one after the other. */
export async function times<Value>(count: number, one: (run: number) => Promise<Value>): Promise<readonly Value[]> {
    const all: Value[] = [];
    for (let run = 0; run < count; run++) all.push(await one(run));
    return all;
}

/** "; slowest 2.4 s" */
export function slowest(...runs: readonly LoadResult[]): string {
    return `; slowest ${(Math.max(...runs.map(({ totalMs }) => totalMs?.max ?? 0)) / 1000).toFixed(1)} s`;
}
