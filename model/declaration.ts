// The schema of a declaration: what a user says of one external host. Plain data, the same in TypeScript and YAML.
import { z } from "zod";
import { DURATION_PATTERN } from "./duration";
import { LoadBalancer } from "./load-balancer";
import { Membership, Resolution, MAX_ADDRESSES_PER_ANSWER } from "./resolution";
import { Protocol, Route } from "./routes";

export const GatewayConsumers = {
    /** Each declaration names the namespaces that may use it. */
    Declared: "declared",
    /** The whole mesh may use every host of this gateway. */
    All: "all",
} as const;
export type GatewayConsumers = (typeof GatewayConsumers)[keyof typeof GatewayConsumers];

export const Lockdown = {
    /** Whoever reaches the gateway may use every host of it. */
    Off: "off",
    /** What would be denied is counted, and nothing is. */
    DryRun: "dry-run",
    /** Each host is for its consumers only. */
    Enforced: "enforced",
} as const;
export type Lockdown = (typeof Lockdown)[keyof typeof Lockdown];

export const EnvoyFilters = {
    /** What Istio has no field for is written as narrow EnvoyFilters. */
    Allowed: "allowed",
    /** None are written; the plan says what is lost. */
    Forbidden: "forbidden",
} as const;
export type EnvoyFilters = (typeof EnvoyFilters)[keyof typeof EnvoyFilters];

export const OnConnectFailure = {
    /** The gateway tries again for as long as a failover can last. */
    Wait: "wait",
    /** The connection fails with its first attempt. */
    Fail: "fail",
} as const;
export type OnConnectFailure = (typeof OnConnectFailure)[keyof typeof OnConnectFailure];

export const OnEmptyAnswer = {
    /** They go to the address of the last answer that had one. */
    LastKnown: "last-known",
    /** They fail until DNS answers an address. */
    Fail: "fail",
} as const;
export type OnEmptyAnswer = (typeof OnEmptyAnswer)[keyof typeof OnEmptyAnswer];

const duration = (text: string): z.ZodString => z.string().regex(DURATION_PATTERN).describe(`${text} A Go duration such as "10s" or "1m30s".`);
/** A DNS label (RFC 1123), which a namespace's name is. */
export const LABEL_PATTERN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const namespace = (text: string): z.ZodString => z.string().regex(LABEL_PATTERN).describe(text);
const port = (text: string): z.ZodInt => z.int().min(1).max(65535).describe(text);

export const gatewayReferenceSchema = z.strictObject({
    namespace: namespace("The namespace in which the gateway's pods run."),
    selector: z.record(z.string().min(1), z.string()).refine((labels) => Object.keys(labels).length > 0)
        .describe("The labels of the gateway's pods, for example {istio: egressgateway}."),
    serviceHost: z.string().min(1).describe("The full name of the gateway's Service, for example istio-egressgateway.istio-system.svc.cluster.local."),
    ports: z.array(z.strictObject({
        number: port("The port of the gateway's Service."),
        targetPort: port("The port on which the gateway's pods listen for it."),
    })).min(1).describe("The ports of the gateway's Service that egress may use."),
    istioVersion: z.string().min(1).describe("The version of Istio that runs the gateway, for example 1.31.0: what is supported depends on it."),
    consumers: z.enum(GatewayConsumers).default(GatewayConsumers.Declared)
        .describe("Who may use the gateway's hosts: each declaration's consumers, or the whole mesh. A mode of the whole gateway, never mixed."),
    lockdown: z.enum(Lockdown).default(Lockdown.Off)
        .describe("Whether the gateway denies what no declaration allows: off, dry-run (count what it would deny) or enforced. A switch of the whole gateway; EgressLockdown sets it. Default off."),
    envoyFilters: z.enum(EnvoyFilters).default(EnvoyFilters.Allowed)
        .describe("Whether the gateway's hosts may write EnvoyFilters, the only way to connect retry of TLS and TCP ports: allowed or forbidden. Default allowed; with forbidden the plan says what is lost."),
}).describe("The egress gateway that carries the host; not with route direct.");

