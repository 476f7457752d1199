// Manifests: the exact objects of each route, and what holds for every declaration.
import { expect } from "chai";
import fc from "fast-check";
import { type KubernetesObject, type Manifest, manifestsOf } from "../../../manifests";
import { type DeclarationInput, GatewayConsumers, OBJECT_ROLES, checkDeclaration, objectName, overrideProblems, planOf } from "../../../model";
import { GATEWAY, accept, declaration, declarations } from "../../support/declarations";

const SERVICE = "istio-egressgateway.istio-egress.svc.cluster.local", HOST = "api.partner.example", NAME = "egress-api-partner-example";
const intent = { "istio-egress/declaration": "partner-api", "istio-egress/host": HOST };
const ownership = { "istio-egress/owner": "team-payments", "istio-egress/purpose": "card settlement", "istio-egress/expires": "2027-06-30" };
const pool = { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "2" };
const outlierDetection = { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, interval: "5s", baseEjectionTime: "30s", maxEjectionPercent: 50, minHealthPercent: 1 };
const ports = [{ number: 443, name: "tls-443", protocol: "TLS" }];

function object(kind: string, name: string, namespace: string, route: string, spec: object, withPool = false): KubernetesObject {
    return {
        apiVersion: "networking.istio.io/v1", kind,
        metadata: {
            name, namespace, labels: { "app.kubernetes.io/part-of": "istio-egress" },
            annotations: { ...intent, "istio-egress/route": route, ...(withPool ? pool : {}), ...ownership },
        },
        spec: spec as Record<string, unknown>,
    };
}

