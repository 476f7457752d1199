// E401: an exportTo under which a gateway or a consumer does not see what it needs, or under which every sidecar holds every host.
import { z } from "zod";
import { type Viewers, missingViewers } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { countingRules, rulesOf } from "../views/destination-rules";
import { gatewayNamespaces } from "../views/gateway-places";
import { type Leg, gatewayLegsOf, hops } from "../views/routes";
import { entriesFor, entriesOf, entryHosts, resolutionIn } from "../views/service-entries";
import { who } from "../views/words";

const configuration = z.strictObject({
    hostsForAll: z.int().min(1).default(50)
        .describe("How many external hosts may be exported to the whole mesh before that is reported, once: every sidecar then holds the clusters of all of them."),
});

export const exportUnseen: SetRule<z.output<typeof configuration>> = {
    code: "E401",
    name: "export-unseen",
    level: "mandatory",
    severity: "high",
    description: "The gateway's namespace must see a host's ServiceEntry, rules and route, its consumers must see theirs, and nobody else needs to.",
    remediation: "Add the namespace that the message names to exportTo; name namespaces instead of * where many hosts are declared.",
    remediates: false,
    kinds: ["ServiceEntry", "VirtualService", "DestinationRule"],
    configuration,
    checkSet(mesh, { settings }) {
        const found = new Map<string, SetVerdict>();
        const add = (verdict: SetVerdict): void => {
            const key = `${verdict.object.label} ${verdict.path.join(".")}`;
            if (!found.has(key)) found.set(key, verdict);
        };
        // What none of them is seen to be may be what is not known of one.
        if (!mesh.isSure("ServiceEntry") || !mesh.isSure("DestinationRule")) return [];
        for (const leg of gatewayLegsOf(mesh)) for (const place of gatewayNamespaces(mesh, leg)) for (const verdict of unseenByGateway(mesh, leg, place)) add(verdict);
        for (const verdict of unseenByConsumers(mesh)) add(verdict);
        return [...found.values(), ...everywhere(mesh, settings.hostsForAll)];
    },
};

const EXPORT = ["spec", "exportTo"];

/** What a gateway in `place` needs of a leg that is bound to it: the leg itself, the entries it leads to, and one of their rules. */
function unseenByGateway(mesh: Mesh, leg: Leg, place: string): readonly SetVerdict[] {
    const verdicts: SetVerdict[] = [];
    if (mesh.sees(place, leg.object) === false) {
        verdicts.push(unseen(leg.object, `so that the gateway in ${place} does not see its own route to ${leg.hosts.map(({ shown }) => shown).join(", ")}: connections that reach it are refused`, place));
    }
    for (const { host, shown } of leg.destinations) {
        const entries = entriesFor(mesh, host), seen = entries.filter(({ object }) => mesh.sees(place, object) !== false);
        const [first] = entries;
        if (first !== undefined && seen.length === 0) {
            verdicts.push(unseen(first.object, `so that the gateway in ${place}, to which ${leg.object.label} is bound, does not know ${shown}: it has no cluster for it`, place));
            continue;
        }
        const [entry] = seen, rules = rulesOf(mesh, host), home = entry?.object.namespace;
        if (entry === undefined || typeof home !== "string" || rules.length === 0 || countingRules(mesh, host, place, home).size > 0) continue;
        const [rule] = rules;
        if (rule === undefined) continue;
        const hidden = rule.viewers === "everywhere" || rule.viewers.has(place);
        verdicts.push(hidden
            ? { object: rule.object, path: ["metadata", "namespace"], text: `is ${rule.object.show(["metadata", "namespace"], rule.namespace)}, where the gateway in ${place} does not look for rules of ${shown}: it looks in its own namespace, in that of the ServiceEntry (${home}) and in ${mesh.root}, so that outlier detection and timeouts do not count. Move the rule to ${home}.` }
            : unseen(rule.object, `so that the gateway in ${place} does not see it, and outlier detection and timeouts of ${shown} do not count there`, place));
    }
    return verdicts;
}

/** What the consumers of a mesh leg need beside it: a ServiceEntry of the host, or their sidecars have no listener for it. */
function unseenByConsumers(mesh: Mesh): readonly SetVerdict[] {
    return hops(mesh).flatMap(({ leg, host, gatewayNamespace }): SetVerdict[] => {
        const { viewers } = leg, entries = entriesFor(mesh, host.name), [first] = entries;
        if (viewers === UNKNOWN || viewers === "everywhere" || first === undefined || entries.some((entry) => entry.viewers === UNKNOWN)) return [];
        const blind = entries.reduce<Viewers>((left, entry) => (entry.viewers === UNKNOWN ? left : missingViewers(left, entry.viewers)), new Set([...viewers].filter((viewer) => viewer !== gatewayNamespace)));
        if (blind === "everywhere" || blind.size === 0) return [];
        return [unseen(first.object, `so that sidecars of ${who(blind)}, which ${leg.object.label} is for, have no listener for ${host.shown}: their connections do not take the route`, [...blind].sort().join(", "))];
    });
}

function unseen(object: MeshObject, consequence: string, missing: string): SetVerdict {
    const words = object.texts(EXPORT), state = words === undefined || words === UNKNOWN ? "is unset here and narrowed by the mesh's default," : `is ${object.show(EXPORT, JSON.stringify(words))},`;
    const path = object.kind === "VirtualService" || object.kind === "DestinationRule" || object.kind === "ServiceEntry" ? EXPORT : [];
    return { object, path, text: `${state} ${consequence}. Add ${missing} to it${object.kind === "ServiceEntry" && resolutionIn(object) !== "NONE" ? ", or give those namespaces a view of their own" : ""}.` };
}

/** Told once: a finding per host would be as long as the list. */
function everywhere(mesh: Mesh, limit: number): readonly SetVerdict[] {
    const open = entryHosts(mesh).filter(({ isExternal, viewers }) => isExternal && viewers === "everywhere"), [first] = open;
    const hosts = new Set(open.map(({ host }) => host)).size;
    if (first === undefined || hosts < limit || entriesOf(mesh, first.host).length === 0) return [];
    const words = first.object.texts(EXPORT);
    return [{
        object: first.object, path: EXPORT, level: "advisory",
        text: `is ${words === undefined || words === UNKNOWN ? "unset, which is everywhere" : first.object.show(EXPORT, JSON.stringify(words))}, as for ${hosts} external hosts in all: every sidecar of the mesh holds the clusters of all of them, and resolves each `
            + "(measured on the lab with 1,000 hosts: 4.6 MB of configuration and 110 MB of memory per sidecar). Name the namespaces that use each host.",
    }];
}
