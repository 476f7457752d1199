// What a declaration makes a proxy do with new connections, with each of its devices and without.
import type { Declaration } from "../declaration";
import { keepsLastKnown } from "../empty-answer";
import { LoadBalancer } from "../load-balancer";
import { connectTimeoutMs, decideOutlier } from "../outlier";
import { carriesRequestsOnly } from "../ports";
import { Resolution, resolutionOf } from "../resolution";
import { isMutualToGateway, usesGateway } from "../routes";
import { standbyAddresses } from "../standby";
import { REQUEST_RETRIES, type Waiting, backOffInUse, decideCluster, decideWaiting } from "../waiting";
import { Fault, type ProxySettings } from "./simulate";

export const Device = {
    Outlier: "outlier detection",
    Waiting: "waiting",
    Standby: "standby addresses",
} as const;
export type Device = (typeof Device)[keyof typeof Device];

/** Envoy's update_merge_window. */
const MERGE_WINDOW_MS = 1000;
/** Istio's time-out for the handshake with the gateway, which with ISTIO_MUTUAL waits for the host (measured). */
export const HANDSHAKE_CUT_MS = 15_000;
/**
 * With WAIT_BACK_OFF, the share of connections to a dead address whose handshake with the gateway is not finished, so that its time-out cuts them:
 * measured, 258 of 346 and 652 of 860 dropped ones, 314 of 326 and 768 of 800 refused ones. A later run, which is the committed one, had 294 and 736 dropped, 311 and 798
 * refused ones fail (docs/measurements/waiting-single.md).
 */
const HANDSHAKE_OPEN = { [Fault.Drop]: 0.75, [Fault.Refuse]: 0.96 } as const;
/** A request of an HTTP port where nothing waits: with Envoy's default back-off, a base of 25 ms. */
const HTTP_ATTEMPTS = { attempts: REQUEST_RETRIES + 1, backOff: { baseMs: 25, maxMs: 250 } } as const;

/** Why a declaration has no timeline. */
export function whyNoTimeline(declaration: Declaration): string | undefined {
    return resolutionOf(declaration).resolution === Resolution.None
        ? "a wildcard has no address list: each application connects to what its own resolver answers" : undefined;
}

function withoutStandby(declaration: Declaration): Declaration {
    return { ...declaration, pool: { ...declaration.pool, standbyAddresses: undefined } };
}

/** The devices that a declaration has. */
export function devicesOf(declaration: Declaration): readonly Device[] {
    const { emitted } = decideOutlier(declaration);
    return [
        ...(emitted ? [Device.Outlier] : []),
        ...(decideWaiting(declaration).waits ? [Device.Waiting] : []),
        ...(emitted && standbyAddresses(declaration) !== undefined ? [Device.Standby] : []),
    ];
}

/** The sets of devices that are worth comparing: nothing, one after the other, all. */
export function stepsOf(declaration: Declaration): readonly (readonly Device[])[] {
    const all = devicesOf(declaration), candidates: readonly (readonly Device[])[] = [[], [Device.Outlier], [Device.Outlier, Device.Waiting], [Device.Outlier, Device.Standby], all];
    const has = candidates.filter((devices) => devices.every((device) => all.includes(device)));
    return has.filter((devices, index) => has.findIndex((other) => other.join() === devices.join()) === index);
}

/** The proxy with these devices only, of those that the declaration has. */
export function proxySettings(full: Declaration, devices: readonly Device[] = devicesOf(full)): ProxySettings {
    const declaration = devices.includes(Device.Standby) ? full : withoutStandby(full);
    const outlier = decideOutlier(declaration), waiting = decideWaiting(declaration), cluster = decideCluster(full);
    const standby = devices.includes(Device.Standby) ? standbyAddresses(full) ?? [] : [];
    const isKept = keepsLastKnown(full), keepsList = resolutionOf(declaration).resolution === Resolution.Dns;
    return {
        keepsList, standby,
        loadBalancer: declaration.loadBalancer ?? (keepsList ? LoadBalancer.RoundRobin : LoadBalancer.LeastRequest),
        connectTimeoutMs: connectTimeoutMs(declaration),
        ...(devices.includes(Device.Outlier) && outlier.emitted ? { outlier: outlier.settings } : {}),
        ...attemptsOf(declaration, devices.includes(Device.Waiting) && waiting.waits ? waiting.waiting : undefined),
        ...((standby.length > 0 || isKept) && cluster?.overprovisioning !== undefined ? { overprovisioning: cluster.overprovisioning } : {}),
        ...(isKept ? { keepsLastKnown: true } : {}),
        mergeWindowMs: cluster !== undefined && devices.some((device) => device === Device.Waiting || device === Device.Standby) ? 0 : MERGE_WINDOW_MS,
    };
}

function attemptsOf(declaration: Declaration, waiting: Waiting | undefined): Pick<ProxySettings, "attempts" | "backOff" | "cutMs" | "cutShare"> {
    if (waiting !== undefined) return { attempts: waiting.attempts, backOff: backOffInUse(waiting.backOff, carriesRequestsOnly(declaration)), ...(waiting.handshakeTimeoutMs === undefined ? {} : { cutMs: waiting.handshakeTimeoutMs, cutShare: HANDSHAKE_OPEN }) };
    if (carriesRequestsOnly(declaration)) return HTTP_ATTEMPTS;
    return { attempts: 1, ...(usesGateway(declaration.route) && isMutualToGateway(declaration.route) ? { cutMs: HANDSHAKE_CUT_MS } : {}) };
}
