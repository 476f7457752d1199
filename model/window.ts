// The loss window W: how long new connections would fail after an address dies; and the drain wait of a planned failover.
import type { Declaration } from "./declaration";
import { formatDuration, milliseconds } from "./duration";
import { GuardVerdict, judgeGuard } from "./guard";
import { DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_OUTLIER, connectTimeoutMs, decideOutlier } from "./outlier";
import { Membership, Resolution, resolutionOf } from "./resolution";
import { standbyAddresses } from "./standby";

/** istiod's PILOT_DNS_JITTER_DURATION, 100 ms by default (istio pilot/pkg/features), added to each refresh. */
export const DNS_JITTER_MS = 100;

export const WindowEnd = {
    /** Failures end when the GSLB's new answer has reached the proxy. */
    Gslb: "gslb",
    /** Failures end when the dead address is ejected; the others serve. */
    Ejection: "ejection",
    /** Failures end when the dead address is ejected; the standby addresses serve. */
    Standby: "standby",
    /** Envoy tries the answer's next address by itself. */
    HappyEyeballs: "happy-eyeballs",
    /** The application's resolver decides. */
    Application: "application",
    /** Nothing that is declared says when. */
    Unknown: "unknown",
} as const;
export type WindowEnd = (typeof WindowEnd)[keyof typeof WindowEnd];

export interface WindowPart {
    readonly name: string;
    readonly ms: number;
    readonly reason: string;
}

export interface LossWindow {
    /** What ends the failures. */
    readonly endsBy: WindowEnd;
    /** Upper bound in milliseconds; absent when it cannot be known, or when it ends by a count of failures. */
    readonly ms?: number;
    readonly parts: readonly WindowPart[];
    /** One sentence for people. */
    readonly text: string;
}

export interface DrainWait {
    /** How long the old address must go on serving after the DNS change, in milliseconds; absent when unknown. */
    readonly ms?: number;
    readonly parts: readonly WindowPart[];
    readonly text: string;
}

/** How long after the address records change the proxy may still connect to the old address. */
function propagation(failover: NonNullable<Declaration["failover"]>): readonly WindowPart[] {
    const ttl = milliseconds(failover.dnsTtl);
    return [
        { name: "dnsTtl", ms: ttl, reason: "a resolver between the GSLB and the proxy keeps the old answer for its TTL" },
        failover.envoyRefresh === undefined
            ? { name: "envoyRefresh", ms: ttl + DNS_JITTER_MS, reason: `Envoy keeps the answer for the TTL again and adds istiod's DNS jitter (${DNS_JITTER_MS} ms)` }
            : { name: "envoyRefresh", ms: milliseconds(failover.envoyRefresh), reason: "declared" },
    ];
}

const total = (parts: readonly WindowPart[]): number => parts.reduce((sum, part) => sum + part.ms, 0);
const spell = (parts: readonly WindowPart[]): string => parts.map((part) => `${part.name} ${formatDuration(part.ms)}`).join(" + ");

/** How long the GSLB and DNS take to answer another address, as declared: detection, TTL and refresh; undefined where nothing is declared. */
export function declaredWindowMs({ failover }: Pick<Declaration, "failover">): number | undefined {
    return failover === undefined ? undefined : milliseconds(failover.detectionTime) + total(propagation(failover));
}

