// Waiting instead of failing: the gateway tries again for as long as a failover can last, before any byte has left. Envoy's
// TCP proxy does so by max_connect_attempts and backoff_options, which Istio exposes nowhere but in an EnvoyFilter; its router
// repeats requests by the fields of a VirtualService.
import { type Declaration, EnvoyFilters, OnConnectFailure } from "./declaration";
import { formatDuration } from "./duration";
import { LAST_KNOWN_OVERPROVISIONING, keepsLastKnown } from "./empty-answer";
import { compareIstio, formatIstio, parseIstioVersion } from "./istio";
import { connectTimeoutMs } from "./outlier";
import { carriesRequestsOnly, hasProtocol } from "./ports";
import type { Path, Problems } from "./problem";
import { Resolution, resolutionOf } from "./resolution";
import { Protocol, isMutualToGateway, usesGateway } from "./routes";
import { standbyAddresses, standbyOverprovisioning } from "./standby";
import { declaredWindowMs } from "./window";

/** Envoy's exponential back-off with full jitter: each pause is uniform in [0, interval), and the interval doubles up to the longest. */
export interface BackOff {
    readonly baseMs: number;
    readonly maxMs: number;
}

/**
 * Between two attempts of one connection. 50 ms: with several addresses the next one is tried at once, as long as the chain is fresh
 * (see `worn`). 1 s at most: what becomes reachable is found within two seconds (a pause and an attempt), and a connection that is
 * refused at once costs about two attempts a second.
 */
export const WAIT_BACK_OFF: BackOff = { baseMs: 50, maxMs: 1000 };

/**
 * The back-off of a chain that has seen failures. Envoy's TCP proxy keeps one for all connections of a chain and never takes it back to its base
 * (envoyproxy/envoy, source/common/tcp_proxy/tcp_proxy.cc: nextBackOffMs of the shared configuration, no reset), so that after a few failures
 * every pause is as long as the longest can be. Measured: a refused address that is admitted again made one connection wait for 0.75 to 0.87 s
 * in each of three runs, and 0.11 to 0.2 s when the chain was new. Its router keeps one for each request.
 */
export const worn = ({ maxMs }: BackOff): BackOff => ({ baseMs: maxMs, maxMs });

/** What a back-off comes to in use: of requests as it is written, of connections worn. */
export const backOffInUse = (backOff: BackOff, isOfRequests: boolean): BackOff => (isOfRequests ? backOff : worn(backOff));

/** Between two attempts of one request: Envoy's router takes ten times the base as the longest pause, and a VirtualService has no field for another. */
export const REQUEST_BACK_OFF: BackOff = { baseMs: 100, maxMs: 1000 };

/** The oldest Istio whose VirtualService has `retries.backoff` (istio.io/api 1.26.0); without it all attempts of a request are over within seconds. */
export const REQUEST_BACK_OFF_SINCE = { major: 1, minor: 26 } as const;

/** How often a request that could not be sent is repeated where nothing waits: Istio's own number. */
export const REQUEST_RETRIES = 2;

/** A GSLB that is a little slower than declared, and an attempt or two that are on their way. */
export const WAIT_MARGIN_MS = 5000;

/** A connection that waits holds two sockets; beyond five minutes no application waits. */
export const LONGEST_BUDGET_MS = 300_000;

/** The share of refused connections that may run out of attempts before the budget has passed. */
export const RUN_OUT_PROBABILITY = 1e-6;

/** A sidecar whose connection to a gateway pod fails tries the next pod: 8 of 400 failed with outlier detection alone, 0 with these (measured). */
export const HOP_RETRY = { attempts: 5, backOff: { baseMs: 50, maxMs: 500 } } as const;

/**
 * The oldest Istio whose Envoy is known to have `backoff_options`: its API has them since January 2025 (go-control-plane 1.32.4).
 * An older one would refuse the filter, or the whole listener, so that none is written for it.
 */
export const BACK_OFF_SINCE = { major: 1, minor: 25 } as const;

/** Envoy asks again that often while DNS answers nothing; Istio's dnsRefreshRate is 60 s, so that one empty answer costs a minute (measured). */
export const DNS_RETRY_MS = 1000;

/** The longest that the pause after the given failure, counted from 0, can be. */
export function longestPause(failure: number, { baseMs, maxMs }: BackOff): number {
    return failure > 30 ? maxMs : Math.min(baseMs * 2 ** failure, maxMs);
}

/**
 * An upper bound (Chernoff's) for the natural logarithm of the probability that all attempts are over before the budget has
 * passed, when each of them fails at once. The pauses' sum has no lower bound that is certain: each may be 0.
 */
export function logRunOut(attempts: number, budgetMs: number, backOff: BackOff): number {
    const pauses = attempts - 1;
    if (pauses <= 0) return 0;
    const shorter: number[] = [];
    while (shorter.length < pauses && longestPause(shorter.length, backOff) < backOff.maxMs) shorter.push(longestPause(shorter.length, backOff));
    const bound = (t: number): number => {
        const logMean = (longest: number): number => Math.log(-Math.expm1(-t * longest) / (t * longest));
        return t * budgetMs + shorter.reduce((sum, longest) => sum + logMean(longest), 0) + (pauses - shorter.length) * logMean(backOff.maxMs);
    };
    // Convex in t, with its least value below pauses / budget.
    let low = 0, high = pauses / budgetMs;
    for (let step = 0; step < 60; step++) {
        const left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (bound(left) < bound(right)) high = right;
        else low = left;
    }
    return Math.min(0, bound((low + high) / 2));
}

