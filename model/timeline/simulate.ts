// New connections through one proxy while addresses die, are ejected and leave the DNS answer: a simulation of what Envoy
// does, event by event. What it takes from Envoy is checked against the lab's results (test/unit/model/timeline-lab.test.ts).
import type { LoadBalancer } from "../load-balancer";
import type { OutlierSettings } from "../outlier";
import { type BackOff, longestPause } from "../waiting";
import { Cluster, type Host } from "./cluster";
import { EventQueue } from "./queue";
import { seeded } from "./random";

export const Fault = {
    /** Packets vanish: each attempt lasts the connect timeout. */
    Drop: "drop",
    /** Connections are refused at once. */
    Refuse: "refuse",
} as const;
export type Fault = (typeof Fault)[keyof typeof Fault];

/** What a proxy does with new connections to one host. */
export interface ProxySettings {
    /** False for LOGICAL_DNS: one logical host, whose next address is tried by happy eyeballs. */
    readonly keepsList: boolean;
    readonly loadBalancer: LoadBalancer;
    readonly connectTimeoutMs: number;
    readonly outlier?: OutlierSettings;
    /** How often one connection is tried. */
    readonly attempts: number;
    /** Between attempts; without one the next follows at once. */
    readonly backOff?: BackOff;
    /** One back-off for all connections, which never goes back to its base, as in Envoy's TCP proxy (`worn`). Default: one each. */
    readonly sharesBackOff?: boolean;
    /** The time-out of the handshake with the proxy, which cuts connections that wait: most of them. */
    readonly cutMs?: number;
    /** The share of the connections to a dead address that it cuts; all by default. */
    readonly cutShare?: Readonly<Record<Fault, number>>;
    /** Addresses of the second priority. */
    readonly standby: readonly string[];
    readonly overprovisioning?: number;
    /** Behind what DNS answers stands the address of its last answer that had one, as LOGICAL_DNS: a cluster of its own, which ejects nothing. */
    readonly keepsLastKnown?: boolean;
    /** How long Envoy gathers changes of health before its workers hear of them (update_merge_window). */
    readonly mergeWindowMs: number;
}

/** What happens around the proxy. */
export interface Situation {
    /** The lists that the proxy gets from DNS, the first at 0. */
    readonly lists: readonly { readonly atMs: number; readonly addresses: readonly string[] }[];
    /** From 0 on and for good, where nothing else is said. */
    readonly dead: readonly { readonly address: string; readonly fault: Fault; readonly fromMs?: number; readonly untilMs?: number }[];
}

export type Load =
    | { readonly kind: "rate"; readonly perSecond: number; readonly seconds: number }
    /** So many at a time, each for so long. */
    | { readonly kind: "concurrency"; readonly connections: number; readonly count: number; readonly serviceMs: number };

export interface Connection {
    readonly begunMs: number;
    /** Until it was made or had failed, beyond what it takes in fair weather. */
    readonly waitMs: number;
    /** The address that serves it and its priority; undefined where it failed. */
    readonly by?: Pick<Host, "address" | "priority">;
}

export interface Simulation {
    /** In the order in which they were begun. */
    readonly connections: readonly Connection[];
    readonly ejections: number;
    /** Ejections that the guard refused. */
    readonly overflows: number;
    /** Of the proxy's own connections, of which several connections of applications may wait for one. */
    readonly connectFailures: number;
    /** Ejections and re-admissions as they happened. */
    readonly events: readonly { readonly atMs: number; readonly kind: "ejected" | "admitted"; readonly address: string; readonly priority: number }[];
}

/** Workers of the proxy: each keeps its own turn of ROUND_ROBIN. Istio's charts give a gateway two processors. */
const WORKERS = 2;
/** From the failure that fills the threshold until the main thread has ejected the address. */
const EJECTION_MS = 5;
/** A live address accepts, a refusing one refuses, within this. */
const ROUND_TRIP_MS = 2;
/** Until an application that has seen a connection end has the next one at the proxy. */
const NEXT_MS = 10;
/** Happy eyeballs: Envoy tries the next address after 0.3 s (measured). */
export const HAPPY_EYEBALLS_MS = 300;

interface Stream {
    readonly index: number;
    readonly begunMs: number;
    readonly worker: number;
    attempts: number;
    pool?: Pool;
    isOver: boolean;
}

/** A worker's connections to one host: those on their way, and the streams that wait for one. */
interface Pool {
    readonly host: Host;
    readonly pending: Stream[];
    connecting: number;
}

type Event =
    | { readonly kind: "begin" | "retry" | "cut" | "end"; readonly stream: Stream; readonly host?: Host }
    | { readonly kind: "connected" | "failed"; readonly pool: Pool }
    | { readonly kind: "list"; readonly addresses: readonly string[] }
    | { readonly kind: "sweep" }
    | { readonly kind: "eject"; readonly host: Host }
    | { readonly kind: "publish"; readonly priority: number };

