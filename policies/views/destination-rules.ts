// DestinationRules as istiod looks them up: by host, by who asks, and by what a subset or a port replaces.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { covers, fullHost } from "../../model/preflight";
import { type PlacedRule, type Viewers, rulesFor } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN, isObject } from "../plain";
import { groupBy } from "./service-entries";

export interface HostRule {
    readonly object: MeshObject;
    /** The full name, in the one spelling. */
    readonly host: string;
    readonly shown: string;
    readonly namespace: string;
    readonly viewers: Viewers;
}

/** Every rule whose host, namespace and viewers are known. */
export function hostRules(mesh: Mesh): readonly HostRule[] {
    return mesh.once("host rules", () => mesh.of("DestinationRule").flatMap((object): HostRule[] => {
        const { namespace } = object, host = object.text(["spec", "host"]), viewers = mesh.viewers(object);
        if (namespace === UNKNOWN || typeof host !== "string" || viewers === UNKNOWN) return [];
        // Rules that select workloads by label count for those alone, and merge by rules of their own.
        if (object.at(["spec", "workloadSelector"]) !== undefined) return [];
        const name = fullHost(host, namespace, mesh.domain);
        return [{ object, host: name, shown: object.show(["spec", "host"], name), namespace, viewers }];
    }));
}

/** The rules of a host, exact ones only. */
export function rulesOf(mesh: Mesh, host: string): readonly HostRule[] {
    return mesh.once("rules by host", () => groupBy(hostRules(mesh), (rule) => rule.host)).get(normaliseHost(host)) ?? [];
}

/** The rules of a host that define a subset. An egress gateway's Service has one for each host: what looks through them all is quadratic. */
export function rulesOfSubset(mesh: Mesh, host: string, subset: string): readonly HostRule[] {
    const byHost = mesh.once("rules by host and subset", () => new Map<string, ReadonlyMap<string, readonly HostRule[]>>()), name = normaliseHost(host);
    let bySubset = byHost.get(name);
    if (bySubset === undefined) {
        const defined = rulesOf(mesh, name).flatMap((rule) => [...new Set(subsetNames(rule.object))].map((defines) => ({ rule, defines })));
        bySubset = new Map([...groupBy(defined, ({ defines }) => defines)].map(([defines, list]) => [defines, list.map(({ rule }) => rule)]));
        byHost.set(name, bySubset);
    }
    return bySubset.get(subset) ?? [];
}

function subsetNames(rule: MeshObject): readonly string[] {
    return rule.indexes(["spec", "subsets"]).flatMap((index) => {
        const name = rule.text(["spec", "subsets", index, "name"]);
        return typeof name === "string" ? [name] : [];
    });
}

/** The rules whose host is a wildcard over a host. */
export function wildcardRulesOf(mesh: Mesh, host: string): readonly HostRule[] {
    return mesh.once("wildcard rules", () => hostRules(mesh).filter((rule) => rule.host.startsWith("*"))).filter((rule) => rule.host !== normaliseHost(host) && covers(rule.host, host));
}

/** The rules of a host that count for proxies of a namespace. */
export function countingRules(mesh: Mesh, host: string, client: string, serviceNamespace: string): ReadonlySet<HostRule> {
    return mesh.once(`counting rules ${JSON.stringify([host, client, serviceNamespace])}`, () => {
        const placed: readonly PlacedRule<HostRule>[] = rulesOf(mesh, host).map((rule) => ({ namespace: rule.namespace, viewers: rule.viewers, rule }));
        return new Set(rulesFor(placed, client, serviceNamespace, mesh.root).map(({ rule }) => rule));
    });
}

/** Where a rule defines a subset; undefined where it does not. */
export function subsetPath(rule: MeshObject, subset: string): Path | undefined {
    const index = rule.indexes(["spec", "subsets"]).find((candidate) => rule.text(["spec", "subsets", candidate, "name"]) === subset);
    return index === undefined ? undefined : ["spec", "subsets", index];
}

/** The blocks that a `portLevelSettings` entry replaces whole: what it leaves out is gone for its port (Istio's API and sources). */
export const PORT_BLOCKS = ["loadBalancer", "connectionPool", "outlierDetection", "tls"] as const;
export type Block = (typeof PORT_BLOCKS)[number];

/**
 * The path of the block that counts for a port of a subset (or of the rule itself): undefined where none is set, UNKNOWN where
 * that is not known. A subset overrides block by block; an entry of portLevelSettings replaces all four.
 */
export function blockPath(rule: MeshObject, block: Block, subset: string | undefined, port: number | undefined): Path | undefined | typeof UNKNOWN {
    const own = subset === undefined ? undefined : subsetPath(rule, subset);
    for (const policy of [...(own === undefined ? [] : [[...own, "trafficPolicy"]]), ["spec", "trafficPolicy"]]) {
        const entry = portEntry(rule, policy, port);
        const path = [...(entry ?? policy), block], value = rule.at(path);
        if (value === UNKNOWN) return UNKNOWN;
        if (isObject(value)) return path;
        // The entry of a subset ends the search: nothing shines through it.
        if (entry !== undefined) return undefined;
    }
    return undefined;
}

export function portEntry(rule: MeshObject, policy: Path, port: number | undefined): Path | undefined {
    if (port === undefined) return undefined;
    const index = rule.indexes([...policy, "portLevelSettings"]).find((candidate) => rule.number([...policy, "portLevelSettings", candidate, "port", "number"]) === port);
    return index === undefined ? undefined : [...policy, "portLevelSettings", index];
}
