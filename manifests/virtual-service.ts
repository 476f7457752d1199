// VirtualService: the gateway leg, bound to the gateway, and the mesh leg, which moves the traffic to it.
import { type Declaration, GatewayConsumers, Route, objectName, subsetName, usesGateway } from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

/** From the gateway to the host. Behind an ISTIO_MUTUAL server the outer TLS is opened, so what is left is a `tcp` route. */
export function gatewayLeg(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const identity = { kind: "VirtualService", name: `${objectName(host)}-gateway`, namespace: gateway.namespace, carriesPool: false } as const;
    const gateways = [`${gateway.namespace}/${objectName(host)}`];
    const routes = declaration.ports.map(({ number }) => ({
        match: [{ gateways, port: number, ...(route === Route.MtlsPassthrough ? {} : { sniHosts: [host] }) }],
        route: [{ destination: { host, port: { number } } }],
    }));
    return [{
        key: "gateway-leg", role: "VirtualService/gateway-leg", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, { hosts: [host], gateways, exportTo: ["."], [route === Route.MtlsPassthrough ? "tcp" : "tls"]: routes }),
    }];
}

/** From the sidecars to the gateway. Absent while the declaration is not active. */
export function meshLeg(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway, consumers } = declaration;
    if (!usesGateway(route) || gateway === undefined || !declaration.active) return [];
    const identity = { kind: "VirtualService", name: `${objectName(host)}-mesh`, namespace: declaration.namespace, carriesPool: false } as const;
    return [{
        key: "mesh-leg", role: "VirtualService/mesh-leg", movesTraffic: true,
        object: kubernetesObject(name, declaration, identity, {
            hosts: [host],
            gateways: ["mesh"],
            exportTo: gateway.consumers === GatewayConsumers.All ? ["*"] : consumers.map(({ namespace }) => namespace),
            tls: declaration.ports.map(({ number }) => ({
                match: [{ gateways: ["mesh"], port: number, sniHosts: [host] }],
                route: [{ destination: { host: gateway.serviceHost, subset: subsetName(declaration), port: { number } } }],
            })),
        }),
    }];
}
