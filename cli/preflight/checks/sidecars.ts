// Sidecar objects: a sidecar whose scope leaves out what is written here sends its traffic past the gateway, without a word.
import { ALL_CONSUMERS, normaliseHost } from "../../../model";
import { covers } from "../../../model/preflight";
import { type Needs, gatewayOf } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { IstioObject, Snapshot } from "../snapshot";
import { type Declared, consumersOf, titleOf } from "./foreign";
import { mapOf, maps, rootNamespace, strings } from "./mesh-values";

type Seens = Pick<Snapshot, "sidecars" | "meshes" | "istioNamespace">;

export function checkSidecars({ declarations }: Needs, snapshot: Seens): readonly Result[] {
    const results = new Results("sidecar-scope", Group.InTheWay), root = rootNamespace(snapshot), { objects, unseen } = snapshot.sidecars;
    for (const sidecar of objects) {
        const names = new Set<string>(), places = new Set<string>();
        for (const declared of declarations) {
            for (const home of homesOf(sidecar, declared, objects, root)) {
                for (const place of neededBy(declared, home).filter((needed) => !imports(sidecar, home, needed, declared))) {
                    names.add(declared.name);
                    places.add(place === home ? "./*" : `${place}/*`);
                }
            }
        }
        if (names.size === 0) continue;
        results.missing(titleOf(sidecar), `leaves ${enumerate([...places])} out of what its sidecars import: connections to the hosts of ${enumerate([...names])} do not take the route.`, `Add ${enumerate([...places].map((place) => `"${place}"`))} to its spec.egress[].hosts, or the hosts alone.`);
    }
    const [why] = unseen;
    if (why !== undefined) results.unseen("Sidecar objects", why, "are not all known");
    return results.list;
}

/** The consumers of a declaration whose pods a Sidecar rules: its own namespace's; the root's rules namespaces without one for all their pods. */
function homesOf({ namespace, spec }: IstioObject, { declaration }: Declared, all: readonly IstioObject[], root: string): readonly string[] {
    const consumers = consumersOf(declaration), forAll = consumers.includes(ALL_CONSUMERS);
    if (namespace !== root) return forAll || consumers.includes(namespace) ? [namespace] : [];
    if (hasSelector(spec)) return [];
    return forAll ? [ALL_CONSUMERS] : consumers.filter((consumer) => !all.some((other) => other.namespace === consumer && !hasSelector(other.spec)));
}

const hasSelector = (spec: IstioObject["spec"]): boolean => Object.keys(mapOf(mapOf(spec["workloadSelector"])["labels"])).length > 0;

/** The namespaces of the objects that sidecars of a consumer need of a declaration. */
function neededBy({ declaration }: Declared, home: string): readonly string[] {
    if (gatewayOf(declaration) === undefined || consumersOf(declaration).includes(ALL_CONSUMERS)) return [declaration.namespace];
    // The clients' view, and the mesh leg; what the mesh leg leads to is imported with it.
    return declaration.active && declaration.namespace !== home ? [home, declaration.namespace] : [home];
}

/** Whether a listener of a Sidecar takes a host from a namespace; without listeners all are taken. */
function imports({ spec }: IstioObject, home: string, place: string, { declaration: { host, ports } }: Declared): boolean {
    const listeners = maps(spec["egress"]);
    if (listeners.length === 0) return true;
    return ports.every(({ number }) => listeners.some((listener) => {
        const port = mapOf(listener["port"])["number"];
        return (port === undefined || port === number) && strings(listener["hosts"]).some((entry) => {
            const slash = entry.indexOf("/"), from = entry.slice(0, Math.max(slash, 0)), names = entry.slice(slash + 1);
            return (from === "*" || (from === "." ? home : from) === place) && covers(names, normaliseHost(host));
        });
    }));
}
