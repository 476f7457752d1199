// A declaration's failovers second by second, and their key figures: an address dies, or a record is moved on purpose.
import type { Declaration } from "../declaration";
import { formatDuration, milliseconds } from "../duration";
import { usesGateway } from "../routes";
import { decideWaiting } from "../waiting";
import { declaredWindowMs, drainWait } from "../window";
import { Device, devicesOf, proxySettings, stepsOf, whyNoTimeline } from "./settings";
import { type Connection, Fault, type ProxySettings, type Simulation, type Situation, simulate } from "./simulate";

/** Who serves a connection, in the words of a timeline. */
export const Server = { Old: "old address", New: "new address", Others: "other addresses", Standby: "standby" } as const;

export interface TimelineOptions {
    /** New connections a second, over all proxies. Default 20. */
    readonly perSecond?: number;
    /** Proxies that choose addresses, each for itself: gateway pods, or with route direct the sidecars. Default 1. */
    readonly proxies?: number;
    /** How long after the death the proxy has an answer without the dead address; Infinity: never. Default W of the declaration. */
    readonly windowMs?: number;
}

export const DEFAULT_PER_SECOND = 20;

/** One second of new connections, by when they began. */
export interface TimelineSecond {
    readonly second: number;
    readonly sent: number;
    readonly failed: number;
    /** How many each served. */
    readonly by: Readonly<Record<string, number>>;
    /** How many of them were made after a wait that is felt. */
    readonly waitedBy: Readonly<Record<string, number>>;
    /** The longest wait of those that were made. */
    readonly slowestMs: number;
}

export interface TimelineEvent {
    readonly atMs: number;
    readonly text: string;
}

export interface Figures {
    readonly sent: number;
    readonly failed: number;
    /** When the last connection began that failed, in milliseconds after the fault; absent where none failed. */
    readonly lossMs?: number;
    /** Of those that were made: beyond what a connection takes in fair weather. */
    readonly waitMs: { readonly p50: number; readonly p99: number; readonly slowest: number };
    /** How long after its begin the slowest of those that failed had failed. */
    readonly slowestFailureMs?: number;
    readonly ejections: number;
}

/** One set of devices under one fault. */
export interface DeviceRow extends Figures {
    readonly devices: readonly Device[];
    readonly fault: Fault;
    /** What the declaration gives. */
    readonly isDeclared: boolean;
    /** How long one connection is tried at least. */
    readonly budgetMs: number;
}

export interface FailureTimeline {
    readonly fault: Fault;
    readonly seconds: readonly TimelineSecond[];
    readonly events: readonly TimelineEvent[];
}

export interface FailureFailover {
    /** W by the declared GSLB; undefined where nothing is declared. */
    readonly windowMs?: number;
    /** How many seconds of new connections are looked at. */
    readonly observedSeconds: number;
    readonly perSecond: number;
    readonly proxies: number;
    readonly rows: readonly DeviceRow[];
    /** What is taken for granted where the declaration does not say; each a sentence. */
    readonly assumptions: readonly string[];
    /** Of what is declared. */
    readonly timelines: readonly FailureTimeline[];
}

/** New connections are looked at for as long as W and a little more, and for ten minutes at most. */
const REST_SECONDS = 15, LONGEST_SECONDS = 600, SHORTEST_SECONDS = 30;
/** A wait that is felt; shorter ones are those of fair weather. */
export const FELT_MS = 100;
/** How many seeded runs there are, of which the middle one is shown; one where that would take long. */
const RUNS = 5, MANY_TRIES = 30_000;
/** Beyond this a run is thinned where no address depends on another: every so many connections one is computed and stands for all. */
const MOST_TRIES = 150_000;

/** Of several, the one that a planned failover puts in the old one's place. */
const NEW_ADDRESS = "new";

/** The addresses of the pool; the first one dies. */
function addressesOf({ pool }: Declaration): { readonly before: readonly string[]; readonly after: readonly string[] } {
    const count = pool.addressesPerAnswer ?? 1, [dead = "A", partner = "B"] = pool.standbyAddresses ?? [];
    if (count === 1) return { before: [dead], after: [partner] };
    const others = Array.from({ length: count - 1 }, (_, index) => `other ${String(index + 1)}`);
    return { before: [dead, ...others], after: others };
}

const windowOf = (declaration: Declaration, { windowMs = declaredWindowMs(declaration) }: TimelineOptions): number | undefined => (windowMs === Infinity ? undefined : windowMs);

