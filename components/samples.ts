// Stand-ins for values that are not known yet: at least two valid ones for every property of a declaration, which differ
// in all that follows from them. tracking.ts finds with them what depends on a value.
import { ALL_CONSUMERS, API_VERSIONS, AUTHORIZATION_POLICY, EnvoyFilters, GatewayConsumers, GatewayMode, InCluster, LoadBalancer, Lockdown, Membership, OnConnectFailure, OnEmptyAnswer, type Path, Protocol, Resolution, Route, TlsMode } from "../model";

const ANY_PATCH = { metadata: { labels: "sample", annotations: "sample" }, spec: "sample" };
const TEXTS = ["sample-a", "sample-b"], DURATIONS = ["7s", "8s"], PERCENTS = [51, 52];
const gateway = (letter: string, port: number, consumers: GatewayConsumers): object => ({
    namespace: `sample-gateway-${letter}`,
    selector: { [`sample-${letter}`]: letter },
    serviceHost: `sample-${letter}.sample-gateway-${letter}.svc.cluster.local`,
    ports: letter === "a" ? [{ number: port, targetPort: port }] : [{ number: port, targetPort: port }, { number: 1, targetPort: 1 }],
    istioVersion: letter === "a" ? "1.31.0" : "1.24.0",
    consumers,
});

/** By path; `*` stands for any list index or map key, `**` for everything below. */
export const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
    host: ["a.sample.example", "b.sample.example"],
    namespace: TEXTS,
    ports: [[{ number: 443, protocol: Protocol.Tls }], [{ number: 8443, protocol: Protocol.Tls }, { number: 9443, protocol: Protocol.Tls }]],
    "ports.*": [{ number: 443, protocol: Protocol.Tls }, { number: 8443, protocol: Protocol.Tls }],
    "ports.*.number": [443, 8443],
    "ports.*.protocol": [Protocol.Tls, Protocol.Http, Protocol.Tcp],
    "ports.*.targetPort": [443, 8443],
    addresses: [["192.0.2.1"], ["192.0.2.2", "192.0.2.3"]],
    "addresses.*": ["192.0.2.1", "192.0.2.2"],
    pool: [{ membership: Membership.Fixed, addressesPerAnswer: 2 }, { membership: Membership.Rotating, addressesPerAnswer: 3 }],
    "pool.membership": Object.values(Membership),
    "pool.addressesPerAnswer": [2, 1, 3],
    "pool.standbyAddresses": [["192.0.2.1"], ["192.0.2.2"]],
    "pool.standbyAddresses.*": ["192.0.2.1", "192.0.2.2"],
    "pool.onEmptyAnswer": Object.values(OnEmptyAnswer),
    failover: [{ detectionTime: "7s", dnsTtl: "7s" }, { detectionTime: "8s", dnsTtl: "8s", envoyRefresh: "8s", longestConnection: "8s" }],
    "failover.detectionTime": DURATIONS,
    "failover.dnsTtl": DURATIONS,
    "failover.envoyRefresh": DURATIONS,
    "failover.onConnectFailure": Object.values(OnConnectFailure),
    "failover.longestConnection": DURATIONS,
    route: [Route.MtlsPassthrough, Route.Passthrough, Route.TlsOrigination, Route.Direct],
    gateway: [gateway("a", 443, GatewayConsumers.Declared), gateway("b", 8443, GatewayConsumers.All)],
    "gateway.namespace": TEXTS,
    "gateway.selector": [{ "sample-a": "a" }, { "sample-b": "b" }],
    "gateway.selector.*": TEXTS,
    "gateway.serviceHost": ["sample-a.sample-a.svc.cluster.local", "sample-b.sample-b.svc.cluster.local"],
    "gateway.ports": [[{ number: 443, targetPort: 8443 }], [{ number: 8443, targetPort: 9443 }, { number: 1, targetPort: 1 }]],
    "gateway.ports.*": [{ number: 443, targetPort: 8443 }, { number: 8443, targetPort: 9443 }],
    "gateway.ports.*.number": [443, 8443],
    "gateway.ports.*.targetPort": [8443, 9443],
    // 1.25 has connections that wait and no requests, 1.24 neither.
    "gateway.istioVersion": ["1.31.0", "1.25.0", "1.24.0"],
    "gateway.consumers": Object.values(GatewayConsumers),
    "gateway.lockdown": Object.values(Lockdown),
    "gateway.envoyFilters": Object.values(EnvoyFilters),
    "gateway.mode": Object.values(GatewayMode),
    "gateway.deployment": [{ longestConnection: "7s", name: "sample-a" }, { longestConnection: "8s", name: "sample-b", revision: "sample", endpointRemoval: "8s", minReplicas: 2, maxReplicas: 2, targetCpuUtilization: 52, cpuRequest: "2", memoryRequest: "2Gi", memoryLimit: "2Gi", maxConnections: 5000, readSecrets: true }],
    "gateway.deployment.longestConnection": DURATIONS,
    "gateway.deployment.name": TEXTS,
    "gateway.deployment.revision": TEXTS,
    "gateway.deployment.endpointRemoval": DURATIONS,
    "gateway.deployment.minReplicas": [2, 1],
    "gateway.deployment.maxReplicas": [1000, 999],
    "gateway.deployment.targetCpuUtilization": PERCENTS,
    "gateway.deployment.cpuRequest": ["1", "2"],
    "gateway.deployment.memoryRequest": ["1Gi", "2Gi"],
    "gateway.deployment.memoryLimit": ["1Gi", "2Gi"],
    "gateway.deployment.maxConnections": [10000, 9999],
    "gateway.deployment.readSecrets": [false, true],
    consumers: [[{ namespace: "sample-a" }], [{ namespace: "sample-b" }, { namespace: "sample-c" }]],
    "consumers.*": [{ namespace: "sample-a" }, { namespace: "sample-b" }],
    "consumers.*.serviceAccounts": [["sample-a"], ["sample-b", "sample-c"]],
    "consumers.*.serviceAccounts.*": TEXTS,
    "consumers.*.namespace": [...TEXTS, ALL_CONSUMERS],
    ownership: [{ owner: "sample-a", purpose: "sample-a", expires: "2030-01-01" }, { owner: "sample-b", purpose: "sample-b", expires: "2031-01-01" }],
    "ownership.owner": TEXTS,
    "ownership.purpose": TEXTS,
    "ownership.expires": ["2030-01-01", "2031-01-01"],
    resolution: [Resolution.Dns, Resolution.DnsRoundRobin],
    loadBalancer: Object.values(LoadBalancer),
    connectTimeout: DURATIONS,
    idleTimeout: DURATIONS,
    tls: [
        { mode: TlsMode.Simple, caCertificates: "/sample-a", subjectAltNames: ["sample-a"], sni: "sample-a.example" },
        { mode: TlsMode.Mutual, clientCertificate: "/sample-b", privateKey: "/sample-b", subjectAltNames: ["sample-b", "sample-c"], sni: "sample-b.example" },
        { mode: TlsMode.Simple, credentialName: "sample-a" },
    ],
    "tls.mode": Object.values(TlsMode),
    "tls.credentialName": TEXTS,
    "tls.caCertificates": ["/sample-a", "/sample-b"],
    "tls.clientCertificate": ["/sample-a", "/sample-b"],
    "tls.privateKey": ["/sample-a", "/sample-b"],
    "tls.subjectAltNames": [["sample-a"], ["sample-b", "sample-c"]],
    "tls.subjectAltNames.*": TEXTS,
    "tls.sni": ["a.sample.example", "b.sample.example"],
    outlier: [
        { consecutiveLocalOriginFailures: 4, interval: "7s", baseEjectionTime: "7s", maxEjectionPercent: 51, minHealthPercent: 2 },
        { consecutiveLocalOriginFailures: 5, interval: "8s", baseEjectionTime: "8s", maxEjectionPercent: 52, minHealthPercent: 3 },
    ],
    "outlier.consecutiveLocalOriginFailures": [4, 5],
    "outlier.interval": DURATIONS,
    "outlier.baseEjectionTime": DURATIONS,
    "outlier.maxEjectionPercent": PERCENTS,
    "outlier.minHealthPercent": PERCENTS,
    active: [true, false],
    settleTime: DURATIONS,
    // Any part of any object but its identity may be overridden: the second patch touches all of them.
    manifestOverrides: [{}, Object.fromEntries([...Object.keys(API_VERSIONS), AUTHORIZATION_POLICY].map((kind) => [kind, ANY_PATCH]))],
    "manifestOverrides.*": [{}, ANY_PATCH],
    "manifestOverrides.**": TEXTS,
};