const poolSchema = z.strictObject({
    membership: z.enum(Membership)
        .describe("Whether an address that is missing from a DNS answer means something: fixed (it does, it is a failover signal) or rotating (it does not, it was not drawn)."),
    addressesPerAnswer: z.int().min(1).max(MAX_ADDRESSES_PER_ANSWER).optional()
        .describe("How many addresses one DNS answer holds, A and AAAA together where proxies are dual stack. Required for a fixed pool."),
    standbyAddresses: z.array(z.string()).optional()
        .describe("The IP addresses at which the pool is known to serve, all of them: they stand by behind what DNS answers, and serve when none of that does, so that a failover needs neither the GSLB's detection nor its TTL. Only with a fixed pool; Istio 1.30 or later."),
    onEmptyAnswer: z.enum(OnEmptyAnswer).optional()
        .describe("What new connections do while DNS answers no address (empty or NXDOMAIN) and none stands by: go to the address of the last answer that had one (last-known) or fail. Default last-known, where a gateway resolves the host (resolution DNS) and EnvoyFilters are allowed."),
}).describe("The addresses behind the host. Required: no safe default exists.");

const failoverSchema = z.strictObject({
    detectionTime: duration("How long the GSLB takes to notice a dead address."),
    dnsTtl: duration("The TTL of the host's address records."),
    envoyRefresh: duration("How long after a resolver has the new answer the proxy asks again. Default: dnsTtl + 100 ms, a resolver's cache and istiod's DNS jitter.").optional(),
    onConnectFailure: z.enum(OnConnectFailure).optional()
        .describe("What a new connection, or a request of an HTTP port, does that cannot be made: wait (the gateway tries again for the loss window and a margin) or fail. Default wait, where the route has a gateway."),
    longestConnection: duration("The longest time that an application keeps one connection; the old address must serve that long after a planned failover.").optional(),
}).describe("What the GSLB does in a failover; the loss window follows from it.");

export const TlsMode = {
    /** The host proves who it is. */
    Simple: "SIMPLE",
    /** Both prove who they are. */
    Mutual: "MUTUAL",
} as const;
export type TlsMode = (typeof TlsMode)[keyof typeof TlsMode];

const file = (text: string): z.ZodString => z.string().regex(/^\/[^\0]+$/).describe(`${text} An absolute path in the proxy's container.`);

const tlsSchema = z.strictObject({
    mode: z.enum(TlsMode).default(TlsMode.Simple).describe("SIMPLE, or MUTUAL with a client certificate. Default SIMPLE."),
    credentialName: z.string().min(1).optional()
        .describe("A Secret in the gateway's namespace: ca.crt, and for MUTUAL tls.crt and tls.key too. Not with route direct, and not beside files."),
    caCertificates: file("The certificates of the authorities that may have signed the host's. Default: the system's roots.").optional(),
    clientCertificate: file("The client certificate, for MUTUAL.").optional(),
    privateKey: file("The client certificate's key, for MUTUAL.").optional(),
    subjectAltNames: z.array(z.string().min(1)).min(1).optional()
        .describe("The names of which the host's certificate must carry one. Default: the host, since without a name any certificate of a trusted authority is accepted."),
    sni: z.string().min(1).optional().describe("The name that the proxy asks for. Default: the host."),
}).describe("How the proxy speaks TLS to the host, for applications that do not: HTTP ports, and all ports of route tls-origination.");

const outlierSchema = z.strictObject({
    consecutiveLocalOriginFailures: z.int().min(1).optional().describe("Connect failures in a row that eject an address. Default 3."),
    interval: duration("Between two sweeps of the ejection analysis. Default 5s.").optional(),
    baseEjectionTime: duration("How long an address stays ejected, times the number of its ejections. Default 30s.").optional(),
    maxEjectionPercent: z.int().min(0).max(100).optional().describe("The share of the pool that may be ejected. Default 50."),
    minHealthPercent: z.int().min(0).max(100).optional().describe("Below this share of healthy addresses the ejected ones are used again. Default 1: only when nothing healthy is left."),
}).describe("Outlier detection of the host, where its defaults do not fit.");

