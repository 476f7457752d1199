// EnvoyFilter: what Istio has no field for, one host's chain and cluster each, merged and nothing replaced.
import {
    type BackOff, type Declaration, type DeclaredPort, GatewayConsumers, HOP_RETRY, Protocol, decideCluster, decideWaiting, gatewayPort, objectName, carriesRequests, toSeconds, usesGateway,
} from "../model";
import { type Manifest, defined, kubernetesObject } from "./manifest";

const TCP_PROXY = "envoy.filters.network.tcp_proxy";

interface Chain {
    readonly context: "GATEWAY" | "SIDECAR_OUTBOUND";
    readonly portNumber: number;
    /** Of the TLS that the chain sees: the application's, or the outer one. */
    readonly sni: string;
}

const ofChain = ({ context, portNumber, sni }: Chain, filter?: string): object => ({
    context, listener: { portNumber, filterChain: { sni, ...(filter === undefined ? {} : { filter: { name: filter } }) } },
});

function connectRetry(chain: Chain, attempts: number, { baseMs, maxMs }: BackOff): object {
    return {
        applyTo: "NETWORK_FILTER", match: ofChain(chain, TCP_PROXY),
        patch: {
            operation: "MERGE",
            value: {
                name: TCP_PROXY,
                typed_config: {
                    "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
                    max_connect_attempts: attempts, backoff_options: { base_interval: toSeconds(baseMs), max_interval: toSeconds(maxMs) },
                },
            },
        },
    };
}

/** The gateway's own: connect retry and the handshake's time-out per chain, and the host's cluster. */
export function gatewayFilter(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway, ports } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const patches = [...ports.filter(({ protocol }) => !carriesRequests(protocol)).flatMap((port) => chainPatches(declaration, port)), ...clusterPatches(declaration)];
    if (patches.length === 0) return [];
    const identity = { kind: "EnvoyFilter", name: objectName(host), namespace: gateway.namespace, carriesPool: false } as const;
    return [{
        key: "gateway-filter", role: "EnvoyFilter/gateway", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, { workloadSelector: { labels: gateway.selector }, configPatches: patches }),
    }];
}

function chainPatches(declaration: Declaration, port: DeclaredPort): readonly object[] {
    const { host, gateway, route } = declaration, decision = decideWaiting(declaration);
    if (!decision.waits || gateway === undefined) return [];
    // A checked declaration has the port; in a preview samples stand in for a gateway that is not known yet, whose first ports differ.
    const portNumber = (gateway.ports.find(({ number }) => number === gatewayPort(port, route)) ?? gateway.ports[0])?.targetPort ?? 0;
    const { attempts, backOff, handshakeTimeoutMs } = decision.waiting, chain: Chain = { context: "GATEWAY", portNumber, sni: host };
    return [
        connectRetry(chain, attempts, backOff),
        ...(handshakeTimeoutMs === undefined ? [] : [{ applyTo: "FILTER_CHAIN", match: ofChain(chain), patch: { operation: "MERGE", value: { transport_socket_connect_timeout: toSeconds(handshakeTimeoutMs) } } }]),
    ];
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
                configPatches: ports.map(({ number }) => connectRetry({ context: "SIDECAR_OUTBOUND", portNumber: number, sni: host }, HOP_RETRY.attempts, HOP_RETRY.backOff)),
            }),
        };
    });
}