/** The fewest attempts of which at most one refused connection in a million runs out before the budget has passed. */
export function attemptsFor(budgetMs: number, backOff: BackOff = WAIT_BACK_OFF): number {
    const key = `${budgetMs} ${backOff.baseMs} ${backOff.maxMs}`, known = ATTEMPTS.get(key) ?? computeAttempts(budgetMs, backOff);
    if (ATTEMPTS.size < 1000) ATTEMPTS.set(key, known);
    return known;
}

/** Declarations ask again and again for the same few windows. */
const ATTEMPTS = new Map<string, number>();

function computeAttempts(budgetMs: number, backOff: BackOff): number {
    const isEnough = (attempts: number): boolean => logRunOut(attempts, budgetMs, backOff) <= Math.log(RUN_OUT_PROBABILITY);
    let few = 1, many = 2;
    while (!isEnough(many)) [few, many] = [many, many * 2];
    while (many - few > 1) {
        const middle = Math.floor((few + many) / 2);
        if (isEnough(middle)) many = middle;
        else few = middle;
    }
    return many;
}

/** How long a connection can be held at most whose packets are dropped, so that each attempt lasts the connect timeout. */
export function longestHold(attempts: number, timeoutMs: number, backOff: BackOff = WAIT_BACK_OFF): number {
    let total = attempts * timeoutMs;
    for (let failure = 0; failure < attempts - 1; failure++) total += longestPause(failure, backOff);
    return total;
}

export interface Waiting {
    /** How long the gateway goes on trying at least: the declared window and a margin. */
    readonly budgetMs: number;
    readonly attempts: number;
    readonly backOff: BackOff;
    /**
     * The time-out of the handshake on the gateway's chain, which would cut the waiting: with ISTIO_MUTUAL it is mostly not finished before the
     * host is reached. Some connections wait on all the same (measured; their share: timeline/settings.ts).
     */
    readonly handshakeTimeoutMs?: number;
    /** When a connection fails at the latest: when all its attempts have lasted as long as they can. */
    readonly longestHoldMs: number;
}

export type WaitingDecision =
    | { readonly waits: true; readonly waiting: Waiting; readonly reason: string }
    | { readonly waits: false; readonly reason: string };

/** Whether new connections wait for a failover, for how long, and why; where all ports are HTTP, whether requests do. */
export function decideWaiting(declaration: Declaration): WaitingDecision {
    const { route, gateway } = declaration, version = parseIstioVersion(gateway?.istioVersion ?? "");
    if (carriesRequestsOnly(declaration)) return decideRequestWaiting(declaration);
    return decide(declaration, { backOff: WAIT_BACK_OFF, isOfRequests: false, hasHandshake: isMutualToGateway(route) }, () => {
        if (gateway?.envoyFilters === EnvoyFilters.Forbidden) return "the gateway forbids EnvoyFilters, and Istio has no other field for connect attempts";
        return version !== undefined && compareIstio(version, BACK_OFF_SINCE) < 0 ? `the Envoy of Istio ${formatIstio(version)} is not known to have connect attempts with a back-off, which ${formatIstio(BACK_OFF_SINCE)} has` : undefined;
    });
}

/** Where decideWaiting is about the connections of other ports: what the requests of the HTTP ports beside them do, which wait by other means. */
export function decideWaitingBeside(declaration: Declaration): WaitingDecision | undefined {
    return carriesRequestsOnly(declaration) || !hasProtocol(declaration, Protocol.Http) ? undefined : decideRequestWaiting(declaration);
}

/** The same for requests of HTTP ports, which the gateway repeats by the VirtualService's own fields. */
export function decideRequestWaiting(declaration: Declaration): WaitingDecision {
    const version = parseIstioVersion(declaration.gateway?.istioVersion ?? "");
    return decide(declaration, { backOff: REQUEST_BACK_OFF, isOfRequests: true, hasHandshake: false }, () => version !== undefined && compareIstio(version, REQUEST_BACK_OFF_SINCE) < 0
        ? `the VirtualService of Istio ${formatIstio(version)} has no back-off for retries, which ${formatIstio(REQUEST_BACK_OFF_SINCE)} has: a request is repeated twice on connect failure, and then answered with 503` : undefined);
}

/** How a kind of port is tried again: the back-off, what is repeated, and whether the handshake with the gateway waits too. */
interface Means {
    readonly backOff: BackOff;
    readonly isOfRequests: boolean;
    readonly hasHandshake: boolean;
}

