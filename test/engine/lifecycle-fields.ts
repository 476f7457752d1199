// One change of each field of a declaration: what the host is before it, and what the change is.
import type { DeclarationInput } from "../../model";
import { GATEWAY, input } from "../support/declarations";
import type { PlannedHost } from "./lifecycle";

type Changes = Partial<DeclarationInput>;

export interface FieldChange {
    /** The field, as components/samples.ts names it; what follows a blank tells the change from another one of the same field. */
    readonly field: string;
    /** Where the host differs from the usual one before the change. */
    readonly from?: Changes;
    readonly to: Changes;
}

const DIRECT: Changes = { route: "direct", gateway: undefined };
const FAILOVER = { detectionTime: "10s", dnsTtl: "5s" };
const OWNERSHIP = { owner: "team-payments", purpose: "card settlement", expires: "2027-06-30" };
const TWO = [{ namespace: "payments" }, { namespace: "orders" }];

const gateway = (changes: Partial<typeof GATEWAY>): Changes => ({ gateway: { ...GATEWAY, ...changes } });
const direct = (field: string, to: Changes, from: Changes = {}): FieldChange => ({ field, from: { ...DIRECT, ...from }, to });
const outlier = (changes: NonNullable<DeclarationInput["outlier"]>, name: keyof typeof changes): FieldChange => direct(`outlier.${name}`, { outlier: changes });

/** The gateway speaks TLS for an application that speaks HTTP. */
const ORIGINATED: Changes = { route: "tls-origination", ports: [{ number: 443, protocol: "HTTP" }] };
const FILES = { mode: "MUTUAL", clientCertificate: "/etc/certs/client.pem", privateKey: "/etc/certs/client.key" } as const;
const tls = (name: keyof NonNullable<DeclarationInput["tls"]>, to: DeclarationInput["tls"], from?: DeclarationInput["tls"], item = ""): FieldChange => ({ field: `tls.${name}${item}`, from: { ...ORIGINATED, tls: from }, to: { tls: to } });
const LOCKED = gateway({ lockdown: "enforced" });

