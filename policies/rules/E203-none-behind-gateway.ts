// E203: a host that an egress gateway routes to, and that the gateway sees with resolution NONE only: an empty cluster there.
import { Resolution } from "../../model/resolution";
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { gatewayLegsOf } from "../views/routes";
import { gatewayNamespaces } from "../views/gateway-places";
import { type EntryHost, entriesOf } from "../views/service-entries";

export const noneBehindGateway: SetRule = {
    code: "E203",
    name: "none-behind-gateway",
    level: "mandatory",
    severity: "critical",
    description: "A host that a gateway routes to must be resolved for the gateway: resolution NONE has no endpoints there.",
    remediation: "Set resolution: DNS (or DNS_ROUND_ROBIN) on the ServiceEntry that the gateway's namespace sees; a client's view with NONE is exported to the client's namespace only.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("ServiceEntry")) return [];
        const found = new Map<EntryHost, SetVerdict>();
        for (const leg of gatewayLegsOf(mesh)) {
            const places = gatewayNamespaces(mesh, leg);
            // Wildcards are E204's.
            for (const { host, shown } of leg.destinations.filter((destination) => !destination.host.startsWith("*"))) {
                const entries = entriesOf(mesh, host);
                for (const place of places) {
                    const seen = entries.filter((entry) => mesh.sees(place, entry.object) !== false);
                    if (seen.length === 0 || !seen.every(({ object, resolution }) => resolution === Resolution.None && mesh.sees(place, object) === true)) continue;
                    for (const entry of seen) found.set(entry, finding(entry, shown, `${leg.object.label} routes to it from the gateway in ${place}`));
                }
                // Whoever the gateway's pods are, they see what everybody sees.
                if (places.length === 0 && entries.length > 0 && entries.every(({ resolution, viewers }) => resolution === Resolution.None && viewers === "everywhere")) {
                    for (const entry of entries) found.set(entry, finding(entry, shown, `${leg.object.label} routes to it from a gateway`));
                }
            }
        }
        return [...found.values()];
    },
};

function finding({ object }: EntryHost, host: string, route: string): SetVerdict {
    const path = ["spec", "resolution"], written = object.text(path);
    const state = written === undefined || written === UNKNOWN ? "is unset, which is NONE," : `is ${object.show(path, written)},`;
    return {
        object, path,
        text: `${state} and ${route}: a gateway has no address that an application dialled, so that ${host} is an empty cluster there and every connection gets UH (measured on the lab, istiod 1.31, Envoy 1.39.3). `
            + "Set resolution: DNS, or DNS_ROUND_ROBIN for a rotating pool; a view with NONE for the clients is exported to their own namespaces only.",
    };
}
