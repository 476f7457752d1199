// Gateway: the servers of one host. One server per host, always: one ISTIO_MUTUAL server for two hosts sends both to the
// first one's backend (measured).
import { type Declaration, Route, objectName, portName, usesGateway } from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

export function gatewayServers(name: string, declaration: Declaration): readonly Manifest[] {
    const { route, gateway } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const identity = { kind: "Gateway", name: objectName(declaration.host), namespace: gateway.namespace, carriesPool: false } as const;
    return [{
        key: "gateway", role: "Gateway/server", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, {
            selector: gateway.selector,
            servers: declaration.ports.map(({ number, protocol }) => ({
                port: { number, name: portName(protocol, number), protocol },
                hosts: [declaration.host],
                tls: { mode: route === Route.MtlsPassthrough ? "ISTIO_MUTUAL" : "PASSTHROUGH" },
            })),
        }),
    }];
}