const observed = (windowMs: number | undefined): number => Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, Math.ceil((windowMs ?? 0) / 1000) + REST_SECONDS));

/** What happens when the first address dies without notice; every delay of the GSLB and of DNS is as long as it can be. */
export function failureFailover(declaration: Declaration, options: TimelineOptions = {}): FailureFailover | undefined {
    if (whyNoTimeline(declaration) !== undefined) return undefined;
    const { perSecond = DEFAULT_PER_SECOND, proxies = 1 } = options, windowMs = windowOf(declaration, options), observedSeconds = observed(windowMs);
    const declared = devicesOf(declaration), faults = [Fault.Drop, Fault.Refuse];
    const runs = stepsOf(declaration).flatMap((devices) => faults.map((fault) => ({ devices, fault, run: failingRun(declaration, devices, fault, options) })));
    return {
        ...(windowMs === undefined ? {} : { windowMs }), observedSeconds, perSecond, proxies, assumptions: assumptionsOf(declaration, windowMs, proxies),
        rows: runs.map(({ devices, fault, run }) => ({ devices, fault, isDeclared: devices.length === declared.length, budgetMs: budgetOf(declaration, devices), ...figuresOf(run) })),
        timelines: runs.filter(({ devices }) => devices.length === declared.length).map(({ fault, run }) => ({ fault, seconds: secondsOf(run, declaration, observedSeconds), events: eventsOf(declaration, run) })),
    };
}

/** The key figures of what is declared, under one fault. */
export function failureFigures(declaration: Declaration, fault: Fault, options: TimelineOptions = {}): Figures | undefined {
    if (whyNoTimeline(declaration) !== undefined) return undefined;
    return figuresOf(failingRun(declaration, devicesOf(declaration), fault, options));
}

function assumptionsOf({ pool, failover, route }: Declaration, windowMs: number | undefined, proxies: number): readonly string[] {
    return [
        ...(windowMs === undefined ? ["how long the GSLB takes is not declared (failover), so that it never answers without the dead address here."] : ["the GSLB, resolvers and the proxy take as long as they are declared to, each in full."]),
        ...(windowMs !== undefined && windowMs / 1000 + REST_SECONDS > LONGEST_SECONDS ? [`the window of ${formatDuration(windowMs)} is longer than the ${formatDuration(1000 * LONGEST_SECONDS)} that are looked at.`] : []),
        ...(pool.addressesPerAnswer === undefined ? ["how many addresses an answer holds is not declared: one, which dies, is assumed."] : []),
        ...(failover !== undefined && pool.standbyAddresses?.length === 1 ? ["the one standby address is the one that dies."] : []),
        usesGateway(route) ? `the way to the gateway is sound, and ${proxies === 1 ? "one gateway pod carries" : `${String(proxies)} gateway pods share`} the connections; each pod learns by itself which address is dead.` : `${proxies === 1 ? "one sidecar opens" : `${String(proxies)} sidecars share`} the connections; each learns by itself which address is dead.`,
    ];
}

function budgetOf(declaration: Declaration, devices: readonly Device[]): number {
    const decision = decideWaiting(declaration);
    return devices.includes(Device.Waiting) && decision.waits ? decision.waiting.budgetMs : proxySettings(declaration, devices).connectTimeoutMs;
}

interface WeighedRun {
    readonly simulations: readonly Simulation[];
    /** The slowest that was made in any of the seeded runs: what is felt by few is rare in each. */
    readonly slowestMs: number;
    /** How many connections each one stands for. */
    readonly weight: number;
}

function failingRun(declaration: Declaration, devices: readonly Device[], fault: Fault, options: TimelineOptions): WeighedRun {
    const { perSecond = DEFAULT_PER_SECOND, proxies = 1 } = options, windowMs = windowOf(declaration, options), seconds = observed(windowMs), settings = proxySettings(declaration, devices), { before, after } = addressesOf(declaration);
    const situation: Situation = {
        lists: [{ atMs: 0, addresses: before }, ...(windowMs === undefined ? [] : [{ atMs: windowMs, addresses: after }])],
        dead: [{ address: before[0] ?? "", fault }],
    };
    return middleRun(settings, situation, { perSecond, proxies, seconds }, Math.min(windowMs ?? Infinity, 1000 * seconds));
}

