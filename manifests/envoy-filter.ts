// EnvoyFilter: what Istio has no field for, one host's chains, route and clusters each, merged; where the last known address is kept, one cluster per port is added.
import {
    type BackOff, type Declaration, type DeclaredPort, GatewayConsumers, HOP_RETRY, LAST_KNOWN_SUBSET, Protocol,
    carriesRequests, decideCluster, decideWaiting, ejectsLastKnown, gatewayPort, keepsLastKnown, lastKnownAggregate, objectName, outboundCluster, portName, toSeconds, usesGateway,
} from "../model";
import { type Manifest, defined, kubernetesObject } from "./manifest";

const TCP_PROXY = "envoy.filters.network.tcp_proxy";

interface Chain {
    readonly context: "GATEWAY" | "SIDECAR_OUTBOUND";
    readonly portNumber: number;
    /** Of the TLS that the chain sees: the application's, or the outer one. */
    readonly sni: string;
}

/** What Istio sets for each of its clusters where a DestinationRule says nothing; Envoy's own would end at three requests that are repeated at once. */
const MOST = 4_294_967_295, UNLIMITED = { max_connections: MOST, max_pending_requests: MOST, max_requests: MOST, max_retries: MOST };

const ofChain = ({ context, portNumber, sni }: Chain, filter?: string): object => ({
    context, listener: { portNumber, filterChain: { sni, ...(filter === undefined ? {} : { filter: { name: filter } }) } },
});

function tcpProxy(chain: Chain, settings: object): object {
    const value = { name: TCP_PROXY, typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", ...settings } };
    return { applyTo: "NETWORK_FILTER", match: ofChain(chain, TCP_PROXY), patch: { operation: "MERGE", value } };
}

const connectRetry = (attempts: number, { baseMs, maxMs }: BackOff): object => ({ max_connect_attempts: attempts, backoff_options: { base_interval: toSeconds(baseMs), max_interval: toSeconds(maxMs) } });

/** The gateway's own: connect retry and the handshake's time-out per chain, and the host's cluster. */
export function gatewayFilter(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway, ports } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const patches = [...ports.flatMap((port) => (carriesRequests(port.protocol) ? routePatches(declaration, port) : chainPatches(declaration, port))), ...clusterPatches(declaration), ...lastKnownPatches(declaration)];
    if (patches.length === 0) return [];
    const identity = { kind: "EnvoyFilter", name: objectName(host), namespace: gateway.namespace, carriesPool: false } as const;
    return [{
        key: "gateway-filter", role: "EnvoyFilter/gateway", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, { workloadSelector: { labels: gateway.selector }, configPatches: patches }),
    }];
}

function chainPatches(declaration: Declaration, port: DeclaredPort): readonly object[] {
    const { host, gateway, route } = declaration, decision = decideWaiting(declaration), waiting = decision.waits ? decision.waiting : undefined, isKept = keepsLastKnown(declaration);
    if (gateway === undefined || waiting === undefined && !isKept) return [];
    // A checked declaration has the port; in a preview samples stand in for a gateway that is not known yet, whose first ports differ.
    const portNumber = (gateway.ports.find(({ number }) => number === gatewayPort(port, route)) ?? gateway.ports[0])?.targetPort ?? 0;
    const chain: Chain = { context: "GATEWAY", portNumber, sni: host }, handshake = waiting?.handshakeTimeoutMs;
    return [
        tcpProxy(chain, { ...(isKept ? { cluster: lastKnownAggregate(host, port.number) } : {}), ...(waiting === undefined ? {} : connectRetry(waiting.attempts, waiting.backOff)) }),
        ...(handshake === undefined ? [] : [{ applyTo: "FILTER_CHAIN", match: ofChain(chain), patch: { operation: "MERGE", value: { transport_socket_connect_timeout: toSeconds(handshake) } } }]),
    ];
}

