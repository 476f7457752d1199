// ServiceEntry: the view that resolves the host, and the clients' view, which opens the listener and asks no DNS.
import { type Declaration, GatewayConsumers, Resolution, objectName, portName, resolutionOf, usesGateway } from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

const ports = (declaration: Declaration): readonly object[] =>
    declaration.ports.map(({ number, protocol }) => ({ number, name: portName(protocol, number), protocol }));

/** Who sees the host resolved: the gateway only, where there is one; the sidecars of the consumers otherwise. */
function viewers({ route, gateway, consumers }: Declaration): readonly string[] {
    if (!usesGateway(route) || gateway === undefined) return consumers.map(({ namespace }) => namespace);
    return gateway.consumers === GatewayConsumers.All ? ["*"] : [gateway.namespace];
}

/** The entry whose resolution follows the pool. */
export function hostServiceEntry(name: string, declaration: Declaration): Manifest {
    const identity = { kind: "ServiceEntry", name: objectName(declaration.host), namespace: declaration.namespace, carriesPool: true } as const;
    return {
        key: "service-entry", role: "ServiceEntry/host", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, {
            hosts: [declaration.host],
            location: "MESH_EXTERNAL",
            resolution: resolutionOf(declaration).resolution,
            ports: ports(declaration),
            exportTo: viewers(declaration),
        }),
    };
}

/**
 * One entry per consumer, in its own namespace and seen there only: without it every sidecar of every consumer would ask
 * the GSLB for every host at each TTL (measured). A gateway for all has none: a view exported to all would reach the
 * gateway too, where NONE has no endpoints.
 */
export function clientServiceEntries(name: string, declaration: Declaration): readonly Manifest[] {
    if (!usesGateway(declaration.route) || declaration.gateway?.consumers !== GatewayConsumers.Declared) return [];
    return declaration.consumers.map(({ namespace }) => {
        const identity = { kind: "ServiceEntry", name: `${objectName(declaration.host)}-client`, namespace, carriesPool: true } as const;
        return {
            key: `client-view-${namespace}`, role: "ServiceEntry/client-view", movesTraffic: false,
            object: kubernetesObject(name, declaration, identity, {
                hosts: [declaration.host],
                location: "MESH_EXTERNAL",
                resolution: Resolution.None,
                ports: ports(declaration),
                exportTo: ["."],
            }),
        };
    });
}
