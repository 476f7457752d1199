// Outlier detection of a host and of the gateway hop: the settings in force, and whether they can have any effect.
import type { Declaration } from "./declaration";
import { milliseconds } from "./duration";
import { DEFAULT_MAX_EJECTION_PERCENT, DEFAULT_MIN_HEALTH_PERCENT } from "./guard";
import { Membership, Resolution, resolutionOf } from "./resolution";
import { STANDBY_CONNECT_TIMEOUT_MS, countedHosts, standbyAddresses, standbyEjectionPercent } from "./standby";

/** Settings of Istio's OutlierDetection for an L4 path, where only connect failures and time-outs count. */
export interface OutlierSettings {
    readonly consecutiveLocalOriginFailures: number;
    readonly intervalMs: number;
    readonly baseEjectionTimeMs: number;
    readonly maxEjectionPercent: number;
    readonly minHealthPercent: number;
}

/** The field documents' settings (51.7 % failed connections became 0.21 %), with minHealthPercent 1: see guard.ts. */
export const DEFAULT_OUTLIER: OutlierSettings = {
    consecutiveLocalOriginFailures: 3,
    intervalMs: 5000,
    baseEjectionTimeMs: 30_000,
    maxEjectionPercent: DEFAULT_MAX_EJECTION_PERCENT,
    minHealthPercent: DEFAULT_MIN_HEALTH_PERCENT,
};

/** The field documents' connect timeout; with Istio's own 10 s each connection to a silent address costs 10 s (lab). */
export const DEFAULT_CONNECT_TIMEOUT_MS = 1000;

/** Why outlier detection is nothing under LOGICAL_DNS. */
export const EJECTION_OF_LOGICAL = "LOGICAL_DNS has one host, so an ejection is inert below 100 % and total at 100 %";

export type OutlierDecision =
    | { readonly emitted: true; readonly settings: OutlierSettings; readonly reason: string }
    | { readonly emitted: false; readonly reason: string };

/** Whether the host's DestinationRule carries outlier detection, with what settings, and why. */
export function decideOutlier(declaration: Declaration): OutlierDecision {
    const { resolution } = resolutionOf(declaration);
    if (resolution === Resolution.None) return { emitted: false, reason: "the sidecar connects to the address that the application resolved, and has no other to go to" };
    if (resolution === Resolution.DnsRoundRobin) {
        return { emitted: false, reason: EJECTION_OF_LOGICAL };
    }
    if (declaration.pool.membership === Membership.Rotating && declaration.outlier === undefined) {
        return { emitted: false, reason: "a rotating pool loses an address and its ejection state at each answer" };
    }
    return { emitted: true, settings: settingsOf(declaration), reason: "a dead address is ejected after its first failures and the others serve" };
}

function settingsOf(declaration: Declaration): OutlierSettings {
    const { outlier } = declaration, hosts = standbyAddresses(declaration) === undefined ? undefined : countedHosts(declaration);
    return {
        consecutiveLocalOriginFailures: outlier?.consecutiveLocalOriginFailures ?? DEFAULT_OUTLIER.consecutiveLocalOriginFailures,
        intervalMs: outlier?.interval === undefined ? DEFAULT_OUTLIER.intervalMs : milliseconds(outlier.interval),
        baseEjectionTimeMs: outlier?.baseEjectionTime === undefined ? DEFAULT_OUTLIER.baseEjectionTimeMs : milliseconds(outlier.baseEjectionTime),
        maxEjectionPercent: outlier?.maxEjectionPercent ?? (hosts === undefined ? DEFAULT_OUTLIER.maxEjectionPercent : standbyEjectionPercent(hosts)),
        minHealthPercent: outlier?.minHealthPercent ?? DEFAULT_OUTLIER.minHealthPercent,
    };
}

export function connectTimeoutMs(declaration: Declaration): number {
    if (declaration.connectTimeout !== undefined) return milliseconds(declaration.connectTimeout);
    return standbyAddresses(declaration) === undefined ? DEFAULT_CONNECT_TIMEOUT_MS : STANDBY_CONNECT_TIMEOUT_MS;
}
