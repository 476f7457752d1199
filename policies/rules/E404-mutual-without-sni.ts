// E404: the hop to an ISTIO_MUTUAL server without the SNI by which the gateway chooses it.
import { covers } from "../../model/preflight";
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { blockPath, rulesOf, rulesOfSubset } from "../views/destination-rules";
import { type Server, serversFor } from "../views/gateways";
import { type Hop, hops } from "../views/routes";

const ISTIO_MUTUAL = "ISTIO_MUTUAL";

export const mutualWithoutSni: SetRule = {
    code: "E404",
    name: "mutual-without-sni",
    level: "mandatory",
    severity: "critical",
    description: "The subset of an egress gateway's Service that carries a host under ISTIO_MUTUAL must set sni to that host.",
    remediation: "Set tls.sni to the host, in one subset per host.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("Gateway")) return [];
        const found = new Map<string, SetVerdict>();
        // An http route carries the host's name inside, and a gateway of `*` takes any SNI.
        for (const hop of hops(mesh).filter(({ leg }) => leg.kind !== "http")) {
            for (const verdict of judgeHop(mesh, hop)) {
                const key = `${verdict.object.label} ${verdict.path.join(".")}`;
                if (!found.has(key)) found.set(key, verdict);
            }
        }
        return [...found.values()];
    },
};

function judgeHop(mesh: Mesh, { leg, host, destination }: Hop): readonly SetVerdict[] {
    const { subset, port } = destination;
    const mine = subset === undefined ? rulesOf(mesh, destination.host) : rulesOfSubset(mesh, destination.host, subset);
    return mine.flatMap(({ object }): SetVerdict[] => {
        const tls = blockPath(object, "tls", subset, port);
        if (tls === undefined || tls === UNKNOWN || object.text([...tls, "mode"]) !== ISTIO_MUTUAL) return [];
        const path = [...tls, "sni"], sni = object.text(path);
        if (sni === UNKNOWN) return [];
        const servers = serversFor(mesh, host.name).filter((server) => server.mode === ISTIO_MUTUAL && (port === undefined || server.port === port));
        if (servers.length === 0) return [{ object, path, unjudged: `is ${sni === undefined ? "unset" : object.show(path, sni)}, and no ISTIO_MUTUAL server for ${host.shown} is at hand: whether the gateway chooses the right one is not judged.` }];
        if (servers.some((server) => takes(server, sni))) return [];
        const state = sni === undefined ? "is unset, so that the sidecar sends the name of its own cluster" : `is ${object.show(path, sni)}`;
        const [server] = servers;
        return [{
            object, path,
            text: `${state}, but ${leg.object.label} sends ${host.shown} through it, and ${server?.object.label ?? "the Gateway"} chooses its server by the outer SNI: none matches, and every connection ends as NR filter_chain_not_found (measured on the lab, istiod 1.31, Envoy 1.39.3). Set sni: ${host.shown}, in a subset of that host's own.`,
        }];
    });
}

/** Without an SNI only a server for every name is chosen. */
function takes({ hosts }: Server, sni: string | undefined): boolean {
    return hosts.some(({ name }) => name === "*" || (sni !== undefined && covers(name, sni)));
}