function decide(declaration: Declaration, { backOff, isOfRequests, hasHandshake }: Means, obstacle: () => string | undefined): WaitingDecision {
    const { failover, route, gateway } = declaration, window = declaredWindowMs(declaration);
    if (!usesGateway(route) || gateway === undefined) return { waits: false, reason: `route ${route} has no gateway that could wait` };
    if (failover === undefined || window === undefined) return { waits: false, reason: "how long a failover takes is not declared (failover)" };
    if (failover.onConnectFailure === OnConnectFailure.Fail) return { waits: false, reason: "the declaration says fail" };
    const reason = obstacle();
    if (reason !== undefined) return { waits: false, reason };
    const timeout = connectTimeoutMs(declaration), budgetMs = Math.min(window + WAIT_MARGIN_MS, LONGEST_BUDGET_MS), attempts = attemptsFor(budgetMs, backOff);
    // An attempt that begins at the end of the budget may still finish.
    const handshake = Math.ceil((budgetMs + timeout + backOff.maxMs) / 1000) * 1000;
    return {
        waits: true,
        waiting: { budgetMs, attempts, backOff, longestHoldMs: longestHold(attempts, timeout, backOffInUse(backOff, isOfRequests)), ...(hasHandshake ? { handshakeTimeoutMs: handshake } : {}) },
        reason: budgetMs < window + WAIT_MARGIN_MS
            ? `the declared window of ${formatDuration(window)} is longer than applications wait, so that the gateway tries for ${formatDuration(budgetMs)} only`
            : `the declared window of ${formatDuration(window)} and a margin of ${formatDuration(WAIT_MARGIN_MS)}`,
    };
}

/** How often a request that could not be sent is repeated, and the base of the back-off; without one it is Envoy's, 25 ms. */
export interface RequestRetries {
    readonly retries: number;
    readonly backOffMs?: number;
}

/** What the gateway and the sidecar repeat of HTTP ports: the gateway for as long as a failover lasts, the sidecar as for connections (HOP_RETRY). */
export function decideRequestRetries(declaration: Declaration, at: "gateway" | "sidecar"): RequestRetries {
    const decision = decideRequestWaiting(declaration);
    if (!decision.waits) return { retries: REQUEST_RETRIES };
    const { attempts, backOff } = at === "gateway" ? decision.waiting : HOP_RETRY;
    return { retries: attempts - 1, backOffMs: backOff.baseMs };
}

export function checkWaiting(problems: Problems, { failover, route }: Declaration): void {
    if (failover?.onConnectFailure !== OnConnectFailure.Wait || usesGateway(route)) return;
    const at: Path = ["failover", "onConnectFailure"];
    problems.add(at, `is "wait", but with route ${route} there is no gateway that could wait: remove it, or choose route mtls-passthrough.`, [["route"]]);
}

/** What is set at the host's cluster in the gateway beside the DestinationRule's fields. */
export interface ClusterSettings {
    /** How soon Envoy asks again after an answer without addresses. */
    readonly dnsRetryMs: number;
    /** The factor of available hosts, where other addresses stand behind what DNS answers. */
    readonly overprovisioning?: number;
}

/** What Istio's fields do not say of the host's cluster; undefined where nothing is to be said, or nothing may be. */
export function decideCluster(declaration: Declaration): ClusterSettings | undefined {
    const { route, gateway, pool } = declaration, overprovisioning = standbyAddresses(declaration) !== undefined ? standbyOverprovisioning(pool.addressesPerAnswer ?? 1) : keepsLastKnown(declaration) ? LAST_KNOWN_OVERPROVISIONING : undefined;
    if (!usesGateway(route) || gateway === undefined || gateway.envoyFilters === EnvoyFilters.Forbidden) return undefined;
    if (resolutionOf(declaration).resolution !== Resolution.Dns) return undefined;
    if (overprovisioning === undefined && !decideWaiting(declaration).waits) return undefined;
    return { dnsRetryMs: DNS_RETRY_MS, ...(overprovisioning === undefined ? {} : { overprovisioning }) };
}

/** What is lost where the gateway forbids EnvoyFilters; each a sentence. */
export function lostWithoutFilters(declaration: Declaration): readonly string[] {
    const { gateway, failover } = declaration;
    if (gateway?.envoyFilters !== EnvoyFilters.Forbidden) return [];
    const allowed: Declaration = { ...declaration, gateway: { ...gateway, envoyFilters: EnvoyFilters.Allowed } }, waits = decideWaiting(allowed);
    return [
        ...(failover !== undefined && waits.waits && !decideWaiting(declaration).waits ? [`new connections${decideWaitingBeside(declaration) === undefined ? "" : " of ports other than HTTP"} fail in a failover instead of waiting for up to ${formatDuration(waits.waiting.budgetMs)}, since the gateway forbids EnvoyFilters.`] : []),
        ...(standbyAddresses(declaration) === undefined ? [] : ["the first connections to a dead address fail until it is ejected (measured: up to 31 of 500), and with several addresses standby ones are used as soon as the healthy share falls below 72 %, since the gateway forbids EnvoyFilters.", "an empty DNS answer is asked again after dnsRefreshRate (60 s) only, and standby addresses serve until then, since the gateway forbids EnvoyFilters."]),
    ];
}
