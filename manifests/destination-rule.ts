// DestinationRule: the host's traffic policy where its cluster lives, and one subset of the egress Service per host.
import {
    type Declaration, DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_OUTLIER, GatewayConsumers, LoadBalancer, type OutlierSettings, Resolution, Route,
    connectTimeoutMs, decideOutlier, milliseconds, objectName, resolutionOf, serviceNamespace, subsetName, toSeconds, usesGateway,
} from "../model";
import { type Manifest, defined, kubernetesObject } from "./manifest";

/** Istio's OutlierDetection at L4: split, so that connect failures are counted by their own threshold. */
function outlierDetection(settings: OutlierSettings): object {
    return {
        splitExternalLocalOriginErrors: true,
        consecutiveLocalOriginFailures: settings.consecutiveLocalOriginFailures,
        interval: toSeconds(settings.intervalMs),
        baseEjectionTime: toSeconds(settings.baseEjectionTimeMs),
        maxEjectionPercent: settings.maxEjectionPercent,
        minHealthPercent: settings.minHealthPercent,
    };
}

function loadBalancer(declaration: Declaration): object | undefined {
    const spreads = resolutionOf(declaration).resolution === Resolution.Dns;
    const simple = declaration.loadBalancer ?? (spreads ? LoadBalancer.RoundRobin : undefined);
    return simple === undefined ? undefined : { simple };
}

/** The rule of the external host; it acts in the proxies that own its cluster: the gateway's, or the consumers' when direct. */
export function hostDestinationRule(name: string, declaration: Declaration): Manifest {
    const { route, gateway, consumers, idleTimeout } = declaration, outlier = decideOutlier(declaration);
    const identity = { kind: "DestinationRule", name: objectName(declaration.host), namespace: declaration.namespace, carriesPool: true } as const;
    return {
        key: "destination-rule", role: "DestinationRule/host", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, {
            host: declaration.host,
            exportTo: usesGateway(route) && gateway !== undefined ? [gateway.namespace] : consumers.map(({ namespace }) => namespace),
            trafficPolicy: defined({
                loadBalancer: loadBalancer(declaration),
                connectionPool: {
                    tcp: defined({
                        connectTimeout: toSeconds(connectTimeoutMs(declaration)),
                        idleTimeout: idleTimeout === undefined ? undefined : toSeconds(milliseconds(idleTimeout)),
                    }),
                },
                outlierDetection: outlier.emitted ? outlierDetection(outlier.settings) : undefined,
            }),
        }),
    };
}

/**
 * The hop to the gateway. Each consumer's subsets live in its own namespace with the same exportTo: rules merge only
 * then, and a sidecar looks in its own namespace first (measured). Under ISTIO_MUTUAL the subset's sni is what the
 * gateway routes by; passthrough must reach it unwrapped. With two gateway pods, one of them dead, outlier detection
 * leaves 8 of 400 failures where 75 % failed without (measured).
 */
export function subsetDestinationRules(name: string, declaration: Declaration): readonly Manifest[] {
    const { route, gateway } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const forAll = gateway.consumers === GatewayConsumers.All;
    const placements = forAll
        ? [{ key: "subset", namespace: serviceNamespace(gateway.serviceHost), exportTo: ["*"] }]
        : declaration.consumers.map(({ namespace }) => ({ key: `subset-${namespace}`, namespace, exportTo: ["."] }));
    return placements.map(({ key, namespace, exportTo }) => {
        const identity = { kind: "DestinationRule", name: `${objectName(declaration.host)}-subset`, namespace, carriesPool: false } as const;
        return {
            key, role: "DestinationRule/subset", movesTraffic: false,
            object: kubernetesObject(name, declaration, identity, {
                host: gateway.serviceHost,
                exportTo,
                subsets: [{
                    name: subsetName(declaration),
                    trafficPolicy: {
                        loadBalancer: { simple: LoadBalancer.RoundRobin },
                        connectionPool: { tcp: { connectTimeout: toSeconds(DEFAULT_CONNECT_TIMEOUT_MS) } },
                        outlierDetection: outlierDetection(DEFAULT_OUTLIER),
                        tls: route === Route.MtlsPassthrough ? { mode: "ISTIO_MUTUAL", sni: declaration.host } : { mode: "DISABLE" },
                    },
                }],
            }),
        };
    });
}
