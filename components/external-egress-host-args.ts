// The arguments of ExternalEgressHost: the declaration of model/, with an Input at every leaf.
import type * as pulumi from "@pulumi/pulumi";
import type { LoadBalancer, Membership, OnConnectFailure, OnEmptyAnswer, Protocol, Resolution, Route, TlsMode } from "../model";
import type { GatewayReferenceArgs } from "./egress-gateway-args";

/** A port of the host. */
export interface PortArgs {
    /** The port that applications dial, 1 to 65535; behind a gateway the gateway's Service must have it too (or targetPort). */
    number: pulumi.Input<number>;
    /**
     * What applications speak on it. `TLS` is their own TLS, passed through unopened. `HTTP` and `TCP` are plain: with route
     * tls-origination the gateway speaks TLS to the host, and an HTTP port gets it from the sidecar with route direct; a TCP
     * port with mtls-passthrough or direct reaches the host as it is, and needs `addresses`.
     * @default "TLS"
     */
    protocol?: pulumi.Input<Protocol>;
    /**
     * Where the host serves TLS, on a port for which a proxy speaks it; the traffic enters the gateway on the same.
     * @default 443 for HTTP, else the port itself
     */
    targetPort?: pulumi.Input<number>;
}

/** The addresses behind the host. */
export interface PoolArgs {
    /**
     * Whether an address that is missing from a DNS answer means something: `fixed` (it is a failover signal) or
     * `rotating` (it only was not drawn). It decides the resolution: DNS or DNS_ROUND_ROBIN.
     */
    membership: pulumi.Input<Membership>;
    /** How many addresses one DNS answer holds, A and AAAA together where proxies are dual stack. Required for a fixed pool. */
    addressesPerAnswer?: pulumi.Input<number>;
    /**
     * The IP addresses at which the pool is known to serve, all of them. They stand by behind what DNS answers, and serve when
     * none of that does: a failover then needs neither the GSLB's detection nor its TTL (measured: 0 of 3,000 failed with one
     * address dead that the GSLB never moved). Only with a fixed pool; Istio 1.30 or later.
     */
    standbyAddresses?: pulumi.Input<pulumi.Input<string>[]>;
    /**
     * What new connections do while DNS answers no address (empty or NXDOMAIN) and none stands by: go to the address of the last
     * answer that had one (`last-known`), or `fail`. An address that is withdrawn with no other in its place goes on being used.
     * @default "last-known" where a gateway resolves the host (resolution DNS) and EnvoyFilters are allowed: in a fault of 20 s 0 failed, and
     * without it 36 % where the gateway waits, else 88 % (measured)
     */
    onEmptyAnswer?: pulumi.Input<OnEmptyAnswer>;
}

/** What the GSLB does in a failover. Durations are Go's: `"10s"`, `"1m30s"`. */
export interface FailoverArgs {
    /** How long the GSLB takes to notice a dead address. */
    detectionTime: pulumi.Input<string>;
    /** The TTL of the host's address records. */
    dnsTtl: pulumi.Input<string>;
    /**
     * How long after a resolver has the new answer the proxy asks again.
     * @default dnsTtl + 100 ms: a resolver's cache, and istiod's DNS jitter
     */
    envoyRefresh?: pulumi.Input<string>;
    /**
     * What a new connection, or a request of an HTTP port, does that cannot be made: `wait` (the gateway tries again for the loss window
     * and 5 s) or `fail`.
     * @default "wait" where the route has a gateway: one address dead for a window of 20 s, 0 of 8,250 failed (measured)
     */
    onConnectFailure?: pulumi.Input<OnConnectFailure>;
    /** The longest time that an application keeps one connection; a planned failover keeps the old address up that long. */
    longestConnection?: pulumi.Input<string>;
}

/** A user of the host. */
export interface ConsumerArgs {
    /** A namespace whose applications use the host; `"*"` with a gateway whose consumers are all, or with route direct. */
    namespace: pulumi.Input<string>;
    /**
     * The service accounts of the namespace that may use the host; refused where nothing enforces it: with a gateway that is
     * not locked (EgressLockdown), and on routes on which no gateway knows the client.
     * @default all of the namespace
     */
    serviceAccounts?: pulumi.Input<pulumi.Input<string>[]>;
}

/** Who answers for the host, and why it is needed. */
export interface OwnershipArgs {
    /** The team that answers for the host. */
    owner: pulumi.Input<string>;
    /** What the host is needed for. */
    purpose: pulumi.Input<string>;
    /** The day on which the declaration must be reviewed, `YYYY-MM-DD`. */
    expires?: pulumi.Input<string>;
}

/**
 * How a proxy speaks TLS to the host, for applications that do not: on HTTP ports, and on all ports of route tls-origination.
 * Files are absolute paths in the proxy's container: the gateway's, or with route direct the sidecar's.
 */
