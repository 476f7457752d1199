// E304: one host on one port of one gateway twice: Istio drops the later server, or never reaches the later route.
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { SetRule, SetVerdict } from "../rule";
import { type Server, type ServerHost, servers } from "../views/gateways";
import { gatewayLegsOf } from "../views/routes";
import { groupBy } from "../views/service-entries";

export const sniTwice: SetRule = {
    code: "E304",
    name: "sni-twice",
    level: "mandatory",
    severity: "high",
    description: "A host must stand once on a port of the gateways that configure the same pods, and in one VirtualService of a gateway.",
    remediation: "Keep one server per host and port of the gateway's pods, and one VirtualService per host of a gateway.",
    remediates: false,
    kinds: ["Gateway", "VirtualService"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return [...serversTwice(mesh), ...routesTwice(mesh)];
    },
};

interface Placed {
    readonly server: Server;
    readonly host: ServerHost;
}

function serversTwice(mesh: Mesh): readonly SetVerdict[] {
    const placed = servers(mesh).filter(({ mode, pods, object, path }) => typeof mode === "string" && pods !== "" && object.at([...path, "tls", "httpsRedirect"]) === undefined)
        .flatMap((server): Placed[] => server.hosts.map((host) => ({ server, host })));
    return [...groupBy(placed, ({ server, host }) => JSON.stringify([server.pods, server.port, bindOf(server), host.name])).values()].flatMap(([first, ...later]) => later.flatMap(({ server, host }): SetVerdict[] => {
        if (first === undefined || first.server === server) return [];
        const where = first.server.object === server.object ? "this Gateway has it" : `${first.server.object.label} has it`;
        return [{
            object: server.object, path: host.path,
            text: `is ${host.shown} on port ${server.port}, and ${where} there already, for the same pods: Istio keeps the server that is older and drops the other without a word (counted in pilot_total_rejected_configs; measured on the lab). Keep one of them.`,
        }];
    }));
}

/** Servers that listen on different addresses of a port do not meet. */
function bindOf({ object, path }: Server): string {
    const bind = object.text([...path, "bind"]);
    return typeof bind === "string" ? bind : "";
}

/** Two VirtualServices of a gateway that take the same SNI on the same port. */
function routesTwice(mesh: Mesh): readonly SetVerdict[] {
    const taken = gatewayLegsOf(mesh).filter(({ kind }) => kind === "tls").flatMap((leg) => leg.gateways.flatMap((gateway) => leg.hosts.map((host) => ({ leg, gateway, host }))));
    return [...groupBy(taken, ({ leg, gateway, host }) => JSON.stringify([gateway, leg.port, host.name])).values()].flatMap(([first, ...later]) => later.flatMap(({ leg, gateway, host }): SetVerdict[] => {
        if (first === undefined || first.leg.object === leg.object) return [];
        return [{
            object: leg.object, path: host.path,
            text: `is ${host.shown}, for which ${first.leg.object.label} has a route on the gateway ${gateway} already: the SNI leads to one of the two, and the other never gets a connection. Keep one of them.`,
        }];
    }));
}
