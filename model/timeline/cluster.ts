// A cluster as Envoy keeps it: hosts by priority, outlier detection, priority loads, panic, and who is chosen. The rules are
// those of Envoy's load balancers (load_balancer_impl) and of its outlier detector, in its own words where they have some.
import { LoadBalancer } from "../load-balancer";
import { OVERPROVISIONING } from "../guard";
import type { OutlierSettings } from "../outlier";

/** One address in one priority; an address that is in both is two hosts. A host that returns to the list is a new one. */
export interface Host {
    readonly address: string;
    readonly priority: number;
    /** Connect failures in a row. */
    failures: number;
    isEjected: boolean;
    ejectedAt: number;
    /** How often it was ejected, less the sweeps that it has passed in health: the factor of the ejection time. */
    ejections: number;
    /** Streams that it serves. */
    active: number;
}

export interface ClusterOptions {
    readonly loadBalancer: LoadBalancer;
    readonly outlier?: OutlierSettings;
    readonly workers: number;
    /** The factor by which the healthy share of a priority counts; Envoy's own is 140 %. */
    readonly overprovisioning?: number;
    /** The second priority is another cluster's: nothing of it is ejected, and it counts for no share of the first. */
    readonly keepsLastKnown?: boolean;
    readonly random: () => number;
}

/** Envoy's max_ejection_time, which Istio does not expose (facts of Envoy's outlier detection). */
const LONGEST_EJECTION_MS = 300_000;

interface Level {
    hosts: Host[];
    /** As the workers know it; they hear of changes later than the main thread makes them. */
    healthy: Host[];
    load: number;
    isInPanic: boolean;
}

export class Cluster {
    private levels: Level[] = [];
    /** Per worker, priority and source: where ROUND_ROBIN is. */
    private readonly turns = new Map<number, number>();
    ejections = 0;
    overflows = 0;

    constructor(private readonly options: ClusterOptions) {}

    get hosts(): readonly Host[] {
        return this.levels.flatMap(({ hosts }) => hosts);
    }

    /** A new list for a priority: who stays keeps its state. The workers have it at once. */
    setAddresses(priority: number, addresses: readonly string[]): void {
        while (this.levels.length <= priority) this.levels.push({ hosts: [], healthy: [], load: 0, isInPanic: false });
        const level = this.levels[priority];
        if (level === undefined) return;
        level.hosts = addresses.map((address) => level.hosts.find((host) => host.address === address)
            ?? { address, priority, failures: 0, isEjected: false, ejectedAt: 0, ejections: 0, active: 0 });
        this.publish(priority);
    }

    has(host: Host): boolean {
        return this.levels[host.priority]?.hosts.includes(host) === true;
    }

    /** The workers hear who of a priority is healthy. */
    publish(priority: number): void {
        const level = this.levels[priority];
        if (level !== undefined) level.healthy = level.hosts.filter(({ isEjected }) => !isEjected);
        this.spread();
    }

    /** Whether a host was ejected: it is, unless too many are already. */
    eject(host: Host, now: number): boolean {
        const { outlier, keepsLastKnown = false } = this.options, hosts = keepsLastKnown ? this.levels[0]?.hosts ?? [] : this.hosts;
        if (outlier === undefined || host.isEjected || !this.has(host) || keepsLastKnown && host.priority > 0) return false;
        host.failures = 0;
        const ejected = hosts.filter(({ isEjected }) => isEjected).length;
        if ((100 * (ejected + 1)) / hosts.length > outlier.maxEjectionPercent) {
            this.overflows += 1;
            return false;
        }
        host.isEjected = true;
        host.ejectedAt = now;
        if (outlier.baseEjectionTimeMs * (host.ejections + 1) < LONGEST_EJECTION_MS + outlier.baseEjectionTimeMs) host.ejections += 1;
        this.ejections += 1;
        return true;
    }

    /** The sweep of the ejection analysis; the hosts that it admits again. */
    sweep(now: number): readonly Host[] {
        const { outlier } = this.options, admitted: Host[] = [];
        if (outlier === undefined) return admitted;
        for (const host of this.hosts) {
            if (!host.isEjected) {
                host.ejections = Math.max(0, host.ejections - 1);
            } else if (now - host.ejectedAt >= Math.min(outlier.baseEjectionTimeMs * host.ejections, Math.max(LONGEST_EJECTION_MS, outlier.baseEjectionTimeMs))) {
                host.isEjected = false;
                host.failures = 0;
                admitted.push(host);
            }
        }
        return admitted;
    }

    /** The host for a new stream of a worker; undefined where none serves, which fails at once. */
    choose(worker: number): Host | undefined {
        const priority = this.choosePriority(), level = this.levels[priority];
        if (level === undefined) return undefined;
        const { hosts, healthy, isInPanic } = level, source = isInPanic ? hosts : healthy, { loadBalancer, random } = this.options;
        const any = (): Host | undefined => source[Math.floor(random() * source.length)];
        if (loadBalancer === LoadBalancer.RoundRobin) {
            const key = 4 * worker + 2 * priority + Number(isInPanic), turn = this.turns.get(key) ?? Math.floor(random() * 1000);
            this.turns.set(key, turn + 1);
            return source[turn % Math.max(1, source.length)];
        }
        if (loadBalancer === LoadBalancer.Random) return any();
        // LEAST_REQUEST: the less busy of two that are drawn.
        const first = any(), second = any();
        return first !== undefined && second !== undefined && second.active < first.active ? second : first;
    }

    private choosePriority(): number {
        if (this.options.keepsLastKnown === true) return (this.levels[0]?.load ?? 0) > 0 ? 0 : 1; // All or nothing, by the factor of LAST_KNOWN_OVERPROVISIONING.
        let left = this.options.random() * 100;
        return Math.max(0, this.levels.findIndex(({ load }) => (left -= load) < 0));
    }

    /** The loads of the priorities, and which are in panic. */
    private spread(): void {
        const { outlier, overprovisioning = OVERPROVISIONING } = this.options, threshold = outlier?.minHealthPercent ?? 0;
        const available = this.levels.map(({ hosts, healthy }) => (hosts.length === 0 ? 0 : Math.min(100, Math.floor((overprovisioning * healthy.length) / hosts.length))));
        const total = Math.min(100, available.reduce((sum, one) => sum + one, 0));
        let left = 100;
        this.levels.forEach((level, index) => {
            level.load = total === 0 ? 0 : Math.min(left, Math.floor((100 * (available[index] ?? 0)) / total));
            left -= level.load;
            level.isInPanic = total < 100 && (level.hosts.length === 0 ? 0 : (100 * level.healthy.length) / level.hosts.length) < threshold;
        });
        const [first] = this.levels, all = this.hosts.length;
        if (threshold > 0 && all > 0 && this.levels.every(({ isInPanic }) => isInPanic)) {
            for (const level of this.levels) level.load = (100 * level.hosts.length) / all;
        } else {
            // What rounding leaves goes to the first that has any; where nothing serves, the first answers for it.
            const taker = this.levels.find(({ load }) => load > 0) ?? first;
            if (taker !== undefined) taker.load += left;
        }
    }
}
