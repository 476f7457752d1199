// The load generator: many connections of one application, at a rate or a number at a time, always bounded.
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { AttemptError, ask, asAttemptError, open, talkPlain } from "./attempt";
import type { FailureReason, Target } from "./attempt";

export interface Load extends Target {
    /** How many connections in all; with `keepalive` requests. At most 50,000. */
    readonly count: number;
    readonly pace: Pace;
    /** Nothing new is begun after this time. Default 600,000. */
    readonly maxMs?: number;
    /** By this name it can be ended before its count is reached. */
    readonly id?: string;
}

export type Pace =
    /** Open loop: so many new connections a second, whatever becomes of the earlier ones. */
    | { readonly kind: "rate"; readonly perSecond: number }
    /** Closed loop: so many at a time, each followed by the next. */
    | { readonly kind: "concurrency"; readonly connections: number }
    /** So many connections that are kept, one request on each after every pause; one that breaks is counted and opened again, one that has reached its lifetime is replaced. */
    | { readonly kind: "keepalive"; readonly connections: number; readonly pauseMs: number; readonly lifetimeMs?: number };

export interface Quantiles { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number }
export interface Second { readonly second: number; readonly sent: number; readonly failed: number; readonly by: Readonly<Record<string, number>> }

export interface LoadResult {
    readonly sent: number;
    readonly ok: number;
    readonly failed: number;
    readonly failedBy: Readonly<Partial<Record<FailureReason, number>>>;
    /** Good answers by the VIP's address. */
    readonly by: Readonly<Record<string, number>>;
    /** Milliseconds until the TLS handshake with the VIP is done; good ones only, as `totalMs`. */
    readonly connectMs: Quantiles | undefined;
    /** Milliseconds until the answer is there. */
    readonly totalMs: Quantiles | undefined;
    readonly failedMs: Quantiles | undefined;
    /** By the second in which the attempt began. */
    readonly timeline: readonly Second[];
    readonly durationMs: number;
    /** The first message of each reason, for the reader of a failure. */
    readonly examples: Readonly<Partial<Record<FailureReason, string>>>;
}

const MAX_COUNT = 50_000;
const MAX_OPEN = 4_000;
const MAX_MS = 600_000;

/** Loads that were told to end, by name, and how often all were. */
const ended = new Set<string>();
let endings = 0;

/** Nothing new is begun, by all loads without a name; what runs is waited for. */
export function endLoad(id?: string): void {
    if (id === undefined) endings += 1;
    else ended.add(id);
}

type Attempt = () => Promise<{ readonly by: string; readonly connectMs: number }>;

export async function runLoad(load: Load): Promise<LoadResult> {
    if (load.count > MAX_COUNT) throw new Error(`A load of ${String(load.count)} is more than ${String(MAX_COUNT)}.`);
    const tally = new Tally(), before = endings, deadline = performance.now() + (load.maxMs ?? MAX_MS);
    const isOver = (): boolean => performance.now() > deadline || endings > before || (load.id !== undefined && ended.has(load.id));
    switch (load.pace.kind) {
        case "rate": await atRate(load, load.pace.perSecond, tally, isOver); break;
        case "concurrency": await inTurns(load.count, load.pace.connections, isOver, () => tally.take(() => once(load))); break;
        case "keepalive": await kept(load, load.pace, tally, isOver); break;
    }
    return tally.result();
}

async function atRate(load: Load, perSecond: number, tally: Tally, isOver: () => boolean): Promise<void> {
    const begin = performance.now(), running = new Set<Promise<void>>();
    for (let index = 0; index < load.count && !isOver(); index++) {
        const pause = begin + index * 1000 / perSecond - performance.now();
        if (pause > 0) await wait(pause);
        if (running.size >= MAX_OPEN) throw new Error(`More than ${String(MAX_OPEN)} connections are open: the rate is more than this machine can hold.`);
        const attempt = tally.take(() => once(load)).finally(() => running.delete(attempt));
        running.add(attempt);
    }
    await Promise.all(running);
}