export function simulate(settings: ProxySettings, situation: Situation, load: Load, seed = 1): Simulation {
    return new Run(settings, situation, load, seed).result();
}

class Run {
    private now = 0;
    private readonly random: () => number;
    private readonly queue = new EventQueue<Event>();
    private readonly cluster: Cluster;
    private readonly pools = new Map<Host, Pool[]>();
    private readonly published = new Map<number, { at: number; isDue: boolean }>();
    private readonly done: Connection[] = [];
    private readonly events: { atMs: number; kind: "ejected" | "admitted"; address: string; priority: number }[] = [];
    /** The last answer that had addresses. */
    private known: readonly string[] = [];
    private connectFailures = 0;
    private pauses = 0;
    private begun = 0;
    private over = 0;
    private readonly count: number;

    constructor(private readonly settings: ProxySettings, private readonly situation: Situation, private readonly load: Load, seed: number) {
        this.random = seeded(seed);
        const { loadBalancer, outlier, overprovisioning, keepsLastKnown } = settings;
        this.cluster = new Cluster({ loadBalancer, outlier, overprovisioning, keepsLastKnown, workers: WORKERS, random: this.random });
        this.count = load.kind === "rate" ? Math.round(load.perSecond * load.seconds) : load.count;
    }

    result(): Simulation {
        const { settings, situation, load, queue } = this;
        if (settings.standby.length > 0) this.cluster.setAddresses(1, settings.standby);
        for (const { atMs, addresses } of situation.lists) queue.add(atMs, { kind: "list", addresses });
        if (settings.outlier !== undefined) queue.add(this.random() * settings.outlier.intervalMs, { kind: "sweep" });
        const first = load.kind === "rate" ? this.count : Math.min(load.connections, this.count);
        for (let index = 0; index < first; index++) this.beginAt(load.kind === "rate" ? (1000 * index) / load.perSecond : 0);
        for (let event = queue.next(); event !== undefined && this.over < this.count; event = queue.next()) {
            this.now = event.at;
            this.handle(event.what);
        }
        return { connections: this.done, ejections: this.cluster.ejections, overflows: this.cluster.overflows, connectFailures: this.connectFailures, events: this.events };
    }

    private beginAt(atMs: number): void {
        const stream: Stream = { index: this.begun++, begunMs: atMs, worker: Math.floor(this.random() * WORKERS), attempts: 0, isOver: false };
        this.queue.add(atMs, { kind: "begin", stream });
    }

    private handle(event: Event): void {
        switch (event.kind) {
            case "begin": {
                const { cutMs } = this.settings, worst = this.settings.attempts * this.settings.connectTimeoutMs;
                if (cutMs !== undefined && (this.settings.attempts > 1 || cutMs < worst) && this.isCut()) this.queue.add(this.now + cutMs, { kind: "cut", stream: event.stream });
                this.attempt(event.stream);
                break;
            }
            case "retry": if (!event.stream.isOver) this.attempt(event.stream); break;
            case "cut": this.cut(event.stream); break;
            case "end": if (event.host !== undefined) event.host.active -= 1; this.more(); break;
            case "connected": this.connected(event.pool); break;
            case "failed": this.failed(event.pool); break;
            case "list": this.replaceList(event.addresses); break;
            case "sweep": this.sweep(); break;
            case "eject": this.eject(event.host); break;
            case "publish": this.publish(event.priority); break;
        }
    }

    /** The workers have a new list at once; the first one they have had for long. */
    private replaceList(addresses: readonly string[]): void {
        if (addresses.length > 0) this.known = addresses;
        if (this.settings.keepsLastKnown === true) this.cluster.setAddresses(1, this.known.slice(0, 1));
        this.cluster.setAddresses(0, this.settings.keepsList ? addresses : addresses.slice(0, 1));
        this.published.set(0, { at: this.now === 0 ? -Infinity : this.now, isDue: false });
    }

    private isCut(): boolean {
        const { cutShare } = this.settings, fault = this.situation.dead[0]?.fault;
        return cutShare === undefined || fault === undefined || this.random() < cutShare[fault];
    }

    private attempt(stream: Stream): void {
        const host = this.cluster.choose(stream.worker);
        if (host === undefined) return this.finish(stream, undefined);
        const pool = this.poolOf(host, stream.worker);
        stream.pool = pool;
        pool.pending.push(stream);
        // A connection that is on its way for nobody any more is taken first.
        if (pool.connecting < pool.pending.length) this.connect(pool);
    }

    private connect(pool: Pool): void {
        const { lasts, isMade } = this.reach(pool.host);
        pool.connecting += 1;
        this.queue.add(this.now + lasts, { kind: isMade ? "connected" : "failed", pool });
    }