export const FIELD_CHANGES: readonly FieldChange[] = [
    { field: "host", to: { host: "renamed.field.example" } },
    { field: "namespace", to: { namespace: "egress-new" } },
    { field: "ports.*.number", to: { ports: [{ number: 8443 }] } },
    { field: "ports.*.number added", to: { ports: [{ number: 443 }, { number: 8443 }] } },
    { field: "ports.*.protocol", from: ORIGINATED, to: { ports: [{ number: 443, protocol: "TCP" }], addresses: ["192.0.2.7"] } },
    { field: "ports.*.targetPort", from: ORIGINATED, to: { ports: [{ number: 443, protocol: "HTTP", targetPort: 8443 }] } },
    { field: "addresses.*", from: { ports: [{ number: 443, protocol: "TCP" }], addresses: ["192.0.2.8"] }, to: { addresses: ["192.0.2.9"] } },
    tls("mode", { mode: "MUTUAL", credentialName: "partner" }, { credentialName: "partner" }),
    tls("credentialName", { credentialName: "partner" }),
    tls("caCertificates", { caCertificates: "/etc/certs/ca.pem" }),
    tls("clientCertificate", { ...FILES, clientCertificate: "/etc/certs/newer.pem" }, FILES),
    tls("privateKey", { ...FILES, privateKey: "/etc/certs/newer.key" }, FILES),
    tls("subjectAltNames", { subjectAltNames: ["edge.partner.example"] }, undefined, ".*"),
    tls("sni", { sni: "edge.partner.example" }),
    { field: "pool.membership", to: { pool: { membership: "rotating", addressesPerAnswer: 2 } } },
    { field: "pool.addressesPerAnswer", to: { pool: { membership: "fixed", addressesPerAnswer: 3 } } },
    direct("failover.detectionTime", { failover: { ...FAILOVER, detectionTime: "20s" } }),
    direct("failover.dnsTtl", { failover: { ...FAILOVER, dnsTtl: "30s" } }),
    direct("failover.envoyRefresh", { failover: { ...FAILOVER, envoyRefresh: "6s" } }),
    direct("failover.longestConnection", { failover: { ...FAILOVER, longestConnection: "1h" } }),
    { field: "pool.standbyAddresses.*", from: { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["192.0.2.1"] } }, to: { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["192.0.2.2", "192.0.2.3"] } } },
    { field: "pool.onEmptyAnswer to fail", to: { pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" } } },
    { field: "pool.onEmptyAnswer to last-known", from: { pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" } }, to: { pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "last-known" } } },
    { field: "failover.onConnectFailure to fail", to: { failover: { ...FAILOVER, onConnectFailure: "fail" } } },
    { field: "failover.onConnectFailure to wait", from: { failover: { ...FAILOVER, onConnectFailure: "fail" } }, to: { failover: { ...FAILOVER, onConnectFailure: "wait" } } },
    { field: "failover.dnsTtl behind a gateway", to: { failover: { ...FAILOVER, dnsTtl: "30s" } } },
    { field: "gateway.envoyFilters", to: gateway({ envoyFilters: "forbidden" }) },
    { field: "route to passthrough", to: { route: "passthrough" } },
    { field: "route to direct", to: DIRECT },
    { field: "route from direct", from: DIRECT, to: { route: "mtls-passthrough", gateway: GATEWAY } },
    { field: "gateway.namespace", to: gateway({ namespace: "istio-egress-new", serviceHost: "istio-egressgateway.istio-egress-new.svc.cluster.local" }) },
    { field: "gateway.selector.*", to: gateway({ selector: { istio: "another" } }) },
    { field: "gateway.serviceHost", to: gateway({ serviceHost: "another.istio-egress.svc.cluster.local" }) },
    { field: "gateway.ports.*.number", to: gateway({ ports: [{ number: 443, targetPort: 8443 }, { number: 9443, targetPort: 9443 }] }) },
    { field: "gateway.ports.*.targetPort", to: gateway({ ports: [{ number: 443, targetPort: 10443 }] }), from: gateway({ ports: [{ number: 443, targetPort: 8443 }] }) },
    { field: "gateway.istioVersion", to: gateway({ istioVersion: "1.30.0" }) },
    { field: "gateway.lockdown", to: gateway({ lockdown: "dry-run" }) },
    { field: "consumers.*.serviceAccounts.*", from: { ...LOCKED, consumers: [{ namespace: "payments", serviceAccounts: ["shop"] }] }, to: { consumers: [{ namespace: "payments", serviceAccounts: ["till"] }] } },
    { field: "gateway.consumers", to: { ...gateway({ consumers: "all" }), consumers: [{ namespace: "*" }] } },
    { field: "consumers.*.namespace", to: { consumers: [{ namespace: "orders" }] } },
    { field: "consumers.*.namespace added", to: { consumers: TWO } },
    { field: "consumers.*.namespace removed", from: { consumers: TWO }, to: { consumers: [{ namespace: "payments" }] } },
    { field: "ownership.owner", to: { ownership: { ...OWNERSHIP, owner: "team-orders" } } },
    { field: "ownership.purpose", to: { ownership: { ...OWNERSHIP, purpose: "refunds" } } },
    { field: "ownership.expires", to: { ownership: { ...OWNERSHIP, expires: undefined } } },
    { field: "resolution", to: { resolution: "DNS_ROUND_ROBIN" } },
    { field: "loadBalancer", to: { loadBalancer: "LEAST_REQUEST" } },
    { field: "connectTimeout", to: { connectTimeout: "3s" } },
    direct("idleTimeout", { idleTimeout: "10m" }),
    direct("idleTimeout removed", { idleTimeout: undefined }, { idleTimeout: "10m" }),
    outlier({ consecutiveLocalOriginFailures: 4 }, "consecutiveLocalOriginFailures"),
    outlier({ interval: "7s" }, "interval"),
    outlier({ baseEjectionTime: "1m" }, "baseEjectionTime"),
    outlier({ maxEjectionPercent: 60 }, "maxEjectionPercent"),
    outlier({ minHealthPercent: 5 }, "minHealthPercent"),
    { field: "active to false", to: { active: false } },
    { field: "active to true", from: { active: false }, to: { active: true } },
    { field: "settleTime", to: { settleTime: "100ms" } },
    { field: "manifestOverrides.**", to: { manifestOverrides: { "DestinationRule/host": { spec: { trafficPolicy: { connectionPool: { tcp: { maxConnections: 100 } } } } } } } },
];

/** Properties of which only one value is supported so far, so that nothing can change. */
export const UNCHANGEABLE: readonly string[] = [];

export interface PlannedChange {
    readonly field: string;
    readonly before: PlannedHost;
    readonly after: PlannedHost;
}

/** A host before and after its change. */
export function planned({ field, from, to }: FieldChange, index: number): PlannedChange {
    const name = `field-${String(index)}`;
    // No settle time: what it does is another test's matter.
    const base = { host: `h${String(index)}.field.example`, settleTime: "0s", ...from };
    return { field, before: { name, input: input(base) }, after: { name, input: input({ ...base, ...to }) } };
}