async function inTurns(count: number, workers: number, isOver: () => boolean, action: () => Promise<void>): Promise<void> {
    let begun = 0;
    await Promise.all(Array.from({ length: Math.min(workers, MAX_OPEN) }, async () => {
        while (begun < count && !isOver()) {
            begun += 1;
            await action();
        }
    }));
}

async function kept(load: Load, pace: Extract<Pace, { kind: "keepalive" }>, tally: Tally, isOver: () => boolean): Promise<void> {
    let begun = 0;
    await Promise.all(Array.from({ length: pace.connections }, async () => {
        let socket: Awaited<ReturnType<typeof open>> | undefined, opened = 0;
        while (begun < load.count && !isOver()) {
            begun += 1;
            await tally.take(async () => {
                const begin = performance.now();
                if (socket !== undefined && begin - opened > (pace.lifetimeMs ?? Infinity)) socket.destroy();
                if (socket === undefined || socket.destroyed) [socket, opened] = [await open(load), begin];
                const connectMs = performance.now() - begin;
                const { who } = await ask(socket, load);
                return { by: who?.vip ?? "?", connectMs };
            });
            await wait(pace.pauseMs);
        }
        socket?.destroy();
    }));
}

const once = async (load: Load): ReturnType<Attempt> => {
    const begin = performance.now(), timeoutMs = load.timeoutMs ?? 10_000;
    if (load.protocol === "tcp") {
        const [greeting = ""] = await talkPlain(load, "ping");
        return { by: greeting.split(" ")[1] ?? "?", connectMs: performance.now() - begin };
    }
    const socket = await open(load);
    const connectMs = performance.now() - begin;
    try {
        const { who, status } = await ask(socket, { ...load, timeoutMs: Math.max(1, timeoutMs - connectMs) });
        if (status !== 200) throw new AttemptError("http", `status ${String(status)}`);
        return { by: who?.vip ?? "?", connectMs };
    } finally {
        socket.on("error", () => undefined).destroy();
    }
};

class Tally {
    private readonly begin = performance.now();
    private readonly connect: number[] = [];
    private readonly total: number[] = [];
    private readonly failures: number[] = [];
    private readonly failedBy: Partial<Record<FailureReason, number>> = {};
    private readonly examples: Partial<Record<FailureReason, string>> = {};
    private readonly by: Record<string, number> = {};
    private readonly seconds = new Map<number, { sent: number; failed: number; by: Record<string, number> }>();

    async take(attempt: Attempt): Promise<void> {
        const begin = performance.now(), second = this.second(Math.floor((begin - this.begin) / 1000));
        second.sent += 1;
        try {
            const { by, connectMs } = await attempt();
            this.connect.push(connectMs);
            this.total.push(performance.now() - begin);
            this.by[by] = (this.by[by] ?? 0) + 1;
            second.by[by] = (second.by[by] ?? 0) + 1;
        } catch (error) {
            const { reason, message } = asAttemptError(error as Error);
            this.failures.push(performance.now() - begin);
            this.failedBy[reason] = (this.failedBy[reason] ?? 0) + 1;
            this.examples[reason] ??= message;
            second.failed += 1;
        }
    }

    result(): LoadResult {
        const ok = this.total.length, failed = this.failures.length;
        return {
            sent: ok + failed, ok, failed, failedBy: this.failedBy, by: this.by, examples: this.examples,
            connectMs: quantiles(this.connect), totalMs: quantiles(this.total), failedMs: quantiles(this.failures),
            timeline: [...this.seconds].map(([second, entry]) => ({ second, ...entry })).sort((a, b) => a.second - b.second),
            durationMs: Math.round(performance.now() - this.begin),
        };
    }

    private second(number: number): { sent: number; failed: number; by: Record<string, number> } {
        const entry = this.seconds.get(number) ?? { sent: 0, failed: 0, by: {} };
        this.seconds.set(number, entry);
        return entry;
    }
}

function quantiles(values: readonly number[]): Quantiles | undefined {
    if (values.length === 0) return undefined;
    const sorted = [...values].sort((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
