// Which proxies see an object: two objects meet only where one proxy sees both.
import { EVERYWHERE, isVisible } from "./preflight";

/** The namespaces whose proxies see an object: all, or those named. */
export type Viewers = "everywhere" | ReadonlySet<string>;

/** The viewers of an object of `own` with this exportTo; without one the mesh's default counts. Istio's rules are those of `isVisible`. */
export function viewersOf(exportTo: readonly string[] | undefined, own: string, meshDefault: readonly string[] = EVERYWHERE): Viewers {
    const words = exportTo === undefined || exportTo.length === 0 ? meshDefault : exportTo;
    if (words.includes("*")) return "everywhere";
    const named = words.map((word) => (word === "." ? own : word));
    return new Set(named.filter((namespace) => isVisible(words, own, namespace)));
}

/** The viewers that two objects have in common. */
export function commonViewers(one: Viewers, other: Viewers): Viewers {
    if (one === "everywhere") return other;
    if (other === "everywhere") return one;
    return new Set([...one].filter((namespace) => other.has(namespace)));
}

export const isNobody = (viewers: Viewers): boolean => viewers !== "everywhere" && viewers.size === 0;

/** Those of `wanted` that are not among `actual`: `everywhere` where some unnamed namespace is. */
export function missingViewers(wanted: Viewers, actual: Viewers): Viewers {
    if (actual === "everywhere") return new Set();
    if (wanted === "everywhere") return "everywhere";
    return new Set([...wanted].filter((namespace) => !actual.has(namespace)));
}

export interface PlacedRule<T> {
    readonly namespace: string;
    readonly viewers: Viewers;
    readonly rule: T;
}

/**
 * The DestinationRules of a host that count for proxies of `client`: those of its own namespace, else of the Service's,
 * else of the root's; the first of these that has any wins whole *(measured on the lab)*.
 */
export function rulesFor<T>(rules: readonly PlacedRule<T>[], client: string, service: string, root: string): readonly PlacedRule<T>[] {
    for (const namespace of [client, service, root]) {
        const there = rules.filter((rule) => rule.namespace === namespace && (rule.viewers === "everywhere" || rule.viewers.has(client)));
        if (there.length > 0) return there;
    }
    return [];
}
