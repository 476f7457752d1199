// E405: a route of another kind than its server leaves over: tls where TLS was ended, tcp where SNI chooses, none for HTTPS.
import { covers } from "../../model/preflight";
import { isTls } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { type Server, servers } from "../views/gateways";
import { type Leg, type RouteKind, gatewayLegsOf } from "../views/routes";
import { groupBy } from "../views/service-entries";

export const routeOfWrongKind: SetRule = {
    code: "E405",
    name: "route-of-wrong-kind",
    level: "mandatory",
    severity: "critical",
    description: "Behind a TLS server that ends TLS a VirtualService needs a tcp route, behind PASSTHROUGH a tls route, behind HTTPS an http route.",
    remediation: "Change the kind of the route to the one that the message names, or the server's protocol or mode.",
    remediates: false,
    kinds: ["VirtualService", "Gateway"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return mesh.isSure("VirtualService") ? servers(mesh).flatMap((server) => judgeServer(mesh, server)) : [];
    },
};

function judgeServer(mesh: Mesh, server: Server): readonly SetVerdict[] {
    const { mode, protocol } = server;
    if (mode === undefined || mode === UNKNOWN || protocol === UNKNOWN || !isTls(protocol) || mode === "AUTO_PASSTHROUGH") return [];
    const byGateway = mesh.once("legs by gateway", () => {
        const bound = gatewayLegsOf(mesh).flatMap((leg) => leg.gateways.map((gateway) => ({ gateway, leg })));
        return groupBy(bound, ({ gateway }) => gateway);
    });
    const all = (byGateway.get(server.gateway) ?? []).map(({ leg }) => leg).filter(({ port }) => port === undefined || port === server.port);
    const needed: RouteKind = mode === "PASSTHROUGH" ? "tls" : protocol === "HTTPS" ? "http" : "tcp";
    const seen = new Set<string>();
    return server.hosts.flatMap(({ name, shown }): SetVerdict[] => {
        const taking = all.filter(({ hosts }) => hosts.some((host) => covers(name, host.name) || covers(host.name, name)));
        const wrong = taking.find(({ kind }) => kind !== needed);
        if (wrong === undefined || taking.some(({ kind }) => kind === needed)) return [];
        const key = `${wrong.object.label} ${wrong.path.join(".")}`;
        if (seen.has(key)) return [];
        seen.add(key);
        return [verdict(server, wrong, needed, shown)];
    });
}

function verdict(server: Server, { object, path, kind }: Leg, needed: RouteKind, host: string): SetVerdict {
    const what = `${server.object.label} ${reason(String(server.mode), needed)}`;
    return {
        object, path,
        text: `is a ${kind} route for ${host}, but ${what}, so that it takes nothing, and every connection ends as NR (measured on the lab, istiod 1.31, Envoy 1.39.3). Make it a ${needed} route`
            + `${needed === "http" ? ", or set the server's protocol to TLS and make it a tcp route, if the application does TLS itself" : ""}.`,
    };
}

function reason(mode: string, needed: RouteKind): string {
    switch (needed) {
        case "tls": return "passes TLS through (PASSTHROUGH), where only a tls route, by SNI, chooses";
        case "tcp": return `ends the outer TLS (${mode}, protocol TLS), where no SNI is left to choose by`;
        case "http": return `ends TLS and reads HTTP (${mode}, protocol HTTPS)`;
    }
}
