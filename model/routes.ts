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
    /** Applications speak plain HTTP or TCP; the gateway speaks TLS to the host. Identity and isolation per host. */
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
    { route: Route.MtlsPassthrough, protocol: Protocol.Tcp, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Passthrough, protocol: Protocol.Tls, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.TlsOrigination, protocol: Protocol.Http, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.TlsOrigination, protocol: Protocol.Tcp, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Direct, protocol: Protocol.Tls, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: "the field documents' own lab, Istio 1.30.0" },
    { route: Route.Direct, protocol: Protocol.Http, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Direct, protocol: Protocol.Tcp, hosts: "exact", ports: "any", pools: ALL_POOLS, since: OLDEST_ISTIO, source: LAB },
    { route: Route.Direct, protocol: Protocol.Tls, hosts: "wildcard", ports: "any", pools: [Membership.Rotating], since: OLDEST_ISTIO, source: "Istio's sources: NONE is ORIGINAL_DST on a sidecar" },
];

const TLS_IS_TLS = "the application's own TLS is declared as TLS, the protocol that is routed by SNI without being opened";
const PLAIN_HTTP = "the request would leave the gateway unencrypted: use route tls-origination, with which the gateway speaks TLS to the host";

/** Why a protocol cannot take a route, whatever the host. */
function reasonAgainst(route: Route, protocol: Protocol): string | undefined {
    if (protocol === Protocol.Https) return TLS_IS_TLS;
    if (protocol === Protocol.Http && (route === Route.Passthrough || route === Route.MtlsPassthrough)) return PLAIN_HTTP;
    if (protocol === Protocol.Tcp && route === Route.Passthrough) {
        return "a plain passthrough gateway routes by the SNI of a ClientHello, which TCP protocols do not send first (in MySQL, SMTP and FTP the server speaks first, PostgreSQL and STARTTLS begin in plain text): use route mtls-passthrough, with which the sidecar's own TLS carries the SNI";
    }
    if (protocol === Protocol.Tls && route === Route.TlsOrigination) return "the application speaks TLS already, which the gateway would wrap a second time: use route mtls-passthrough, or declare the port as HTTP or TCP";
    return undefined;
}

export const WILDCARD_BEHIND_GATEWAY =
    "a wildcard cannot be routed through an egress gateway: Istio resolves a wildcard only with endpoints given, NONE is an empty cluster at a gateway, and DYNAMIC_DNS does not pass one";

const WILDCARD_WITHOUT_TLS: Readonly<Partial<Record<Protocol, string>>> = {
    [Protocol.Http]: "TLS to many hosts has no one name to ask for and to check the certificate by",
    [Protocol.Tcp]: "TCP carries no name by which a sidecar tells hosts apart",
};

export const usesGateway = (route: Route): boolean => route !== Route.Direct;

/** Whether the sidecar wraps the connection to the gateway in the mesh's mTLS: identity, and an outer SNI that the sidecar's rule sets. */
export const isMutualToGateway = (route: Route): boolean => route === Route.MtlsPassthrough || route === Route.TlsOrigination;

/** Whether a proxy speaks TLS to the host for an application that does not: the gateway's, or with route direct the sidecar. */
export const originatesTls = (route: Route, protocol: Protocol): boolean => route === Route.TlsOrigination || protocol === Protocol.Http;

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
    const reason = reasonAgainst(query.route, query.protocol);
    if (reason !== undefined) return { at: "protocol", text: `is ${show(query.protocol)}, and ${reason}; ${nearest}.` };
    if (!usesGateway(query.route)) return { at: "host", text: `is a wildcard, and ${WILDCARD_WITHOUT_TLS[query.protocol] ?? ""}: declare each host by its exact name; ${nearest}.` };
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

/** The row that shares most with the query: the protocol is the application's, the route a choice, then the kind of host. */
function nearestRow(query: RouteQuery): RouteRow {
    const score = (row: RouteRow): number =>
        (row.protocol === query.protocol ? 5 : 0) + (row.route === query.route ? 4 : 0) + ((row.hosts === "wildcard") === query.wildcard ? 2 : 0);
    return ROUTE_TABLE.reduce((best, row) => (score(row) > score(best) ? row : best));
}

/** `route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later`. */
export function describeRow(row: RouteRow): string {
    return `route ${row.route}, protocol ${row.protocol} (any port), ${row.hosts} host, ${row.pools.length === ALL_POOLS.length ? "any" : row.pools.join(" or ")} pool, Istio ${formatIstio(row.since)} or later`;
}