const LOCKDOWN_SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
    ...Object.fromEntries(Object.entries(SAMPLES).filter(([path]) => /^(gateway|consumers)\b/.test(path) && !path.startsWith("consumers.*.service"))),
    "consumers.*.namespace": TEXTS,
    mode: [Lockdown.DryRun, Lockdown.Enforced],
    registryOnly: [false, true],
    inCluster: Object.values(InCluster),
    dns: [{}, { namespace: "sample-b", selector: { "sample-b": "b" }, blocks: ["192.0.2.1/32"] }],
    "dns.namespace": TEXTS,
    "dns.selector": [{ "sample-a": "a" }, { "sample-b": "b" }],
    "dns.blocks": [["192.0.2.1/32"], ["192.0.2.2/32", "192.0.2.3/32"]],
    "dns.blocks.*": ["192.0.2.1/32", "192.0.2.2/32"],
    istioNamespace: TEXTS,
};

/** The samples of a property; the first stands in for an unknown value. */
export function samplesFor(whole: Path): readonly unknown[] {
    const isLockdown = whole[0] === "lockdown", path = isLockdown ? whole.slice(1) : whole, samples = isLockdown ? LOCKDOWN_SAMPLES : SAMPLES;
    const exact = samples[path.join(".")];
    if (exact !== undefined) return exact;
    const found = Object.entries(samples).find(([pattern]) => matches(pattern.split("."), path));
    return found === undefined ? TEXTS : found[1];
}

function matches(pattern: readonly string[], path: Path): boolean {
    if (pattern.at(-1) === "**") return pattern.slice(0, -1).every((key, index) => key === path[index]);
    return pattern.length === path.length && pattern.every((key, index) => key === "*" || key === path[index]);
}