    /** How long a connection to an address takes, and whether it is made. */
    private reach({ address, priority }: Host): { readonly lasts: number; readonly isMade: boolean } {
        const faultOf = (one: string): Fault | undefined => this.situation.dead.find((dead) => dead.address === one && this.now >= (dead.fromMs ?? 0) && this.now < (dead.untilMs ?? Infinity))?.fault;
        const { connectTimeoutMs, keepsList, keepsLastKnown = false } = this.settings, fault = faultOf(address), isLogical = !keepsList || keepsLastKnown && priority > 0;
        if (fault === undefined) return { lasts: ROUND_TRIP_MS, isMade: true };
        const after = fault === Fault.Drop ? HAPPY_EYEBALLS_MS : ROUND_TRIP_MS;
        if (isLogical && after < connectTimeoutMs && this.known.some((one) => faultOf(one) === undefined)) return { lasts: after + ROUND_TRIP_MS, isMade: true };
        return { lasts: fault === Fault.Drop ? connectTimeoutMs : Math.min(ROUND_TRIP_MS, connectTimeoutMs), isMade: false };
    }

    private poolOf(host: Host, worker: number): Pool {
        const pools = this.pools.get(host) ?? [], pool = pools[worker] ?? { host, pending: [], connecting: 0 };
        pools[worker] = pool;
        this.pools.set(host, pools);
        return pool;
    }

    private connected(pool: Pool): void {
        pool.connecting -= 1;
        pool.host.failures = 0;
        const stream = pool.pending.shift();
        if (stream !== undefined) this.finish(stream, pool.host);
    }

    /**
     * A connection that fails fails every stream that waits for one to that host: Envoy purges them all, and its TCP proxy
     * reports each of them to outlier detection. So a first time-out ejects where three connections waited for it.
     */
    private failed(pool: Pool): void {
        const { host, pending } = pool, { outlier } = this.settings;
        pool.connecting -= 1;
        this.connectFailures += 1;
        for (const stream of pending.splice(0)) {
            host.failures += 1;
            if (outlier !== undefined && host.failures === outlier.consecutiveLocalOriginFailures) this.queue.add(this.now + EJECTION_MS, { kind: "eject", host });
            this.again(stream);
        }
    }

    private again(stream: Stream): void {
        const { attempts, backOff, sharesBackOff = false } = this.settings;
        stream.attempts += 1;
        stream.pool = undefined;
        if (stream.attempts >= attempts) return this.finish(stream, undefined);
        if (backOff === undefined) return this.attempt(stream);
        this.queue.add(this.now + this.random() * longestPause(sharesBackOff ? this.pauses++ : stream.attempts - 1, backOff), { kind: "retry", stream });
    }

    private cut(stream: Stream): void {
        if (stream.isOver) return;
        const pending = stream.pool?.pending ?? [], index = pending.indexOf(stream);
        if (index >= 0) pending.splice(index, 1);
        this.finish(stream, undefined);
    }

    private finish(stream: Stream, host: Host | undefined): void {
        stream.isOver = true;
        this.over += 1;
        const usual = host === undefined ? 0 : ROUND_TRIP_MS, waitMs = Math.max(0, this.now - stream.begunMs - usual);
        this.done[stream.index] = { begunMs: stream.begunMs, waitMs, ...(host === undefined ? {} : { by: { address: host.address, priority: host.priority } }) };
        if (this.load.kind === "rate") return;
        if (host !== undefined) host.active += 1;
        this.queue.add(this.now + NEXT_MS + (host === undefined ? 0 : this.load.serviceMs), { kind: "end", stream, host });
    }

    /** Where so many are open at a time, the next begins when one has ended. */
    private more(): void {
        if (this.begun < this.count) this.beginAt(this.now);
    }

    private eject(host: Host): void {
        if (!this.cluster.eject(host, this.now)) return;
        this.note("ejected", host);
    }

    private sweep(): void {
        for (const host of this.cluster.sweep(this.now)) this.note("admitted", host);
        this.queue.add(this.now + (this.settings.outlier?.intervalMs ?? Infinity), { kind: "sweep" });
    }

    private note(kind: "ejected" | "admitted", { address, priority }: Host): void {
        this.events.push({ atMs: this.now, kind, address, priority });
        const state = this.published.get(priority) ?? { at: -Infinity, isDue: false }, { mergeWindowMs } = this.settings;
        this.published.set(priority, state);
        if (mergeWindowMs === 0 || this.now - state.at > mergeWindowMs) return this.publish(priority);
        if (state.isDue) return;
        state.isDue = true;
        this.queue.add(this.now + mergeWindowMs, { kind: "publish", priority });
    }

    private publish(priority: number): void {
        this.published.set(priority, { at: this.now, isDue: false });
        this.cluster.publish(priority);
    }
}
