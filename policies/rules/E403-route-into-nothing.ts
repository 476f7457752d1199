// E403: a route to a host that no ServiceEntry declares or to a subset that no rule defines, a server without a route, a pool without a rule.
import { Membership } from "../../model/resolution";
import { poolConfiguration, wholeConfiguration } from "../configuration";
import type { z } from "zod";
import type { Mesh } from "../mesh";
import type { Context, SetRule, SetVerdict } from "../rule";
import { rulesOf, rulesOfSubset, subsetPath, wildcardRulesOf } from "../views/destination-rules";
import { servers } from "../views/gateways";
import { type Leg, legs, namespaceOfService } from "../views/routes";
import { entriesFor, entryHosts } from "../views/service-entries";

const configuration = poolConfiguration.extend(wholeConfiguration.shape);
type Settings = z.output<typeof configuration>;

export const routeIntoNothing: SetRule<Settings> = {
    code: "E403",
    name: "route-into-nothing",
    level: "mandatory",
    severity: "high",
    description: "A route must lead to a declared host and a defined subset, a gateway's server must have a route, and a fixed pool a DestinationRule.",
    remediation: "Add the object that the message names, or remove the one that needs it.",
    remediates: false,
    kinds: ["VirtualService", "Gateway", "ServiceEntry"],
    configuration,
    checkSet(mesh, context) {
        return [...legs(mesh).flatMap((leg) => judgeLeg(mesh, leg, context)), ...serversWithoutRoute(mesh, context), ...poolsWithoutRule(mesh, context)];
    },
};

const isWhole = (mesh: Mesh, { settings }: Context<Settings>, ...kinds: readonly string[]): boolean => kinds.every((kind) => mesh.isComplete(kind) || (settings.objects === "all" && mesh.isSure(kind)));

const ELSEWHERE = "It may be in another stack or file: whether it exists is not judged.";

/** Routes between services of the mesh are none of egress: only legs to external hosts, and legs of external hosts, are judged. */
function judgeLeg(mesh: Mesh, { object, hosts, destinations }: Leg, context: Context<Settings>): readonly SetVerdict[] {
    const external = hosts.some(({ name }) => name.includes(".") && namespaceOfService(mesh, name) === undefined);
    return destinations.flatMap(({ host, shown, subset, path: at }): SetVerdict[] => {
        const isService = namespaceOfService(mesh, host) !== undefined || host.split(".").length < 3, path = [...at, "host"];
        if (!isService && external && entriesFor(mesh, host).length === 0) {
            return [isWhole(mesh, context, "ServiceEntry")
                ? { object, path, text: `is ${shown}, but no ServiceEntry declares it: there is no cluster for it, and the route refuses every connection. Add a ServiceEntry that the gateway sees, or correct the host.` }
                : { object, path, unjudged: `is ${shown}, of which no ServiceEntry is at hand. ${ELSEWHERE}` }];
        }
        if (subset === undefined || !external || rulesOfSubset(mesh, host, subset).length > 0 || wildcardRulesOf(mesh, host).some((rule) => subsetPath(rule.object, subset) !== undefined)) return [];
        const field = [...at, "subset"], name = object.show(field, subset);
        return [isWhole(mesh, context, "DestinationRule")
            ? { object, path: field, text: `is ${name}, but no DestinationRule of ${shown} defines it: there is no cluster for it, and the route refuses every connection. Define the subset in a DestinationRule that the clients see, or leave it out.` }
            : { object, path: field, unjudged: `is ${name}, which no DestinationRule at hand defines for ${shown}. ${ELSEWHERE}` }];
    });
}

function serversWithoutRoute(mesh: Mesh, context: Context<Settings>): readonly SetVerdict[] {
    const bound = mesh.once("bound gateways", () => new Set(legs(mesh).flatMap(({ gateways }) => gateways)));
    return servers(mesh).filter(({ gateway }) => !bound.has(gateway)).map(({ object, path, hosts }): SetVerdict => {
        const list = [...path, "hosts"], names = hosts.map(({ shown }) => shown).join(", ");
        return isWhole(mesh, context, "VirtualService")
            ? { object, path: list, level: "advisory", text: `holds ${names}, but no VirtualService is bound to this Gateway: the server accepts connections that lead nowhere. Bind a VirtualService to it, or remove the Gateway.` }
            : { object, path: list, unjudged: `holds ${names}, and no VirtualService that is bound to this Gateway is at hand. ${ELSEWHERE}` };
    });
}

/** A fixed pool lives by its rule: without one there is no ejection, and ten seconds per failed connect. */
function poolsWithoutRule(mesh: Mesh, context: Context<Settings>): readonly SetVerdict[] {
    if (!isWhole(mesh, context, "DestinationRule")) return [];
    return entryHosts(mesh).flatMap(({ object, host, shown, path, resolution, isExternal }): SetVerdict[] => {
        const answer = context.pools.of(object, host);
        if (!isExternal || resolution !== "DNS" || answer.state !== "declared" || answer.pool.membership !== Membership.Fixed) return [];
        if (rulesOf(mesh, host).length + wildcardRulesOf(mesh, host).length > 0) return [];
        return [{
            object, path, level: "advisory",
            text: `is ${shown}, whose pool is fixed, but no DestinationRule is for it: a dead address is never ejected, and each connection to it waits for the mesh's connect timeout of 10 s. Add a DestinationRule with outlierDetection and connectTimeout.`,
        }];
    });
}
