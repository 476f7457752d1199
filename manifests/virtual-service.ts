// VirtualService: the gateway leg, bound to the gateway, and the mesh leg, which moves the traffic to it.
import {
    type Declaration, type DeclaredPort, GatewayConsumers, Protocol, type RequestRetries, decideRequestRetries, gatewayPort, isMutualToGateway, objectName, portName, subsetName, toSeconds, usesGateway,
} from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

type Section = "http" | "tls" | "tcp";

/** Before any byte of a request has left: nothing that was sent is repeated. Istio's own default repeats more. */
const RETRY_ON = "connect-failure,refused-stream";

function retries({ retries: attempts, backOffMs }: RequestRetries): object {
    return { attempts, retryOn: RETRY_ON, ...(backOffMs === undefined ? {} : { backoff: toSeconds(backOffMs) }) };
}

/**
 * What the mesh tells itself about a request, and the host would read too: the client's certificate and identity, its pod's
 * address, what Envoys tell each other (all seen at the host, measured; peer metadata is of istio-proxy's own filters).
 */
const INSIDE_ONLY = [
    "x-forwarded-client-cert", "x-forwarded-for", "x-envoy-external-address", "x-envoy-attempt-count", "x-envoy-decorator-operation",
    "x-envoy-peer-metadata", "x-envoy-peer-metadata-id",
];

/** The routes by section, in the order of the ports; sections without routes are left out. */
function sections(ports: readonly DeclaredPort[], repeated: RequestRetries, sectionOf: (port: DeclaredPort) => Section, routeOf: (port: DeclaredPort, section: Section) => object): Record<string, object[]> {
    const result: Partial<Record<Section, object[]>> = {};
    for (const port of ports) {
        const section = sectionOf(port);
        (result[section] ??= []).push({ ...routeOf(port, section), ...(section === "http" ? { retries: retries(repeated) } : {}) });
    }
    return result;
}

/** From the gateway to the host. Behind an ISTIO_MUTUAL server the outer TLS is opened: what is left is a request, or bytes. */
export function gatewayLeg(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway } = declaration;
    if (!usesGateway(route) || gateway === undefined) return [];
    const identity = { kind: "VirtualService", name: `${objectName(host)}-gateway`, namespace: gateway.namespace, carriesPool: false } as const;
    const gateways = [`${gateway.namespace}/${objectName(host)}`];
    const sectionOf = ({ protocol }: DeclaredPort): Section => (protocol === Protocol.Http ? "http" : isMutualToGateway(route) ? "tcp" : "tls");
    const routes = sections(declaration.ports, decideRequestRetries(declaration, "gateway"), sectionOf, (port, section) => ({
        match: [{ gateways, port: gatewayPort(port, route), ...(section === "tls" ? { sniHosts: [host] } : {}) }],
        route: [{ destination: { host, port: { number: port.number } } }],
        ...(section === "http" ? { name: portName(port.protocol, port.number), headers: { request: { remove: INSIDE_ONLY } } } : {}),
    }));
    return [{
        key: "gateway-leg", role: "VirtualService/gateway-leg", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, { hosts: [host], gateways, exportTo: ["."], ...routes }),
    }];
}

const MESH_SECTIONS: Readonly<Record<Protocol, Section>> = { HTTP: "http", HTTPS: "tls", TLS: "tls", TCP: "tcp" };

/** From the sidecars to the gateway. Absent while the declaration is not active. */
export function meshLeg(name: string, declaration: Declaration): readonly Manifest[] {
    const { host, route, gateway, consumers } = declaration;
    if (!usesGateway(route) || gateway === undefined || !declaration.active) return [];
    const identity = { kind: "VirtualService", name: `${objectName(host)}-mesh`, namespace: declaration.namespace, carriesPool: false } as const;
    const routes = sections(declaration.ports, decideRequestRetries(declaration, "sidecar"), ({ protocol }) => MESH_SECTIONS[protocol], (port, section) => ({
        match: [{ gateways: ["mesh"], port: port.number, ...(section === "tls" ? { sniHosts: [host] } : {}) }],
        route: [{ destination: { host: gateway.serviceHost, subset: subsetName(declaration), port: { number: gatewayPort(port, route) } } }],
    }));
    return [{
        key: "mesh-leg", role: "VirtualService/mesh-leg", movesTraffic: true,
        object: kubernetesObject(name, declaration, identity, {
            hosts: [host],
            gateways: ["mesh"],
            exportTo: gateway.consumers === GatewayConsumers.All ? ["*"] : consumers.map(({ namespace }) => namespace),
            ...routes,
        }),
    }];
}
