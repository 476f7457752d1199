// Asks DNS for pools, several times, and judges what came back. Nothing but DNS questions is sent.
import { setTimeout as wait } from "node:timers/promises";
import type { Named } from "../plan/choose";
import { type Answer, type AskOptions, ask } from "./ask";
import { PoolStatus, type PoolVerdict, judgePool, whySkipped } from "./judge";

export { PoolStatus } from "./judge";
export type { PoolVerdict } from "./judge";

export interface VerifyOptions extends AskOptions {
    readonly times: number;
    readonly intervalMs: number;
}

/** So many hosts are asked for at a time. */
const AT_A_TIME = 16;

export async function verifyPools(hosts: readonly Named[], options: VerifyOptions): Promise<readonly PoolVerdict[]> {
    const asked = hosts.filter(({ declaration }) => whySkipped(declaration) === undefined), answers = new Map<string, Answer[]>();
    for (let time = 0; time < options.times && asked.length > 0; time++) {
        if (time > 0) await wait(options.intervalMs); // The rhythm that was asked for.
        const names = [...new Set(asked.map(({ declaration }) => declaration.host))];
        for (let first = 0; first < names.length; first += AT_A_TIME) {
            await Promise.all(names.slice(first, first + AT_A_TIME).map(async (host) => answers.set(host, [...answers.get(host) ?? [], await ask(host, options)])));
        }
    }
    return hosts.map(({ name, declaration }) => judgePool(name, declaration, answers.get(declaration.host) ?? []));
}

export const countOf = (verdicts: readonly PoolVerdict[], status: PoolStatus): number => verdicts.filter((verdict) => verdict.status === status).length;

export function summaryOf(verdicts: readonly PoolVerdict[]): string {
    return Object.values(PoolStatus).filter((status) => status === PoolStatus.Ok || countOf(verdicts, status) > 0).map((status) => `${String(countOf(verdicts, status))} ${status}`).join(", ");
}
