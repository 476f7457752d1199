// ServiceEntry: the view that resolves the host, and the clients' view, which opens the listener and asks no DNS.
import { type Declaration, GatewayConsumers, Resolution, STANDBY_TIER, hostPort, objectName, portName, resolutionOf, standbyAddresses, usesGateway } from "../model";
import { type Manifest, defined, kubernetesObject } from "./manifest";

const ports = (declaration: Declaration): readonly object[] =>
    declaration.ports.map(({ number, protocol }) => ({ number, name: portName(protocol, number), protocol }));

/** The same, with the host's own port where a proxy speaks TLS to it there. */
const resolvedPorts = (declaration: Declaration): readonly object[] => declaration.ports.map((port) => {
    const { number, protocol } = port, served = hostPort(port, declaration.route);
    return defined({ number, name: portName(protocol, number), protocol, targetPort: served === number ? undefined : served });
});

/** Who sees the host resolved: the gateway only, where there is one; the sidecars of the consumers otherwise. */
function viewers({ route, gateway, consumers }: Declaration): readonly string[] {
    if (!usesGateway(route) || gateway === undefined) return consumers.map(({ namespace }) => namespace);
    return gateway.consumers === GatewayConsumers.All ? ["*"] : [gateway.namespace];
}

const isSeenBySidecars = ({ route, gateway }: Declaration): boolean => !usesGateway(route) || gateway?.consumers === GatewayConsumers.All;

/** By these addresses a sidecar tells TCP hosts apart; a gateway tells them apart by the outer SNI and needs none. */
const addresses = (declaration: Declaration): object => (declaration.addresses === undefined ? {} : { addresses: declaration.addresses });

/** Where addresses stand by, DNS is the first of the endpoints, and each known address another; without them Istio takes the host's name. */
function endpoints(declaration: Declaration): object {
    const standby = standbyAddresses(declaration), { label, primary, standby: second } = STANDBY_TIER;
    if (standby === undefined) return {};
    return { endpoints: [{ address: declaration.host, labels: { [label]: primary } }, ...standby.map((address) => ({ address, labels: { [label]: second } }))] };
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
            ports: resolvedPorts(declaration),
            exportTo: viewers(declaration),
            ...endpoints(declaration),
            ...(isSeenBySidecars(declaration) ? addresses(declaration) : {}),
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
                ...addresses(declaration),
            }),
        };
    });
}
