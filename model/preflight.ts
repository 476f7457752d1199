// What proxies of a namespace see of an object in another one, and which names and labels mean the same: for objects that others wrote.
import { normaliseHost } from "./host";

/** What istiod takes where an object, and the mesh, say nothing: seen everywhere. */
export const EVERYWHERE: readonly string[] = ["*"];

/**
 * Whether proxies of the namespace `viewer` see an object of `own`. Without an exportTo the mesh's default counts.
 * Istio's rules: `*` is everybody, `.` the object's own namespace, `~` nobody, which only `*` outweighs, any other word a namespace.
 */
export function isVisible(exportTo: readonly string[] | undefined, own: string, viewer: string, meshDefault: readonly string[] = EVERYWHERE): boolean {
    const words = exportTo === undefined || exportTo.length === 0 ? meshDefault : exportTo;
    if (words.includes("*")) return true;
    if (words.includes("~")) return false;
    return words.includes(viewer) || (viewer === own && words.includes("."));
}

/** Whether two DestinationRules of one host merge: only then are they exported to exactly the same (measured). */
export function sameExport(one: readonly string[], other: readonly string[]): boolean {
    return [...new Set(one)].sort().join() === [...new Set(other)].sort().join();
}

/** The full name that a host field means: a short name is a Service of the object's own namespace. */
export function fullHost(host: string, namespace: string, domain = "cluster.local"): string {
    const name = normaliseHost(host);
    return name.includes(".") || name === "*" ? name : `${name}.${namespace}.svc.${domain}`;
}

/** Whether a rule's host covers a host: the same name, or a wildcard above it, `*` included. */
export function covers(pattern: string, host: string): boolean {
    const wanted = normaliseHost(pattern), name = normaliseHost(host);
    return wanted === "*" || wanted === name || (wanted.startsWith("*") && name.endsWith(wanted.slice(1)) && name.length >= wanted.length);
}

export type Labels = Readonly<Record<string, string>>;

/** Whether labels hold every pair of a selector; an empty selector selects nothing here, as in a Service. */
export function hasLabels(labels: Labels, selector: Labels): boolean {
    const pairs = Object.entries(selector);
    return pairs.length > 0 && pairs.every(([key, value]) => labels[key] === value);
}

/** A Kubernetes label selector, as meshConfig.discoverySelectors is a list of. */
export interface LabelSelector {
    readonly matchLabels?: Labels;
    readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

/** Whether a label selector takes these labels; undefined for an operator that Kubernetes does not have. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean | undefined {
    if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) return false;
    const verdicts = matchExpressions.map(({ key, operator, values = [] }) => {
        const value = labels[key];
        switch (operator) {
            case "In": return value !== undefined && values.includes(value);
            case "NotIn": return value === undefined || !values.includes(value);
            case "Exists": return value !== undefined;
            case "DoesNotExist": return value === undefined;
            default: return undefined;
        }
    });
    return verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
}