/** Several proxies share the connections, and each learns by itself. */
function middleRun(settings: ProxySettings, situation: Situation, { perSecond, proxies, seconds }: { readonly perSecond: number; readonly proxies: number; readonly seconds: number }, badMs: number): WeighedRun {
    const isAlone = settings.standby.length === 0 && (situation.lists[0]?.addresses.length ?? 0) === 1;
    const triesEach = isAlone ? Math.min(settings.attempts, badMs / 500) : Math.min(settings.attempts, 5), tries = perSecond * seconds * Math.max(1, triesEach);
    const weight = isAlone ? Math.ceil(tries / MOST_TRIES) : 1;
    const runs = Array.from({ length: tries > MANY_TRIES ? 1 : RUNS }, (_, run) => Array.from({ length: proxies }, (_, proxy) =>
        simulate(settings, situation, { kind: "rate", perSecond: perSecond / proxies / weight, seconds }, 1 + run * proxies + proxy)));
    const failed = (run: readonly Simulation[]): number => run.reduce((sum, { connections }) => sum + connections.filter(({ by }) => by === undefined).length, 0);
    const sorted = [...runs].sort((a, b) => failed(a) - failed(b));
    return { simulations: sorted[Math.floor(sorted.length / 2)] ?? [], weight, slowestMs: Math.max(0, ...runs.map((run) => slowestOf(run))) };
}

const slowestOf = (simulations: readonly Simulation[]): number => simulations.reduce((slowest, { connections }) => connections.reduce((most, { by, waitMs }) => (by === undefined ? most : Math.max(most, waitMs)), slowest), 0);

function figuresOf({ simulations, weight, slowestMs }: WeighedRun): Figures {
    const connections = simulations.flatMap((one) => one.connections), failures = connections.filter(({ by }) => by === undefined);
    const waits = connections.filter(({ by }) => by !== undefined).map(({ waitMs }) => waitMs).sort((a, b) => a - b);
    const at = (share: number): number => Math.round(waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? 0);
    return {
        sent: connections.length * weight, failed: failures.length * weight,
        ...(failures.length === 0 ? {} : { lossMs: Math.round(Math.max(...failures.map(({ begunMs }) => begunMs))), slowestFailureMs: Math.round(Math.max(...failures.map(({ waitMs }) => waitMs))) }),
        waitMs: { p50: at(0.5), p99: at(0.99), slowest: Math.round(slowestMs) },
        ejections: simulations.reduce((sum, { ejections }) => sum + ejections, 0),
    };
}

interface CountedSecond { readonly second: number; sent: number; failed: number; by: Record<string, number>; waitedBy: Record<string, number>; slowestMs: number }

function secondsOf({ simulations, weight }: WeighedRun, declaration: Declaration, count: number, isPlanned = false): readonly TimelineSecond[] {
    const rows = Array.from({ length: count }, (_, second): CountedSecond => ({ second, sent: 0, failed: 0, by: {}, waitedBy: {}, slowestMs: 0 }));
    for (const connection of simulations.flatMap(({ connections }) => connections)) {
        const row = rows[Math.floor(connection.begunMs / 1000)];
        if (row === undefined) continue;
        row.sent += weight;
        if (connection.by === undefined) {
            row.failed += weight;
        } else {
            const server = serverOf(connection.by, declaration, isPlanned);
            row.by[server] = (row.by[server] ?? 0) + weight;
            if (connection.waitMs >= FELT_MS) row.waitedBy[server] = (row.waitedBy[server] ?? 0) + weight;
            row.slowestMs = Math.max(row.slowestMs, Math.round(connection.waitMs));
        }
    }
    return rows;
}

function serverOf({ address, priority }: NonNullable<Connection["by"]>, declaration: Declaration, isPlanned: boolean): string {
    if (priority > 0 && declaration.pool.standbyAddresses !== undefined) return Server.Standby;
    if (address === addressesOf(declaration).before[0]) return Server.Old;
    if (isPlanned && address === NEW_ADDRESS) return Server.New;
    return (declaration.pool.addressesPerAnswer ?? 1) === 1 ? Server.New : Server.Others;
}

