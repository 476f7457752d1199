// Gateway: the servers of one host. One server per host, always: one ISTIO_MUTUAL server for two hosts sends both to the
// first one's backend (measured).
import { type Declaration, type DeclaredPort, Protocol, gatewayPort, isMutualToGateway, objectName, portName, usesGateway } from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

/** What the gateway finds inside the outer TLS: requests to route by (HTTPS), or bytes. */
const serverProtocol = ({ protocol }: DeclaredPort): Protocol => (protocol === Protocol.Http ? Protocol.Https : Protocol.Tls);

export function gatewayServers(name: string, declaration: Declaration): readonly Manifest[] {
    const { route, gateway } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const identity = { kind: "Gateway", name: objectName(declaration.host), namespace: gateway.namespace, carriesPool: false } as const;
    return [{
        key: "gateway", role: "Gateway/server", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, {
            selector: gateway.selector,
            servers: declaration.ports.map((port) => {
                const number = gatewayPort(port, route), protocol = serverProtocol(port);
                return {
                    port: { number, name: portName(protocol, number), protocol },
                    hosts: [declaration.host],
                    tls: { mode: isMutualToGateway(route) ? "ISTIO_MUTUAL" : "PASSTHROUGH" },
                };
            }),
        }),
    }];
}
