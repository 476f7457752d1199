// The ports of a declaration on their way out: dialled by applications, entered at the gateway, served by the host.
import type { Declaration } from "./declaration";
import { Protocol, type Route, originatesTls } from "./routes";

export type DeclaredPort = Declaration["ports"][number];

/** Where HTTPS is served (RFC 9110, section 4.2.2). */
const HTTPS_PORT = 443;

/** The port on which the host is dialled: the declared one, but where a proxy speaks TLS for the application. */
export function hostPort({ number, protocol, targetPort }: DeclaredPort, route: Route): number {
    if (!originatesTls(route, protocol)) return number;
    return targetPort ?? (protocol === Protocol.Http ? HTTPS_PORT : number);
}

/** The port of the gateway's Service that the traffic enters: the same as on the host, so that plain and TLS never meet on one. */
export const gatewayPort = hostPort;

/** Whether a gateway sees requests on such a port, and not bytes. */
export const carriesRequests = (protocol: Protocol): boolean => protocol === Protocol.Http;

/** Whether it sees nothing else of a declaration. */
export const carriesRequestsOnly = ({ ports }: Pick<Declaration, "ports">): boolean => ports.every(({ protocol }) => carriesRequests(protocol));

/** Whether a port of this kind is among those of a declaration. */
export const hasProtocol = ({ ports }: Pick<Declaration, "ports">, protocol: Protocol): boolean => ports.some((port) => port.protocol === protocol);

/** The ports for which a proxy speaks TLS to the host. */
export const originatingPorts = ({ ports, route }: Pick<Declaration, "ports" | "route">): readonly DeclaredPort[] => ports.filter(({ protocol }) => originatesTls(route, protocol));