/** W of a declaration when one address dies without notice. */
export function lossWindow(declaration: Declaration): LossWindow {
    const { pool, failover } = declaration;
    const { resolution } = resolutionOf(declaration), addresses = pool.addressesPerAnswer ?? 1, timeout = connectTimeoutMs(declaration);
    if (resolution === Resolution.None) {
        return { endsBy: WindowEnd.Application, parts: [], text: "until the application's own resolver answers another address: the proxy has no list for a wildcard" };
    }
    if (resolution === Resolution.DnsRoundRobin && (pool.addressesPerAnswer === undefined || addresses > 1)) {
        const text = "no connection fails while the answer holds a live address beside a dead one; each new one waits 0.3 s for a dead first address (happy eyeballs; measured with two: 0 of 300 failed)";
        return { endsBy: WindowEnd.HappyEyeballs, parts: [], text, ...(pool.addressesPerAnswer === undefined ? {} : { ms: 0 }) };
    }
    const outlier = decideOutlier(declaration);
    if (outlier.emitted && standbyAddresses(declaration) !== undefined) return standbyWindow(outlier.settings.consecutiveLocalOriginFailures, timeout);
    if (addresses > 1 && outlier.emitted) {
        const { settings } = outlier, guard = judgeGuard(addresses, settings.maxEjectionPercent, settings.minHealthPercent);
        if (!guard.verdicts.includes(GuardVerdict.Inert)) return ejectionWindow(addresses, settings.consecutiveLocalOriginFailures, timeout);
    }
    if (failover === undefined) {
        return { endsBy: WindowEnd.Unknown, parts: [], text: "unknown: declare failover.detectionTime and failover.dnsTtl" };
    }
    const parts = [{ name: "detectionTime", ms: milliseconds(failover.detectionTime), reason: "the GSLB answers the dead address until it has noticed" }, ...propagation(failover)];
    const share = addresses > 1 ? `until then about one in ${addresses} new connections goes to the dead address, since nothing ejects it` : "there is no other address to go to until then";
    return { endsBy: WindowEnd.Gslb, ms: total(parts), parts, text: `${formatDuration(total(parts))} = ${spell(parts)}; ${share}` };
}

/** How long it lasts depends on the rate of connections: it has a count, and no time. */
function ejectionWindow(addresses: number, threshold: number, timeout: number): LossWindow {
    const isMeasured = addresses === 2 && threshold === DEFAULT_OUTLIER.consecutiveLocalOriginFailures && timeout === DEFAULT_CONNECT_TIMEOUT_MS;
    return {
        endsBy: WindowEnd.Ejection,
        parts: [{ name: "connectTimeout", ms: timeout, reason: `each of the ${threshold} failures that eject the address lasts this long when its packets are dropped, less when it refuses` }],
        text: `until ${threshold} connections in a row to the dead address have failed and it is ejected (each fails within ${formatDuration(timeout)}${isMeasured ? "; measured with 8 at a time: 8 of 600 dropped, 4 of 600 refused" : ""}), and again at each re-admission while DNS still answers it`,
    };
}

/** The same count, twice: as an address that DNS answers, and as one that stands by. */
function standbyWindow(threshold: number, timeout: number): LossWindow {
    return {
        endsBy: WindowEnd.Standby,
        parts: [{ name: "connectTimeout", ms: timeout, reason: `each of the ${threshold} failures that eject the address, in either priority, lasts this long when its packets are dropped, less when it refuses` }],
        text: `until ${threshold} connections in a row to the dead address have failed and it is ejected, and as many more where it also stands by (each fails within ${formatDuration(timeout)}); then the standby addresses serve, whatever the GSLB does`,
    };
}

/** How long the old address must stay up after a planned change of the address records. */
export function drainWait({ failover, pool }: Declaration): DrainWait {
    if (pool.membership === Membership.Rotating) return { parts: [], text: "none to plan: a rotating pool has no old address, and a connection lasts until it is closed" };
    const judge = "judge it by the old address's own connection count, never by DNS";
    if (failover === undefined) return { parts: [], text: `unknown: declare failover.dnsTtl and failover.longestConnection; ${judge}` };
    const before = propagation(failover);
    if (failover.longestConnection === undefined) {
        return { parts: before, text: `${formatDuration(total(before))} (${spell(before)}) until no new connection goes to the old address, then as long as the applications keep theirs (declare failover.longestConnection); ${judge}` };
    }
    const parts = [...before, { name: "longestConnection", ms: milliseconds(failover.longestConnection), reason: "a connection opened just before the change lives this long; neither resolution cuts it" }];
    return { ms: total(parts), parts, text: `${formatDuration(total(parts))} = ${spell(parts)}; ${judge}` };
}
