// The route table: which combinations of route, protocol, host and Istio version are supported; all else is refused
// with the nearest supported row.
import { type IstioVersion, OLDEST_ISTIO, MEASURED_ISTIO, compareIstio, formatIstio, parseIstioVersion } from "./istio";
import { show } from "./problem";
import { Membership } from "./resolution";

export const Route = {
    /** Application TLS inside the mesh's mTLS up to the gateway, which passes it through: identity and isolation per host. */
    MtlsPassthrough: "mtls-passthrough",
    /** Application TLS through the gateway, routed by SNI; no identity at the gateway. */
    Passthrough: "passthrough",
    /** The gateway opens TLS for plain HTTP clients. Not supported yet. */
    TlsOrigination: "tls-origination",
    /** From the sidecar straight to the host. */
    Direct: "direct",
} as const;
export type Route = (typeof Route)[keyof typeof Route];

export const Protocol = { Tls: "TLS", Https: "HTTPS", Http: "HTTP", Tcp: "TCP" } as const;
export type Protocol = (typeof Protocol)[keyof typeof Protocol];

export interface RouteRow {
    readonly route: Route;
    readonly protocol: Protocol;
    readonly hosts: "exact" | "wildcard";
    /** Behind a gateway the gateway's Service must have the same port. */
    readonly ports: "any";
    readonly pools: readonly Membership[];
    readonly since: IstioVersion;
    /** Where it was seen to work. */
    readonly source: string;
}

const ALL_POOLS = Object.values(Membership);
const LAB = `measured on Istio ${formatIstio(MEASURED_ISTIO)}`;

/** Every supported combination. */
export const ROUTE_TABLE: readonly RouteRow[] = [
    { route: Route.MtlsPassthrough, protocol: Protocol.Tls, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Passthrough, protocol: Protocol.Tls, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Direct, protocol: Protocol.Tls, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: "the field documents' own lab, Istio 1.30.0" },
    { route: Route.Direct, protocol: Protocol.Tls, hosts: "wildcard", ports: "any", pools: [Membership.Rotating], since: OLDEST_ISTIO, source: "Istio's sources: NONE is ORIGINAL_DST on a sidecar" },
];

/** What is known and not supported yet, with the reason. */
const REFUSED_ROUTES: Readonly<Partial<Record<Route, string>>> = {
    [Route.TlsOrigination]: "TLS origination at the gateway is not supported yet: its route has not carried traffic on the lab",
};
const REFUSED_PROTOCOLS: Readonly<Partial<Record<Protocol, string>>> = {
    [Protocol.Tcp]: "plain TCP ports are not supported yet: they need addresses that clients dial, and have not carried traffic on the lab",
    [Protocol.Http]: "plain HTTP ports are not supported yet: they need TLS origination at the gateway",
    [Protocol.Https]: "the application's own TLS is declared as TLS, the protocol that is routed by SNI without being opened",
};

export const WILDCARD_BEHIND_GATEWAY =
    "a wildcard cannot be routed through an egress gateway: Istio resolves a wildcard only with endpoints given, NONE is an empty cluster at a gateway, and DYNAMIC_DNS does not pass one";

export const usesGateway = (route: Route): boolean => route !== Route.Direct;

export interface RouteQuery {
    readonly route: Route;
    readonly protocol: Protocol;
    readonly wildcard: boolean;
    readonly membership: Membership;
    /** The gateway's Istio version, where the declaration has one. */
    readonly istioVersion?: string;
}

/** What the table refused: the dimension at fault, the reason, and the way out. */
export interface RouteRefusal {
    readonly at: "route" | "protocol" | "host" | "pool" | "istioVersion";
    readonly text: string;
}

/** Looks a combination up; undefined when it is supported. */
export function refuseRoute(query: RouteQuery): RouteRefusal | undefined {
    const hosts = query.wildcard ? "wildcard" : "exact";
    const row = ROUTE_TABLE.find((entry) => entry.route === query.route && entry.protocol === query.protocol && entry.hosts === hosts);
    if (row !== undefined && !row.pools.includes(query.membership)) {
        return { at: "pool", text: `is ${show(query.membership)}, but a wildcard is many hosts, whose addresses the proxy does not resolve: declare it rotating, or each host by its exact name; the nearest supported row is ${describeRow(row)}.` };
    }
    if (row !== undefined) return refuseVersion(query, row);
    const nearest = `the nearest supported row is ${describeRow(nearestRow(query))}`;
    const routeReason = REFUSED_ROUTES[query.route];
    if (routeReason !== undefined) return { at: "route", text: `is ${show(query.route)}, and ${routeReason}: ${nearest}.` };
    const protocolReason = REFUSED_PROTOCOLS[query.protocol];
    if (protocolReason !== undefined) return { at: "protocol", text: `is ${show(query.protocol)}, and ${protocolReason}: ${nearest}.` };
    return { at: "host", text: `is a wildcard, and ${WILDCARD_BEHIND_GATEWAY}: declare each host by its exact name, or use route "direct"; ${nearest}.` };
}

function refuseVersion(query: RouteQuery, row: RouteRow): RouteRefusal | undefined {
    if (query.istioVersion === undefined) return undefined;
    const version = parseIstioVersion(query.istioVersion);
    // What is no version at all is the gateway reference's own problem.
    if (version === undefined || compareIstio(version, row.since) >= 0) return undefined;
    return {
        at: "istioVersion",
        text: `is ${show(query.istioVersion)}, and ${row.route} needs Istio ${formatIstio(row.since)} or later, the first to serve networking.istio.io/v1: upgrade the mesh; the nearest supported row is ${describeRow(row)}.`,
    };
}

/** The row that shares most with the query; the route weighs most, then the kind of host. */
function nearestRow(query: RouteQuery): RouteRow {
    const score = (row: RouteRow): number =>
        (row.route === query.route ? 4 : 0) + ((row.hosts === "wildcard") === query.wildcard ? 2 : 0) + (row.protocol === query.protocol ? 1 : 0);
    return ROUTE_TABLE.reduce((best, row) => (score(row) > score(best) ? row : best));
}

/** `route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later`. */
export function describeRow(row: RouteRow): string {
    return `route ${row.route}, protocol ${row.protocol} (any port), ${row.hosts} host, ${row.pools.length === ALL_POOLS.length ? "any" : row.pools.join(" or ")} pool, Istio ${formatIstio(row.since)} or later`;
}
