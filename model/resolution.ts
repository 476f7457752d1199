// Pool → resolution: whether an address that is missing from a DNS answer means something decides Envoy's discovery.
import type { Declaration } from "./declaration";
import { parseHost } from "./host";

export const Membership = {
    /** A small, known set of addresses: one that is missing from the answer is a failover signal. */
    Fixed: "fixed",
    /** A large pool of which each answer is a sample: a missing address only was not drawn. */
    Rotating: "rotating",
} as const;
export type Membership = (typeof Membership)[keyof typeof Membership];

export const Resolution = {
    /** Envoy STRICT_DNS: the answer is the list of endpoints. */
    Dns: "DNS",
    /** Envoy LOGICAL_DNS: one logical host, whose address is that of the latest answer. */
    DnsRoundRobin: "DNS_ROUND_ROBIN",
    /** Envoy ORIGINAL_DST on a sidecar: the address that the application resolved itself. */
    None: "NONE",
} as const;
export type Resolution = (typeof Resolution)[keyof typeof Resolution];

/** Istio 1.30+: with this value on the ServiceEntry `resolution: DNS` becomes LOGICAL_DNS. */
export const CONNECT_STRATEGY_ANNOTATION = "istio.io/connect-strategy";
export const RACE_FIRST_TCP_CONNECT = "RACE_FIRST_TCP_CONNECT";

/** The largest answer that a fixed pool is expected to have; beyond it a pool is a rotating one in all but name. */
export const MAX_ADDRESSES_PER_ANSWER = 100;

/** What LOGICAL_DNS takes from a fixed pool. It does not lose connections: 0 of 300 with the first address dead (lab). */
export const LOGICAL_ON_FIXED_POOL =
    "LOGICAL_DNS spreads nothing over the addresses, keeps no address list in which a failover is recorded or from which a dead address is ejected, and with a dead first address depends on Envoy's happy eyeballs (+0.3 s for each new connection)";

/** What STRICT_DNS makes of a rotating pool. */
export const STRICT_ON_ROTATING_POOL =
    "STRICT_DNS takes each answer for the whole list: addresses that were merely not drawn are removed with their ejection state, and the list churns at every answer";

const REASONS: Readonly<Record<Membership, string>> = {
    fixed: "the pool is fixed, so an address that is missing from the DNS answer is a failover signal: STRICT_DNS records it, spreads over all addresses and can eject a dead one",
    rotating: "the pool is rotating, so an address that is missing from the DNS answer only was not drawn: LOGICAL_DNS uses the latest answer and keeps no list that would churn",
};

export interface ResolutionDecision {
    readonly resolution: Resolution;
    /** Why, as a clause that docs, errors and the plan reuse. */
    readonly reason: string;
    /** What is lost, when the declaration forces another resolution than its pool calls for. */
    readonly consequence?: string;
}

/** The resolution that a pool calls for. */
export function resolutionFor(membership: Membership): ResolutionDecision {
    return { resolution: membership === Membership.Fixed ? Resolution.Dns : Resolution.DnsRoundRobin, reason: REASONS[membership] };
}

/** The resolution in force: the forced one with its consequence, or the pool's own. A wildcard is never resolved by the proxy. */
export function decideResolution(pool: { readonly membership: Membership }, forced: Resolution | undefined, wildcard: boolean): ResolutionDecision {
    if (wildcard) {
        return {
            resolution: Resolution.None,
            reason: "a wildcard has no DNS answer of its own, so the sidecar connects to the address that the application resolved (ORIGINAL_DST)",
        };
    }
    const own = resolutionFor(pool.membership);
    if (forced === undefined || forced === own.resolution) return own;
    return { resolution: forced, reason: "the declaration forces it", consequence: consequenceOf(forced, pool.membership) };
}

/** The resolution of a declaration. */
export function resolutionOf(declaration: Declaration): ResolutionDecision {
    return decideResolution(declaration.pool, declaration.resolution, isWildcard(declaration.host));
}

export function isWildcard(host: string): boolean {
    const verdict = parseHost(host);
    return verdict.ok && verdict.host.wildcard;
}

/** What a resolution costs on a kind of pool; undefined when it is the right one. */
export function consequenceOf(resolution: Resolution, membership: Membership): string | undefined {
    if (resolution === Resolution.DnsRoundRobin && membership === Membership.Fixed) return LOGICAL_ON_FIXED_POOL;
    if (resolution === Resolution.Dns && membership === Membership.Rotating) return STRICT_ON_ROTATING_POOL;
    return undefined;
}

/**
 * The Envoy discovery that a ServiceEntry gets, as far as pools are concerned: the annotation turns DNS into LOGICAL
 * as well, which a look at `spec.resolution` alone misses.
 */
export function isLogicalDns(resolution: string | undefined, annotations: Readonly<Record<string, unknown>>): boolean {
    return resolution === Resolution.DnsRoundRobin
        || (resolution === Resolution.Dns && annotations[CONNECT_STRATEGY_ANNOTATION] === RACE_FIRST_TCP_CONNECT);
}
