// One order of resources whatever the timing of a run: parents before children, dependencies before dependents, then by name.
import type { Resource } from "./types";

export function ordered(resources: readonly Resource[]): Resource[] {
    const byUrn = new Map(resources.map((resource) => [resource.urn, resource]));
    const children = new Map<string, Resource[]>();
    for (const resource of resources) {
        const parent = resource.parent !== undefined && byUrn.has(resource.parent) ? resource.parent : "";
        children.set(parent, [...(children.get(parent) ?? []), resource]);
    }
    const depths = new Map<string, number>();
    const depth = (urn: string): number => {
        const known = depths.get(urn);
        if (known !== undefined) return known;
        depths.set(urn, 0);
        const dependencies = byUrn.get(urn)?.dependencies ?? [];
        const value = dependencies.length === 0 ? 0 : 1 + Math.max(...dependencies.map(depth));
        depths.set(urn, value);
        return value;
    };
    const compare = (a: Resource, b: Resource): number => depth(a.urn) - depth(b.urn) || byText(a.type, b.type) || byText(a.name, b.name);
    const below = (parent: string): Resource[] => [...(children.get(parent) ?? [])].sort(compare).flatMap((resource) => [resource, ...below(resource.urn)]);
    return below("");
}

function byText(a: string, b: string): number {
    return a < b ? -1 : a > b ? 1 : 0;
}