export interface TlsArgs {
    /**
     * `SIMPLE`, or `MUTUAL` with a client certificate.
     * @default "SIMPLE"
     */
    mode?: pulumi.Input<TlsMode>;
    /**
     * A Secret in the gateway's namespace: `ca.crt`, and for MUTUAL `tls.crt` and `tls.key` too. Not beside files, and not
     * with route direct: istiod gives Secrets to gateways only.
     */
    credentialName?: pulumi.Input<string>;
    /**
     * The certificates of the authorities that may have signed the host's.
     * @default the system's roots
     */
    caCertificates?: pulumi.Input<string>;
    /** The client certificate, for MUTUAL. */
    clientCertificate?: pulumi.Input<string>;
    /** The client certificate's key, for MUTUAL. */
    privateKey?: pulumi.Input<string>;
    /**
     * The names of which the host's certificate must carry one.
     * @default [host]: without a name any certificate of a trusted authority is accepted (measured)
     */
    subjectAltNames?: pulumi.Input<pulumi.Input<string>[]>;
    /**
     * The name that the proxy asks for.
     * @default host
     */
    sni?: pulumi.Input<string>;
}

/** Outlier detection, where its defaults do not fit. The defaults took 51.7 % failed connections to 0.21 % in the field. */
export interface OutlierArgs {
    /**
     * Connect failures in a row that eject an address.
     * @default 3
     */
    consecutiveLocalOriginFailures?: pulumi.Input<number>;
    /**
     * Between two sweeps of the ejection analysis.
     * @default "5s"
     */
    interval?: pulumi.Input<string>;
    /**
     * How long an address stays ejected, times the number of its ejections.
     * @default "30s"
     */
    baseEjectionTime?: pulumi.Input<string>;
    /**
     * The share of the pool that may be ejected, 1 to 100. It must eject at least one of the declared addresses.
     * @default 50: half of any pool, and still one when an answer shrinks to two; with standby addresses all hosts but one
     */
    maxEjectionPercent?: pulumi.Input<number>;
    /**
     * Below this share of healthy addresses the ejected ones are used again.
     * @default 1: only when nothing healthy is left (measured: with 0 an ejected address that becomes the only one is refused)
     */
    minHealthPercent?: pulumi.Input<number>;
}

/** One external host. */
export interface ExternalEgressHostArgs {
    /** The fully qualified name; a wildcard (`*.partner.example`) only with route direct. */
    host: pulumi.Input<string>;
    /** The namespace of the objects that belong to the host itself. */
    namespace: pulumi.Input<string>;
    /**
     * The host's ports.
     * @default [{ number: 443, protocol: "TLS" }]
     */
    ports?: pulumi.Input<pulumi.Input<PortArgs>[]>;
    /**
     * The IP addresses that applications dial on TCP ports: all that DNS may answer them, or, where Istio's DNS proxy answers,
     * one of your choice. TCP carries no name, so that a sidecar tells hosts apart by address. Required with a TCP port.
     */
    addresses?: pulumi.Input<pulumi.Input<string>[]>;
    /** The addresses behind the host. Required: no safe default exists. */
    pool: pulumi.Input<PoolArgs>;
    /** What the GSLB does in a failover; the loss window follows from it. */
    failover?: pulumi.Input<FailoverArgs>;
    /** The way out of the mesh. */
    route: pulumi.Input<Route>;
    /** The egress gateway, as `EgressGateway` publishes it; not with route direct. */
    gateway?: pulumi.Input<GatewayReferenceArgs>;
    /** Who uses the host. */
    consumers: pulumi.Input<pulumi.Input<ConsumerArgs>[]>;
    /** Who answers for the host, and why it is needed. */
    ownership: pulumi.Input<OwnershipArgs>;
    /**
     * Forces the ServiceEntry's resolution. The plan says what an unwise one costs, and the policy pack refuses it.
     * @default from the pool: fixed is DNS, rotating is DNS_ROUND_ROBIN
     */
    resolution?: pulumi.Input<Resolution>;
    /**
     * How new connections are spread.
     * @default "ROUND_ROBIN" for resolution DNS: LEAST_REQUEST sends a dead address more than its share (measured)
     */
    loadBalancer?: pulumi.Input<LoadBalancer>;
    /**
     * How long the proxy waits for a connection to one address.
     * @default "1s", with standby addresses "900ms": with Istio's own 10 s each connection to a silent address costs 10 s (measured)
     */
    connectTimeout?: pulumi.Input<string>;
    /**
     * How long a connection may carry nothing.
     * @default Istio's 1h
     */
    idleTimeout?: pulumi.Input<string>;
    /** How a proxy speaks TLS to the host, for applications that do not; refused where no proxy does. */
    tls?: pulumi.Input<TlsArgs>;
    /** Outlier detection, where its defaults do not fit; refused where it can have no effect. */
    outlier?: pulumi.Input<OutlierArgs>;
    /**
     * `false` removes the mesh leg and with it the traffic, the first step of a removal.
     * @default true
     */
    active?: pulumi.Input<boolean>;
    /**
     * How long after the last change of its other objects the mesh leg is written, for the proxies to have them.
     * @default "2s"
     */
    settleTime?: pulumi.Input<string>;
    /**
     * Merged into the manifests (JSON merge patch; null removes), by kind or kind/part:
     * `{"DestinationRule/host": {spec: {trafficPolicy: {...}}}}`. The plan shows them.
     */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the one type that the schema of other languages has for any value
    manifestOverrides?: pulumi.Input<{ [object: string]: pulumi.Input<{ [field: string]: any }> }>;
}