const filter = (namespace: string, spec: object): KubernetesObject => ({ ...object("EnvoyFilter", NAME, namespace, "mtls-passthrough", spec), apiVersion: "networking.istio.io/v1alpha3" });
const TCP_PROXY = "envoy.filters.network.tcp_proxy";
const tcpProxy = (context: string, portNumber: number, settings: object): object => ({
    applyTo: "NETWORK_FILTER", match: { context, listener: { portNumber, filterChain: { sni: HOST, filter: { name: TCP_PROXY } } } },
    patch: { operation: "MERGE", value: { name: TCP_PROXY, typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", ...settings } } },
});
const retry = (attempts: number, longest: string): object => ({ max_connect_attempts: attempts, backoff_options: { base_interval: "0.05s", max_interval: longest } });
const cluster = (value: object, { portNumber = 443, ...match }: { readonly portNumber?: number; readonly subset?: string } = {}): object =>
    ({ applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { service: HOST, portNumber, ...match } }, patch: { operation: "MERGE", value } });
const UNLIMITED = 4_294_967_295;
/** The subset as LOGICAL_DNS, and the aggregate of it and the host's own cluster. */
const lastKnown = (portNumber = 443, logical: object = {}): readonly object[] => [
    cluster({ type: "LOGICAL_DNS", ...logical }, { portNumber, subset: "last-known" }),
    { applyTo: "CLUSTER", match: { context: "GATEWAY" }, patch: { operation: "ADD", value: {
        name: `outbound|${portNumber}|or-last-known|${HOST}`, alt_stat_name: `outbound|${portNumber}|or-last-known|${HOST};`, lb_policy: "CLUSTER_PROVIDED",
        circuit_breakers: { thresholds: [{ max_connections: UNLIMITED, max_pending_requests: UNLIMITED, max_requests: UNLIMITED, max_retries: UNLIMITED }] },
        metadata: { filter_metadata: { istio: { external: true, services: [{ host: HOST, name: HOST, namespace: "egress" }] } } },
        cluster_type: { name: "envoy.clusters.aggregate", typed_config: {
            "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", clusters: [`outbound|${portNumber}||${HOST}`, `outbound|${portNumber}|last-known|${HOST}`],
        } },
    } } },
];
const clusterSettings = (overprovisioning = 10_000): object => ({ dns_refresh_rate: "1s", load_assignment: { policy: { overprovisioning_factor: overprovisioning } }, common_lb_config: { update_merge_window: "0s" } });

const objectsOf = (changes: Partial<DeclarationInput> = {}): readonly KubernetesObject[] => manifestsOf("partner-api", declaration(changes)).map((manifest) => manifest.object);
const specs = (changes: Partial<DeclarationInput>): Record<string, unknown> =>
    Object.fromEntries(manifestsOf("partner-api", declaration(changes)).map(({ role, object: { spec } }) => [role, spec]));

interface Route {
    readonly match: readonly { readonly port: number }[];
    readonly route: readonly { readonly destination: { readonly subset?: string; readonly port: { readonly number: number } } }[];
}

describe("manifests", () => {
    it("of mtls-passthrough", () => {
        expect(objectsOf()).to.deep.equal([
            object("ServiceEntry", NAME, "egress", "mtls-passthrough", { hosts: [HOST], location: "MESH_EXTERNAL", resolution: "DNS", ports, exportTo: ["istio-egress"] }, true),
            object("ServiceEntry", `${NAME}-client`, "payments", "mtls-passthrough", { hosts: [HOST], location: "MESH_EXTERNAL", resolution: "NONE", ports, exportTo: ["."] }, true),
            object("DestinationRule", NAME, "egress", "mtls-passthrough", {
                host: HOST, exportTo: ["istio-egress"],
                trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN" }, connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection },
                subsets: [{ name: "last-known" }],
            }, true),
            object("DestinationRule", `${NAME}-subset`, "payments", "mtls-passthrough", {
                host: SERVICE, exportTo: ["."],
                subsets: [{
                    name: NAME,
                    trafficPolicy: {
                        loadBalancer: { simple: "ROUND_ROBIN" }, connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection,
                        tls: { mode: "ISTIO_MUTUAL", sni: HOST },
                    },
                }],
            }),
            object("Gateway", NAME, "istio-egress", "mtls-passthrough", {
                selector: { istio: "egressgateway" },
                servers: [{ port: { number: 443, name: "tls-443", protocol: "TLS" }, hosts: [HOST], tls: { mode: "ISTIO_MUTUAL" } }],
            }),
            filter("istio-egress", { workloadSelector: { labels: { istio: "egressgateway" } }, configPatches: [
                tcpProxy("GATEWAY", 8443, { cluster: `outbound|443|or-last-known|${HOST}`, ...retry(81, "1s") }),
                { applyTo: "FILTER_CHAIN", match: { context: "GATEWAY", listener: { portNumber: 8443, filterChain: { sni: HOST } } }, patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "28s" } } },
                cluster(clusterSettings()), ...lastKnown(),
            ] }),
            filter("payments", { configPatches: [tcpProxy("SIDECAR_OUTBOUND", 443, retry(5, "0.5s"))] }),
            object("VirtualService", `${NAME}-gateway`, "istio-egress", "mtls-passthrough", {
                hosts: [HOST], gateways: [`istio-egress/${NAME}`], exportTo: ["."],
                tcp: [{ match: [{ gateways: [`istio-egress/${NAME}`], port: 443 }], route: [{ destination: { host: HOST, port: { number: 443 } } }] }],
            }),
            object("VirtualService", `${NAME}-mesh`, "egress", "mtls-passthrough", {
                hosts: [HOST], gateways: ["mesh"], exportTo: ["payments"],
                tls: [{ match: [{ gateways: ["mesh"], port: 443, sniHosts: [HOST] }], route: [{ destination: { host: SERVICE, subset: NAME, port: { number: 443 } } }] }],
            }),
        ]);
    });

    it("of passthrough: no mTLS to the gateway, and a tls route by SNI behind it", () => {
        const found = specs({ route: "passthrough" });
        expect(found["DestinationRule/subset"]).to.have.deep.nested.property("subsets[0].trafficPolicy.tls", { mode: "DISABLE" });
        expect(found["Gateway/server"]).to.have.deep.nested.property("servers[0].tls", { mode: "PASSTHROUGH" });
        expect(found["VirtualService/gateway-leg"]).to.deep.equal({
            hosts: [HOST], gateways: [`istio-egress/${NAME}`], exportTo: ["."],
            tls: [{ match: [{ gateways: [`istio-egress/${NAME}`], port: 443, sniHosts: [HOST] }], route: [{ destination: { host: HOST, port: { number: 443 } } }] }],
        });
    });

    const inside = ["x-forwarded-client-cert", "x-forwarded-for", "x-envoy-external-address", "x-envoy-attempt-count", "x-envoy-decorator-operation", "x-envoy-peer-metadata", "x-envoy-peer-metadata-id"];
    const retryOn = "connect-failure,refused-stream";
    const tls = { mode: "SIMPLE", sni: HOST, subjectAltNames: [HOST] };

    it("of tls-origination: HTTP to the gateway in mTLS, TLS from there, the gateway entered on the host's own port", () => {
        const found = specs({ route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] });
        const ejects = { splitExternalLocalOriginErrors: true, consecutive5xxErrors: 0, consecutiveLocalOriginFailures: 3, interval: "5s", baseEjectionTime: "30s", maxEjectionPercent: 50, minHealthPercent: 1 };
        expect(found["ServiceEntry/host"]).to.have.deep.property("ports", [{ number: 80, name: "http-80", protocol: "HTTP", targetPort: 443 }]);
        expect(found["ServiceEntry/client-view"]).to.have.deep.property("ports", [{ number: 80, name: "http-80", protocol: "HTTP" }]);
        expect(found["DestinationRule/host"]).to.deep.equal({
            host: HOST, exportTo: ["istio-egress"],
            trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN" }, connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection: ejects, tls },
            subsets: [{ name: "last-known" }],
        });
        expect(found["EnvoyFilter/gateway"]).to.have.deep.property("configPatches", [
            { applyTo: "HTTP_ROUTE", match: { context: "GATEWAY", routeConfiguration: { vhost: { name: `${HOST}:443`, route: { name: "http-80" } } } }, patch: { operation: "MERGE", value: { route: { cluster: `outbound|80|or-last-known|${HOST}` } } } },
            cluster(clusterSettings(), { portNumber: 80 }), ...lastKnown(80),
        ]);
        expect(found["DestinationRule/subset"]).to.deep.nested.include({ "subsets[0].trafficPolicy.tls": { mode: "ISTIO_MUTUAL", sni: HOST }, "subsets[0].trafficPolicy.outlierDetection": ejects });
        expect(found["Gateway/server"]).to.have.deep.property("servers", [{ port: { number: 443, name: "https-443", protocol: "HTTPS" }, hosts: [HOST], tls: { mode: "ISTIO_MUTUAL" } }]);
        expect(found["VirtualService/gateway-leg"]).to.deep.equal({
            hosts: [HOST], gateways: [`istio-egress/${NAME}`], exportTo: ["."],
            http: [{ name: "http-80", match: [{ gateways: [`istio-egress/${NAME}`], port: 443 }], route: [{ destination: { host: HOST, port: { number: 80 } } }], headers: { request: { remove: inside } }, retries: { attempts: 79, retryOn, backoff: "0.1s" } }],
        });
        expect(found["VirtualService/mesh-leg"]).to.deep.equal({
            hosts: [HOST], gateways: ["mesh"], exportTo: ["payments"],
            http: [{ match: [{ gateways: ["mesh"], port: 80 }], route: [{ destination: { host: SERVICE, subset: NAME, port: { number: 443 } } }], retries: { attempts: 4, retryOn, backoff: "0.05s" } }],
        });
        const failing = specs({ route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }], failover: undefined });
        for (const leg of ["gateway-leg", "mesh-leg"]) expect(failing[`VirtualService/${leg}`]).to.have.deep.nested.property("http[0].retries", { attempts: 2, retryOn });
    });

    it("of tls-origination with a client certificate, other names, and a TCP port", () => {
        const found = specs({
            route: "tls-origination", ports: [{ number: 6379, protocol: "TCP", targetPort: 8443 }, { number: 80, protocol: "HTTP" }], addresses: ["192.0.2.1", "192.0.2.2"],
            tls: { mode: "MUTUAL", credentialName: "partner-client", sni: "edge.partner.example", subjectAltNames: ["edge.partner.example", "edge2.partner.example"] },
        });
        expect(found["DestinationRule/host"]).to.have.deep.nested.property("trafficPolicy.tls", { mode: "MUTUAL", sni: "edge.partner.example", subjectAltNames: ["edge.partner.example", "edge2.partner.example"], credentialName: "partner-client" });
        expect(found["ServiceEntry/host"]).to.have.deep.property("ports", [{ number: 6379, name: "tcp-6379", protocol: "TCP", targetPort: 8443 }, { number: 80, name: "http-80", protocol: "HTTP", targetPort: 443 }]);
        expect(found["Gateway/server"]).to.deep.nested.include({ "servers[0].port": { number: 8443, name: "tls-8443", protocol: "TLS" }, "servers[1].port": { number: 443, name: "https-443", protocol: "HTTPS" } });
        expect(found["VirtualService/gateway-leg"]).to.have.nested.property("tcp[0].route[0].destination.port.number", 6379);
        expect(found["VirtualService/mesh-leg"]).to.have.nested.property("tcp[0].route[0].destination.port.number", 8443);
    });

    it("of a TCP port: the clients' view has the addresses, the gateway tells hosts apart by the outer SNI", () => {
        const found = specs({ ports: [{ number: 8443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"] });
        expect(found["ServiceEntry/client-view"]).to.deep.equal({ hosts: [HOST], location: "MESH_EXTERNAL", resolution: "NONE", ports: [{ number: 8443, name: "tcp-8443", protocol: "TCP" }], exportTo: ["."], addresses: ["192.0.2.1", "192.0.2.2"] });
        expect(found["ServiceEntry/host"]).to.not.have.property("addresses");
        expect(found["Gateway/server"]).to.have.deep.property("servers", [{ port: { number: 8443, name: "tls-8443", protocol: "TLS" }, hosts: [HOST], tls: { mode: "ISTIO_MUTUAL" } }]);
        expect(found["VirtualService/mesh-leg"]).to.deep.equal({
            hosts: [HOST], gateways: ["mesh"], exportTo: ["payments"],
            tcp: [{ match: [{ gateways: ["mesh"], port: 8443 }], route: [{ destination: { host: SERVICE, subset: NAME, port: { number: 8443 } } }] }],
        });
        const shared = specs({ ports: [{ number: 8443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"], gateway: { ...GATEWAY, consumers: GatewayConsumers.All }, consumers: [{ namespace: "*" }] });
        expect(shared["ServiceEntry/host"]).to.have.deep.property("addresses", ["192.0.2.1", "192.0.2.2"]);
    });

    it("of direct with a plain and a TLS port: TLS at the sidecar for the one, and nothing lost beside it", () => {
        const found = specs({ route: "direct", gateway: undefined, ports: [{ number: 80, protocol: "HTTP" }, { number: 8443 }, { number: 5432, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"] });
        expect(Object.keys(found)).to.deep.equal(["ServiceEntry/host", "DestinationRule/host"]);
        expect(found["ServiceEntry/host"]).to.deep.include({ addresses: ["192.0.2.1", "192.0.2.2"] }).and.to.have.deep.nested.property("ports[0]", { number: 80, name: "http-80", protocol: "HTTP", targetPort: 443 });
        const { portLevelSettings, ...base } = (found["DestinationRule/host"] as { trafficPolicy: Record<string, unknown> }).trafficPolicy;
        expect(Object.keys(base)).to.deep.equal(["loadBalancer", "connectionPool", "outlierDetection"]);
        expect(portLevelSettings).to.deep.equal([{ port: { number: 80 }, ...base, tls }]);
    });

    it("of direct: the consumers' sidecars resolve the host themselves", () => {
        const changes = { route: "direct", gateway: undefined, consumers: [{ namespace: "payments" }, { namespace: "orders" }] } as const;
        expect(objectsOf({ ...changes, consumers: [...changes.consumers] })).to.deep.equal([
            object("ServiceEntry", NAME, "egress", "direct", { hosts: [HOST], location: "MESH_EXTERNAL", resolution: "DNS", ports, exportTo: ["payments", "orders"] }, true),
            object("DestinationRule", NAME, "egress", "direct", {
                host: HOST, exportTo: ["payments", "orders"],
                trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN" }, connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection },
            }, true),
        ]);
    });

    it("of a direct wildcard: NONE, and no policy that needs a list", () => {
        const found = specs({ route: "direct", gateway: undefined, host: "*.partner.example", pool: { membership: "rotating" }, failover: undefined });
        expect(found["ServiceEntry/host"]).to.include({ resolution: "NONE" });
        expect(found["DestinationRule/host"]).to.have.deep.property("trafficPolicy", { connectionPool: { tcp: { connectTimeout: "1s" } } });
    });

    it("of a rotating pool: LOGICAL, no outlier detection, no spreading", () => {
        const found = specs({ pool: { membership: "rotating" } });
        expect(found["ServiceEntry/host"]).to.include({ resolution: "DNS_ROUND_ROBIN" });
        expect(found["DestinationRule/host"]).to.have.deep.property("trafficPolicy", { connectionPool: { tcp: { connectTimeout: "1s" } } });
    });

    it("of a gateway for all: one view for everybody, subsets where the egress Service lives", () => {
        const list = manifestsOf("partner-api", declaration({ gateway: { ...GATEWAY, consumers: GatewayConsumers.All }, consumers: [{ namespace: "*" }] }));
        expect(list.map(({ key, object: { metadata, spec } }) => [key, metadata.namespace, spec["exportTo"]])).to.deep.equal([
            ["service-entry", "egress", ["*"]], ["destination-rule", "egress", ["istio-egress"]], ["subset", "istio-egress", ["*"]],
            ["gateway", "istio-egress", undefined], ["gateway-filter", "istio-egress", undefined], ["gateway-leg", "istio-egress", ["."]], ["mesh-leg", "egress", ["*"]],
        ]);
    });

    it("of an inactive declaration: everything but the mesh leg", () => {
        expect(manifestsOf("partner-api", declaration({ active: false })).map(({ key }) => key)).to.deep.equal(["service-entry", "client-view-payments", "destination-rule", "subset-payments", "gateway", "gateway-filter", "sidecar-filter-payments", "gateway-leg"]);
    });

    it("of several ports: a server, a route and a port each, on one gateway port of the same number", () => {
        const found = specs({ ports: [{ number: 443 }, { number: 8443 }] });
        expect(found["Gateway/server"]).to.have.nested.property("servers.length", 2);
        expect(found["VirtualService/mesh-leg"]).to.have.nested.property("tls[1].route[0].destination.port.number", 8443);
        expect(found["VirtualService/gateway-leg"]).to.have.nested.property("tcp[1].match[0].port", 8443);
    });

    it("of standby addresses: DNS leads, the known ones have the second priority, and all but one host can be ejected", () => {
        const found = specs({ pool: { membership: "fixed", addressesPerAnswer: 2, standbyAddresses: ["192.0.2.1", "192.0.2.2"] } });
        expect(found["ServiceEntry/host"]).to.have.deep.property("endpoints", [
            { address: HOST, labels: { tier: "primary" } }, { address: "192.0.2.1", labels: { tier: "standby" } }, { address: "192.0.2.2", labels: { tier: "standby" } },
        ]);
        expect(found["ServiceEntry/client-view"]).to.not.have.property("endpoints");
        expect(found["DestinationRule/host"]).to.have.deep.property("trafficPolicy", {
            loadBalancer: { simple: "ROUND_ROBIN", localityLbSetting: { enabled: true, failoverPriority: ["tier=primary"] } }, connectionPool: { tcp: { connectTimeout: "0.9s" } },
            outlierDetection: { ...outlierDetection, maxEjectionPercent: 75 },
        });
        expect(found["EnvoyFilter/gateway"]).to.have.deep.nested.property("configPatches[2]", cluster(clusterSettings(200)));
        expect(found["EnvoyFilter/gateway"]).to.have.nested.property("configPatches.length", 3); // They serve on an empty answer: no aggregate, and no subset.
        expect(found["DestinationRule/host"]).to.not.have.property("subsets");
    });

    it("leave an empty answer alone where overrides change what would serve then", () => {
        const kept = (key: string, spec: unknown): boolean => JSON.stringify(specs({ manifestOverrides: { [key]: { spec } } })["EnvoyFilter/gateway"]).includes("last-known");
        const changed: readonly (readonly [string, unknown])[] = [
            ["ServiceEntry/host", { endpoints: [{ address: "192.0.2.1" }, { address: "192.0.2.2" }] }], ["ServiceEntry/host", { resolution: "STATIC" }], ["DestinationRule/host", { subsets: [{ name: "mine" }] }],
            ["VirtualService/gateway-leg", { tcp: [] }], ["VirtualService", { http: null }],
        ];
        for (const [key, spec] of changed) expect(kept(key, spec), `${key} ${JSON.stringify(spec)}`).to.equal(false);
        for (const [key, spec] of [["DestinationRule/host", { trafficPolicy: { loadBalancer: null } }], ["DestinationRule/subset", { subsets: [] }], ["VirtualService/mesh-leg", { tls: [] }]] as const) expect(kept(key, spec), key).to.equal(true);
        expect(planOf(declaration({ manifestOverrides: { "VirtualService/gateway-leg": { spec: { tcp: [] } } } })).consequences[0]).to.match(/and nothing serves meanwhile: manifestOverrides change VirtualService\/gateway-leg spec\.tcp, on which the last known address would build\.$/);
    });

    it("of an empty answer: the last known address where nothing waits too, nothing where the declaration says fail, nothing for a pool that is LOGICAL anyway", () => {
        const filterOf = (changes: Partial<DeclarationInput>): unknown => specs(changes)["EnvoyFilter/gateway"], pool = { membership: "fixed", addressesPerAnswer: 3 } as const;
        expect(filterOf({ pool, failover: undefined, connectTimeout: "3s" })).to.have.deep.property("configPatches", [
            tcpProxy("GATEWAY", 8443, { cluster: `outbound|443|or-last-known|${HOST}` }), cluster(clusterSettings()), ...lastKnown(),
        ]);
        // At 100 % an ejection is total for LOGICAL_DNS: the last known address is not ejected.
        expect(filterOf({ pool, outlier: { maxEjectionPercent: 100 } })).to.have.deep.nested.property("configPatches[3]", lastKnown(443, { outlier_detection: { max_ejection_percent: 1 } })[0]);
        const fail = specs({ pool: { ...pool, onEmptyAnswer: "fail" } });
        expect(fail["EnvoyFilter/gateway"]).to.have.deep.property("configPatches", [
            tcpProxy("GATEWAY", 8443, retry(81, "1s")), { applyTo: "FILTER_CHAIN", match: { context: "GATEWAY", listener: { portNumber: 8443, filterChain: { sni: HOST } } }, patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "28s" } } },
            cluster({ dns_refresh_rate: "1s", common_lb_config: { update_merge_window: "0s" } }),
        ]);
        for (const none of [fail, specs({ pool: { membership: "rotating" } }), specs({ pool, resolution: "DNS_ROUND_ROBIN" }), specs({ pool, route: "direct", gateway: undefined })]) expect(none["DestinationRule/host"]).to.not.have.property("subsets");
    });

    it("have no EnvoyFilter where nothing waits or none may be written, and standby addresses all the same", () => {
        const pool = { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["192.0.2.1"] } as const, fail = { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" } as const, bare = { membership: "fixed", addressesPerAnswer: 1, onEmptyAnswer: "fail" } as const;
        const filters = (changes: Partial<DeclarationInput>): unknown => Object.keys(specs(changes)).filter((role) => role.startsWith("EnvoyFilter"));
        expect([{ failover: fail, pool: bare }, { failover: undefined, pool: bare }, { gateway: { ...GATEWAY, envoyFilters: "forbidden" as const } }, { pool: { ...pool, standbyAddresses: ["192.0.2.1"] }, gateway: { ...GATEWAY, envoyFilters: "forbidden" as const } }].map(filters)).to.deep.equal([[], [], [], []]);
        expect(specs({ pool: { ...pool, standbyAddresses: ["192.0.2.1"] }, failover: fail })["EnvoyFilter/gateway"]).to.have.deep.property("configPatches", [
            cluster(clusterSettings(100)),
        ]);
        expect(specs({ pool: { ...pool, standbyAddresses: ["192.0.2.1"] }, gateway: { ...GATEWAY, envoyFilters: "forbidden" } })["ServiceEntry/host"]).to.have.nested.property("endpoints.length", 2);
    });

    it("patch each port's own chain, with the handshake's time-out only where the gateway ends the mesh's TLS, and no chain of HTTP", () => {
        const patches = (changes: Partial<DeclarationInput>, role = "EnvoyFilter/gateway"): string[] => {
            const { configPatches } = specs(changes)[role] as { configPatches: { applyTo: string; match: { listener?: { portNumber: number }; cluster?: { portNumber: number }; routeConfiguration?: { vhost: { name: string } } }; patch: { value: { name?: string } } }[] };
            return configPatches.map(({ applyTo, match: { listener, cluster: one, routeConfiguration }, patch: { value } }) => `${applyTo} ${String(listener?.portNumber ?? one?.portNumber ?? routeConfiguration?.vhost.name ?? value.name)}`);
        };
        const two = [{ number: 443 }, { number: 8443 }], kept = (port: number): readonly string[] => [`CLUSTER ${port}`, `CLUSTER outbound|${port}|or-last-known|${HOST}`];
        expect(patches({ ports: two })).to.deep.equal(["NETWORK_FILTER 8443", "FILTER_CHAIN 8443", "NETWORK_FILTER 9443", "FILTER_CHAIN 9443", "CLUSTER 443", "CLUSTER 8443", ...kept(443), ...kept(8443)]);
        expect(patches({ ports: two }, "EnvoyFilter/sidecar")).to.deep.equal(["NETWORK_FILTER 443", "NETWORK_FILTER 8443"]);
        expect(patches({ route: "passthrough" })).to.deep.equal(["NETWORK_FILTER 8443", "CLUSTER 443", ...kept(443)]);
        expect(patches({ pool: { membership: "rotating" } })).to.deep.equal(["NETWORK_FILTER 8443", "FILTER_CHAIN 8443"]);
        const mixed: Partial<DeclarationInput> = { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }, { number: 8443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"] };
        expect(patches(mixed)).to.deep.equal([`HTTP_ROUTE ${HOST}:443`, "NETWORK_FILTER 9443", "FILTER_CHAIN 9443", "CLUSTER 80", "CLUSTER 8443", ...kept(80), ...kept(8443)]);
        expect(specs(mixed)).to.not.have.property("EnvoyFilter/sidecar");
    });

    it("carry overrides: by kind, by part, the part last; null removes", () => {
        const found = specs({
            manifestOverrides: {
                DestinationRule: { spec: { workloadSelector: { matchLabels: { a: "1" } } }, metadata: { annotations: { note: "ours" } } },
                "DestinationRule/host": { spec: { workloadSelector: null, trafficPolicy: { loadBalancer: null, connectionPool: { tcp: { maxConnections: 5 } } } } },
            },
        });
        expect(found["DestinationRule/subset"]).to.have.deep.property("workloadSelector", { matchLabels: { a: "1" } });
        expect(found["DestinationRule/host"]).to.deep.equal({ host: HOST, exportTo: ["istio-egress"], trafficPolicy: { connectionPool: { tcp: { connectTimeout: "1s", maxConnections: 5 } }, outlierDetection }, subsets: [{ name: "last-known" }] });
    });

    it("take idleTimeout and connectTimeout in seconds", () => {
        expect(specs({ idleTimeout: "1h30m", connectTimeout: "1500ms" })["DestinationRule/host"]).to.have.deep.nested.property("trafficPolicy.connectionPool.tcp", { connectTimeout: "1.5s", idleTimeout: "5400s" });
    });
});

describe("manifests of every declaration", () => {
    const each = (check: (list: readonly Manifest[], raw: DeclarationInput) => void): void => {
        fc.assert(fc.property(declarations, (raw) => {
            check(manifestsOf("host", accept(raw)), raw);
        }), { numRuns: 300 });
    };

    it("are distinct objects under distinct keys, named within Kubernetes' limits", () => each((list) => {
        expect(new Set(list.map(({ key }) => key)).size).to.equal(list.length);
        expect(new Set(list.map(({ object: { kind, metadata } }) => `${kind} ${metadata.namespace}/${metadata.name}`)).size).to.equal(list.length);
        for (const { object: { metadata } } of list) expect(metadata.name).to.match(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    }));

    it("end with the mesh leg, when there is one", () => each((list, raw) => {
        const moving = list.filter(({ movesTraffic }) => movesTraffic);
        expect(moving.length).to.equal(raw.route !== "direct" && raw.active !== false ? 1 : 0);
        if (moving.length === 1) expect(list.at(-1)).to.equal(moving[0]);
    }));

    it("lie where the placement says, and never show one proxy two views of the host", () => each((list, raw) => {
        const gateway = raw.gateway?.namespace, consumers = raw.consumers.map(({ namespace }) => namespace);
        const allowed = new Set([raw.namespace, gateway, ...consumers]);
        for (const { object: { metadata } } of list) expect(allowed.has(metadata.namespace), metadata.namespace).to.equal(true);
        const views = list.filter(({ object: { kind } }) => kind === "ServiceEntry").map(({ object: { metadata, spec } }) => {
            const to = spec["exportTo"] as string[];
            return to.map((name) => (name === "." ? metadata.namespace : name));
        });
        const seenBy = views.flat();
        expect(new Set(seenBy).size).to.equal(seenBy.length);
        if (gateway !== undefined) expect(seenBy.includes(gateway) || seenBy.includes("*")).to.equal(true);
    }));

    it("point at each other: mesh leg → subset → server → host", () => each((list, raw) => {
        if (raw.route === "direct") return;
        const at = (role: string): KubernetesObject[] => list.filter((manifest) => manifest.role === role).map((manifest) => manifest.object);
        const host = accept(raw).host, subset = objectName(host);
        for (const { spec } of at("DestinationRule/subset")) {
            expect(spec).to.include({ host: raw.gateway?.serviceHost });
            expect(spec).to.have.nested.property("subsets[0].name", subset);
            if (raw.route === "mtls-passthrough") expect(spec).to.have.nested.property("subsets[0].trafficPolicy.tls.sni", host);
        }
        const [server] = at("Gateway/server"), [leg] = at("VirtualService/gateway-leg");
        expect(leg?.spec).to.deep.include({ gateways: [`${server?.metadata.namespace}/${server?.metadata.name}`] });
        for (const entry of server?.spec["servers"] as { hosts: string[] }[]) expect(entry.hosts).to.deep.equal([host]);
        const routesOf = (spec: Readonly<Record<string, unknown>>): Route[] => ["http", "tls", "tcp"].flatMap((section) => (spec[section] ?? []) as Route[]);
        const entered = (server?.spec["servers"] as { port: { number: number } }[]).map(({ port }) => port.number).sort();
        for (const { spec } of at("VirtualService/mesh-leg")) {
            expect(routesOf(spec).map(({ route: [first] }) => first?.destination.subset)).to.deep.equal(raw.ports?.map(() => subset));
            expect(routesOf(spec).map(({ route: [first] }) => first?.destination.port.number).sort()).to.deep.equal(entered);
        }
        expect(routesOf(leg?.spec ?? {}).map(({ match: [first] }) => first?.port).sort()).to.deep.equal(entered);
        const dialled = raw.ports?.map(({ number }) => number).sort();
        expect(routesOf(leg?.spec ?? {}).map(({ route: [first] }) => first?.destination.port.number).sort()).to.deep.equal(dialled);
    }));

    it("are those that manifestOverrides can name, and no others, whatever may wait", () => {
        fc.assert(fc.property(declarations, fc.constantFrom("1.24.0", "1.25.0", "1.31.0"), (raw, istioVersion) => {
            const result = checkDeclaration({ ...raw, manifestOverrides: undefined, active: true, ...(raw.gateway === undefined ? {} : { gateway: { ...raw.gateway, istioVersion } }) });
            if (!result.ok) return; // Standby addresses, which older versions do not take.
            const there = new Set(manifestsOf("partner-api", result.declaration).map(({ role }) => role));
            const named = OBJECT_ROLES.filter((role) => overrideProblems({ ...result.declaration, manifestOverrides: { [role]: { spec: {} } } }).length === 0);
            expect(named).to.deep.equal(OBJECT_ROLES.filter((role) => there.has(role)));
        }), { numRuns: 300 });
    });

    it("are plain JSON without undefined", () => each((list) => expect(JSON.parse(JSON.stringify(list))).to.deep.equal(list)));
});
