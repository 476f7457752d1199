// The ports of a declaration against the route table and the gateway.
import type { Declaration } from "./declaration";
import { gatewayPort } from "./ports";
import { type Path, type Problems, formatPath } from "./problem";
import { isWildcard } from "./resolution";
import { originatesTls, refuseRoute, usesGateway } from "./routes";

export function checkPorts(problems: Problems, declaration: Declaration): void {
    const seen = new Map<number, number>();
    declaration.ports.forEach(({ number }, index) => {
        const path: Path = ["ports", index];
        checkRoute(problems, declaration, index);
        const first = seen.get(number);
        if (first === undefined) seen.set(number, index);
        else problems.add([...path, "number"], `is ${number}, which ports[${first}] declares already: remove one of them.`, [["ports", first, "number"]]);
        checkTargetPort(problems, declaration, index);
        if (usesGateway(declaration.route)) checkGatewayPort(problems, declaration, index, first === undefined);
    });
}

function checkRoute(problems: Problems, { route, gateway, host, pool, ports }: Declaration, index: number): void {
    const path: Path = ["ports", index], protocol = ports[index]?.protocol;
    if (protocol === undefined) return;
    const refusal = refuseRoute({ route, protocol, wildcard: isWildcard(host), membership: pool.membership, istioVersion: gateway?.istioVersion });
    if (refusal === undefined) return;
    const at: Record<typeof refusal.at, Path> = { route: ["route"], host: ["host"], pool: ["pool", "membership"], protocol: [...path, "protocol"], istioVersion: ["gateway", "istioVersion"] };
    const known = problems.list.some((problem) => problem.text === refusal.text && formatPath(problem.path) === formatPath(at[refusal.at]));
    if (!known) problems.add(at[refusal.at], refusal.text, [["route"], ["host"], ["pool", "membership"], [...path, "protocol"], ["gateway", "istioVersion"]]);
}

function checkTargetPort(problems: Problems, { route, ports }: Declaration, index: number): void {
    const port = ports[index];
    if (port?.targetPort === undefined || originatesTls(route, port.protocol)) return;
    problems.add(["ports", index, "targetPort"], `is ${port.targetPort}, but has no effect on a ${port.protocol} port with route ${route}: the host is dialled on the port that the application dials; remove it.`, [["route"], ["ports", index, "protocol"]]);
}

function checkGatewayPort(problems: Problems, { route, gateway, ports }: Declaration, index: number, isFirst: boolean): void {
    const port = ports[index];
    if (port === undefined || gateway === undefined) return;
    const at = gatewayPort(port, route), entered = at === port.number ? "" : ` and enters the gateway on ${at}`;
    const path: Path = ["ports", index, port.targetPort === at ? "targetPort" : "number"];
    const target = targetPortOf(gateway, at), twin = ports.findIndex((other) => target !== undefined && targetPortOf(gateway, gatewayPort(other, route)) === target);
    const reads: Path[] = [["route"], ["gateway"], ["ports", index]];
    const value = path.at(-1) === "targetPort" ? String(at) : `${port.number}${entered}`;
    if (target !== undefined && twin < index && isFirst) {
        problems.add(path, `is ${value}, which the gateway's pods serve on ${target}, as they do ports[${twin}]: Istio silently drops the host's second server on one listener; give each port of the gateway its own targetPort.`, [...reads, ["ports", twin]]);
    }
    if (!gateway.ports.some(({ number }) => number === at)) {
        problems.add(path, `is ${value}, but the gateway's Service has ${gateway.ports.map(({ number }) => number).join(", ")} only: add the port to the gateway and its Service, then to gateway.ports.`, reads);
    }
}

function targetPortOf({ ports }: NonNullable<Declaration["gateway"]>, number: number): number | undefined {
    return ports.find((port) => port.number === number)?.targetPort;
}
