// E204: a gateway that routes to a wildcard, which has no addresses of its own there.
import { WILDCARD_BEHIND_GATEWAY } from "../../model/routes";
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { gatewayLegsOf } from "../views/routes";
import { entriesOf } from "../views/service-entries";

/** Resolutions under which a gateway has no addresses of a wildcard. */
const WITHOUT_ADDRESSES = ["NONE", "DYNAMIC_DNS"];

export const wildcardBehindGateway: SetRule = {
    code: "E204",
    name: "wildcard-behind-gateway",
    level: "mandatory",
    severity: "critical",
    description: "A gateway must route to exact hosts, or to a wildcard with endpoints: any other wildcard is an empty cluster there.",
    remediation: "Route each host by its exact name, give the wildcard's ServiceEntry endpoints and resolution DNS, or let the sidecars reach it directly.",
    remediates: false,
    kinds: ["VirtualService"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("ServiceEntry")) return [];
        return gatewayLegsOf(mesh).flatMap(({ object, destinations }) => destinations.filter(({ host }) => host.startsWith("*")).flatMap(({ host, shown, path: at }): SetVerdict[] => {
            const path = [...at, "host"], entries = entriesOf(mesh, host);
            if (entries.length === 0) return [{ object, path, unjudged: `is ${shown}, a wildcard of which no ServiceEntry is at hand: whether a gateway has addresses for it is not judged.` }];
            if (!entries.every(({ resolution }) => resolution !== UNKNOWN && WITHOUT_ADDRESSES.includes(resolution))) return [];
            const resolutions = [...new Set(entries.map(({ resolution }) => String(resolution)))].join(" and ");
            return [{
                object, path,
                text: `is ${shown}, with resolution ${resolutions}, but ${WILDCARD_BEHIND_GATEWAY}: every connection fails at the gateway. Route each host by its exact name, give its ServiceEntry endpoints and resolution DNS, or let the sidecars reach it directly.`,
            }];
        }));
    },
};
