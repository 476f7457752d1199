// E307: a wildcard PASSTHROUGH server over a host whose own server ends TLS, on one port.
import { covers } from "../../model/preflight";
import { noConfiguration } from "../configuration";
import type { SetRule, SetVerdict } from "../rule";
import { type Server, servers } from "../views/gateways";
import { groupBy } from "../views/service-entries";

const PASSTHROUGH = ["PASSTHROUGH", "AUTO_PASSTHROUGH"];

export const passthroughOverTerminated: SetRule = {
    code: "E307",
    name: "passthrough-over-terminated",
    level: "mandatory",
    severity: "critical",
    description: "A wildcard PASSTHROUGH server must not cover a host that has a server of another TLS mode on the same port.",
    remediation: "Name the passthrough hosts exactly, or give one of the two a port of its own.",
    remediates: false,
    kinds: ["Gateway"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return [...groupBy(servers(mesh).filter(({ pods }) => pods !== ""), ({ pods, port }) => `${port} ${pods}`).values()].flatMap((group) => {
            const ended = group.filter(({ mode }) => typeof mode === "string" && !PASSTHROUGH.includes(mode));
            return ended.length === 0 ? [] : group.filter(({ mode }) => typeof mode === "string" && PASSTHROUGH.includes(mode)).flatMap((server) => judgeServer(server, ended));
        });
    },
};

function judgeServer(server: Server, ended: readonly Server[]): readonly SetVerdict[] {
    return server.hosts.filter(({ name }) => name.startsWith("*")).flatMap((wildcard): SetVerdict[] => {
        for (const other of ended) {
            const exact = other.hosts.find(({ name }) => !name.startsWith("*") && covers(wildcard.name, name));
            if (exact === undefined) continue;
            return [{
                object: server.object, path: wildcard.path,
                text: `is ${wildcard.shown} with ${String(server.mode)}, and covers ${exact.shown}, which ${other.object === server.object ? "another server of this Gateway" : other.object.label} ends with ${String(other.mode)} on the same port ${server.port}: `
                    + "with a VirtualService that routes the host on both, Envoy refuses the whole listener, and every host of the port is down (measured on the lab, istiod 1.31, Envoy 1.39.3). Name the passthrough hosts exactly, or give one of the two a port of its own.",
            }];
        }
        return [];
    });
}