function eventsOf(declaration: Declaration, { simulations }: WeighedRun): readonly TimelineEvent[] {
    const { failover } = declaration, events: TimelineEvent[] = [{ atMs: 0, text: "the address dies" }], windowMs = declaredWindowMs(declaration);
    const first = simulations[0]?.events ?? [], firstOf = (priority: number): number | undefined => first.find((event) => event.kind === "ejected" && event.priority === priority)?.atMs;
    const ejected = firstOf(0), standby = firstOf(1);
    const served = simulations.flatMap(({ connections }) => connections).filter(({ by }) => by !== undefined && by.priority > 0).map(({ begunMs, waitMs }) => begunMs + waitMs);
    if (ejected !== undefined) events.push({ atMs: Math.round(ejected), text: "it is ejected" });
    if (served.length > 0 && declaration.pool.standbyAddresses !== undefined) events.push({ atMs: Math.round(Math.min(...served)), text: "standby serves" });
    if (standby !== undefined) events.push({ atMs: Math.round(standby), text: "it is ejected as standby too" });
    for (const { atMs, kind, priority } of first) if (kind === "admitted" && priority === 0 && (windowMs === undefined || atMs < windowMs)) events.push({ atMs: Math.round(atMs), text: "it is tried again" });
    if (failover !== undefined && windowMs !== undefined) events.push(...propagationEvents(declaration, milliseconds(failover.detectionTime)));
    return events.sort((a, b) => a.atMs - b.atMs);
}

/** What the GSLB's change takes, from when it is made. */
function propagationEvents({ failover }: Declaration, changedMs: number): readonly TimelineEvent[] {
    if (failover === undefined) return [];
    const forgotten = changedMs + milliseconds(failover.dnsTtl), windowMs = declaredWindowMs({ failover }) ?? 0, known = changedMs + windowMs - milliseconds(failover.detectionTime);
    return [
        { atMs: changedMs, text: "the GSLB answers without it" },
        { atMs: forgotten, text: "resolvers have forgotten the old answer" },
        { atMs: known, text: "the proxy has the new answer" },
    ];
}

export interface PlannedFailover {
    /** Until no new connection goes to the old address; undefined where nothing is declared. */
    readonly propagationMs?: number;
    /** Until the old address may be removed. */
    readonly drainMs?: number;
    readonly drainText: string;
    readonly seconds: readonly TimelineSecond[];
    readonly events: readonly TimelineEvent[];
    readonly failed: number;
}

/** A record is moved while the old address is alive. */
export function plannedFailover(declaration: Declaration, { perSecond = DEFAULT_PER_SECOND, proxies = 1 }: TimelineOptions = {}): PlannedFailover | undefined {
    if (whyNoTimeline(declaration) !== undefined) return undefined;
    const { failover, pool } = declaration, drain = drainWait(declaration), { before, after } = addressesOf(declaration);
    if (failover === undefined) return { drainText: drain.text, seconds: [], events: [], failed: 0 };
    const propagationMs = (declaredWindowMs(declaration) ?? 0) - milliseconds(failover.detectionTime), seconds = Math.min(LONGEST_SECONDS, Math.ceil(propagationMs / 1000) + REST_SECONDS);
    const settings = proxySettings(declaration), moved = (pool.addressesPerAnswer ?? 1) === 1 ? after : [NEW_ADDRESS, ...after];
    const weight = Math.ceil((perSecond * seconds) / MOST_TRIES);
    const simulations = Array.from({ length: proxies }, (_, proxy) => simulate(settings, { lists: [{ atMs: 0, addresses: before }, { atMs: propagationMs, addresses: moved }], dead: [] },
        { kind: "rate", perSecond: perSecond / proxies / weight, seconds }, 1 + proxy));
    const run = { simulations, weight, slowestMs: slowestOf(simulations) };
    return {
        propagationMs, ...(drain.ms === undefined ? {} : { drainMs: drain.ms }), drainText: drain.text, failed: figuresOf(run).failed,
        seconds: secondsOf(run, declaration, seconds, true),
        events: [
            ...propagationEvents(declaration, 0).map((event) => (event.atMs === 0 ? { ...event, text: "the record moves" } : event)),
            ...(drain.ms === undefined ? [] : [{ atMs: drain.ms, text: `the old address may be removed, once its connections are none (${failover.longestConnection ?? ""} for the longest)` }]),
        ],
    };
}

/** How many of a second's connections were made after a wait. */
export const waitedOf = ({ waitedBy }: TimelineSecond): number => Object.values(waitedBy).reduce((sum, count) => sum + count, 0);

/** `0 s`, `38ms`, `1.9s`: as text of a report. */
export const shownMs = (ms: number): string => (ms === 0 ? "0 s" : formatDuration(ms < 1000 ? Math.round(ms) : Math.round(ms / 100) * 100));