/** Requests are sent to the aggregate by the route of the gateway leg; the VirtualService has the rest. */
function routePatches(declaration: Declaration, port: DeclaredPort): readonly object[] {
    if (!keepsLastKnown(declaration)) return [];
    const { host, route } = declaration, vhost = { name: `${host}:${gatewayPort(port, route)}`, route: { name: portName(port.protocol, port.number) } };
    return [{ applyTo: "HTTP_ROUTE", match: { context: "GATEWAY", routeConfiguration: { vhost } }, patch: { operation: "MERGE", value: { route: { cluster: lastKnownAggregate(host, port.number) } } } }];
}

function clusterPatches(declaration: Declaration): readonly object[] {
    const settings = decideCluster(declaration);
    if (settings === undefined) return [];
    const { dnsRetryMs, overprovisioning } = settings;
    const value = defined({
        dns_refresh_rate: toSeconds(dnsRetryMs),
        load_assignment: overprovisioning === undefined ? undefined : { policy: { overprovisioning_factor: overprovisioning } },
        // Envoy gathers changes of health for 1 s before its workers hear of them, and they go on choosing what was ejected (measured: 52 of 400
        // refused connections failed within a second of the list's last change, 3 without the window).
        common_lb_config: { update_merge_window: "0s" },
    });
    return declaration.ports.map(({ number }) => ({
        applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { service: declaration.host, portNumber: number } }, patch: { operation: "MERGE", value },
    }));
}

/**
 * An answer without addresses empties the host's cluster. Its subset becomes LOGICAL_DNS, which then still has its last address, and
 * Envoy's aggregate of the two uses the subset only while the cluster has no address that serves. Nothing in the aggregate depends on what may
 * change, so that it is never replaced: an Envoy that starts may crash when it is (envoyproxy/envoy#35157).
 */
function lastKnownPatches(declaration: Declaration): readonly object[] {
    if (!keepsLastKnown(declaration)) return [];
    const { host, ports, namespace } = declaration, context = "GATEWAY";
    return ports.flatMap(({ number }) => [
        { applyTo: "CLUSTER", match: { context, cluster: { service: host, portNumber: number, subset: LAST_KNOWN_SUBSET } }, patch: { operation: "MERGE", value: { type: "LOGICAL_DNS", ...(ejectsLastKnown(declaration) ? { outlier_detection: { max_ejection_percent: 1 } } : {}) } } },
        {
            applyTo: "CLUSTER", match: { context },
            patch: {
                operation: "ADD",
                value: {
                    name: lastKnownAggregate(host, number), alt_stat_name: `${lastKnownAggregate(host, number)};`, lb_policy: "CLUSTER_PROVIDED", circuit_breakers: { thresholds: [UNLIMITED] },
                    metadata: { filter_metadata: { istio: { external: true, services: [{ host, name: host, namespace }] } } }, // By which Istio's telemetry names the destination.
                    cluster_type: {
                        name: "envoy.clusters.aggregate",
                        typed_config: { "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", clusters: ["", LAST_KNOWN_SUBSET].map((subset) => outboundCluster(host, number, subset)) },
                    },
                },
            },
        },
    ]);
}

/**
 * The consumers' own: a connection to a gateway pod that has just died tries the next pod. TCP chains carry no SNI to be
 * found by, and a gateway for all has no namespaces to write into: both have outlier detection alone on this hop.
 */
export function sidecarFilters(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, gateway, consumers } = declaration, ports = declaration.ports.filter(({ protocol }) => protocol === Protocol.Tls);
    if (!decideWaiting(declaration).waits || gateway?.consumers !== GatewayConsumers.Declared || ports.length === 0) return [];
    return consumers.map(({ namespace }) => {
        const identity = { kind: "EnvoyFilter", name: objectName(host), namespace, carriesPool: false } as const;
        return {
            key: `sidecar-filter-${namespace}`, role: "EnvoyFilter/sidecar", movesTraffic: false,
            object: kubernetesObject(name, declaration, identity, {
                configPatches: ports.map(({ number }) => tcpProxy({ context: "SIDECAR_OUTBOUND", portNumber: number, sni: host }, connectRetry(HOP_RETRY.attempts, HOP_RETRY.backOff))),
            }),
        };
    });
}
