// Handles for what lies outside the mesh, and for the applications inside: the GSLB's zone, the VIPs, and what an application does.
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Agent } from "./agents";
import type { Exchange } from "./agent/client";
import type { DnsQuery, DnsRecord, AddressRecord } from "./agent/dns";
import type { Load, LoadResult } from "./agent/load";
import type { VipBehaviour, VipConnection } from "./agent/vips";
import type { Target } from "./agent/attempt";
import { vip } from "./layout";

const DEFAULT_TTL = 5;
/** As many connections as a load may make. */
const ENDLESS = 50_000;
/** Of load around what is measured: enough to see that nothing is lost without it, and what is lost afterwards. */
const LEAD_MS = 1_000, TAIL_MS = 3_000;

/** The GSLB. */
export class Dns {
    private readonly zone = new Map<string, DnsRecord>();

    constructor(private readonly agent: Agent) {}

    /** Answers with these addresses from now on; TTL 5 s by default. */
    addresses(host: string, addresses: readonly string[], more: Partial<Omit<AddressRecord, "kind" | "addresses">> = {}): Promise<void> {
        return this.set(host, { kind: "addresses", addresses, ttl: DEFAULT_TTL, ...more });
    }

    /** Fails in this way from now on. */
    fails(host: string, how: Exclude<DnsRecord["kind"], "addresses">): Promise<void> {
        return this.set(host, { kind: how });
    }

    async queries(since: number): Promise<readonly DnsQuery[]> {
        return this.agent.call("dnsQueries", { since });
    }

    async clear(): Promise<void> {
        this.zone.clear();
        await this.agent.call("dnsClear");
    }

    /** The first address that is answered now; the first VIP's where there is none. */
    first(host: string): string {
        const record = this.zone.get(host);
        return (record?.kind === "addresses" ? record.addresses.find((address) => !address.includes(":")) : undefined) ?? vip(1);
    }

    private async set(host: string, record: DnsRecord): Promise<void> {
        this.zone.set(host, record);
        await this.agent.call("dnsSet", { records: { [host]: record } });
    }
}

export class Vips {
    constructor(private readonly agent: Agent) {}

    /** The connections that were accepted since a time, with the ClientHello that each began with. */
    connections(since: number): Promise<readonly VipConnection[]> {
        return this.agent.call("vipsConnections", { since });
    }

    /** How many connections each VIP holds now. */
    open(): Promise<Readonly<Record<string, number>>> {
        return this.agent.call("vipsOpen");
    }

    behave(address: string, behaviour: VipBehaviour): Promise<void> {
        return this.agent.call("vipsBehave", { address, behaviour });
    }

    /** Ends open connections by RST: those of one address, or all. */
    reset(address?: string): Promise<void> {
        return this.agent.call("vipsReset", address === undefined ? {} : { address });
    }

    async clear(): Promise<void> {
        await this.agent.call("vipsReset", {});
        await this.agent.call("vipsClear");
    }
}

type Options = Partial<Omit<Target, "host" | "authority">>;

/** A connection that an application keeps. */
export interface Connection {
    readonly ask: (path?: string, timeoutMs?: number) => Promise<Exchange>;
    /** How and when the other side ended it; `open` when it had not within the time. */
    readonly end: (timeoutMs: number) => Promise<{ readonly how: "closed" | "reset" | "open"; readonly ms: number }>;
    readonly close: () => Promise<void>;
}

/** An HTTP/2 session that an application keeps. */
export interface Session extends Pick<Connection, "ask" | "close"> {
    /** Whether the server has ended it, or takes no new requests on it. */
    readonly isOver: () => Promise<boolean>;
}

/** An application in a pod with a sidecar: what it opens goes through the interception. */
export class App {
    constructor(private readonly agent: Agent, private readonly authority: string, private readonly dns: Dns) {}

    /** One connection and one request to a host. It is dialled by the address that DNS answers first, unless an address is given. */
    request(host: string, options: Options = {}): Promise<Exchange> {
        return this.agent.call("request", this.target(host, options));
    }

    async connect(host: string, options: Options = {}): Promise<Connection> {
        const id = await this.agent.call("connectionOpen", this.target(host, options));
        return {
            ask: (path, timeoutMs) => this.agent.call("connectionAsk", { id, ...(path === undefined ? {} : { path }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
            end: (timeoutMs) => this.agent.call("connectionEnd", { id, timeoutMs }),
            close: () => this.agent.call("connectionClose", { id }),
        };
    }

    /** An HTTP/2 session that stays; requests on it may run side by side. */
    async session(host: string, options: Options = {}): Promise<Session> {
        const id = await this.agent.call("sessionOpen", this.target(host, options));
        return {
            ask: (path, timeoutMs) => this.agent.call("sessionAsk", { id, ...(path === undefined ? {} : { path }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
            isOver: () => this.agent.call("sessionOver", { id }),
            close: () => this.agent.call("sessionClose", { id }),
        };
    }

    /**
     * Load for as long as something else takes, from a little before it begins until a little after it has ended.
     * What happens meanwhile is at the seconds `from` to `until` of the timeline.
     */
    async during<Value>(host: string, load: Pick<Load, "pace"> & Options, action: () => Promise<Value>): Promise<{ readonly load: LoadResult; readonly value: Value; readonly from: number; readonly until: number }> {
        const id = randomUUID(), begin = Date.now(), running = this.agent.call("load", { ...load, ...this.target(host, load), count: ENDLESS, id });
        const second = (): number => Math.round((Date.now() - begin) / 100) / 10;
        try {
            await wait(LEAD_MS);
            const from = second(), value = await action(), until = second();
            await wait(TAIL_MS);
            await this.agent.call("loadEnd", { id });
            return { load: await running, value, from, until };
        } catch (error) {
            await this.agent.call("loadEnd", { id });
            await running.catch(() => undefined);
            throw error;
        }
    }

    /** Ends every load, also one whose test has gone. */
    endLoads(): Promise<void> {
        return this.agent.call("loadEnd", {});
    }

    load(host: string, load: Pick<Load, "count" | "pace" | "maxMs"> & Options): Promise<LoadResult> {
        return this.agent.call("load", { ...load, ...this.target(host, load) });
    }

    /** Plain TCP: waits for the server's greeting, sends a line, and returns what came. */
    talkPlain(address: string, port: number, line: string): Promise<readonly string[]> {
        return this.agent.call("talkPlain", { address, port, line });
    }

    private target(host: string, options: Options): Target {
        const { address, ...rest } = options;
        return { ...rest, host, authority: this.authority, address: address ?? this.dns.first(host) };
    }
}