const ownershipSchema = z.strictObject({
    owner: z.string().min(1).describe("The team that answers for the host."),
    purpose: z.string().min(1).describe("What the host is needed for."),
    expires: z.string().regex(/^\d{4}-\d{2}-\d{2}$/).optional().describe("The day on which the declaration must be reviewed, as YYYY-MM-DD."),
}).describe("Who answers for the host, and why it is needed.");

export const declarationSchema = z.strictObject({
    host: z.string().min(1).describe("The external host's fully qualified name, or *.name with route direct."),
    namespace: namespace("The namespace of the objects that belong to the host itself."),
    ports: z.array(z.strictObject({
        number: port("The port that applications dial."),
        protocol: z.enum(Protocol).default(Protocol.Tls)
            .describe("What applications speak on it. TLS is their own, passed through unopened; HTTP and TCP are plain, and with route tls-origination the gateway speaks TLS to the host. Default TLS."),
        targetPort: port("Where the host serves TLS, on ports for which a proxy speaks it; the traffic enters the gateway on the same. Default 443 for HTTP, else the port itself.").optional(),
    })).min(1).default([{ number: 443, protocol: Protocol.Tls }]).describe("The ports of the host. Default: 443, TLS."),
    addresses: z.array(z.string().min(1)).min(1).optional()
        .describe("The IP addresses that applications dial on TCP ports, all that DNS may answer them: TCP carries no name, so a sidecar tells hosts apart by address. Required with a TCP port."),
    pool: poolSchema,
    failover: failoverSchema.optional(),
    route: z.enum(Route).describe("The way out of the mesh."),
    gateway: gatewayReferenceSchema.optional(),
    consumers: z.array(z.strictObject({
        namespace: z.string().min(1).describe('A namespace whose applications use the host; "*" only with a gateway whose consumers are all, or with route direct.'),
        serviceAccounts: z.array(z.string().min(1)).min(1).optional()
            .describe("The service accounts of the namespace that may use the host. Only with a gateway whose lockdown is on. Default: all of the namespace."),
    })).min(1).describe("Who uses the host. Required."),
    ownership: ownershipSchema,
    resolution: z.enum([Resolution.Dns, Resolution.DnsRoundRobin]).optional()
        .describe("Forces the ServiceEntry's resolution against what the pool calls for. The policy pack refuses an unwise one."),
    loadBalancer: z.enum(LoadBalancer).optional()
        .describe("How new connections are spread. Default ROUND_ROBIN for resolution DNS: LEAST_REQUEST sends a dead address more than its share."),
    connectTimeout: duration("How long the proxy waits for a connection to one address. Default 1s; Istio's own is 10s.").optional(),
    idleTimeout: duration("How long a connection may carry nothing. Default: Istio's 1h.").optional(),
    tls: tlsSchema.optional(),
    outlier: outlierSchema.optional(),
    active: z.boolean().default(true).describe("false takes the traffic off the route (the mesh leg is removed), the first step of a removal."),
    settleTime: duration("How long after the last change of its other objects the mesh leg is written, for the proxies to have them. Default 2s.").default("2s"),
    manifestOverrides: z.record(z.string(), z.record(z.string(), z.unknown())).optional()
        .describe("Merged into the manifests (JSON merge patch), by kind or kind/role, for example {\"DestinationRule/host\": {spec: …}}."),
}).describe("One external host.");

/** A declaration as users write it. */
export type DeclarationInput = z.input<typeof declarationSchema>;
/** A declaration with its defaults filled in. */
export type Declaration = z.output<typeof declarationSchema>;
export type GatewayReference = z.output<typeof gatewayReferenceSchema>;

/** Every consumer of the mesh, in place of a namespace. */
export const ALL_CONSUMERS = "*";
