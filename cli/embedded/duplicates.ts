// The same Kubernetes object registered more than once: the cluster would hold what was written last, and nobody would notice.
import { isMap } from "../plain";
import { isKubernetes } from "./kubernetes";
import type { ProgramError, Resource } from "./types";
import { isIncomplete } from "./values";

/** One error about all of them, naming the resources of each; none where the program has no such objects. */
export function duplicateObjects(resources: readonly Resource[]): ProgramError[] {
    const byObject = new Map<string, { label: string; resources: Resource[] }>();
    for (const resource of resources) {
        const identity = identify(resource);
        if (identity === undefined) continue;
        const known = byObject.get(identity.key);
        if (known === undefined) byObject.set(identity.key, { label: identity.label, resources: [resource] });
        else known.resources.push(resource);
    }
    const same = [...byObject.values()].filter((each) => each.resources.length > 1);
    if (same.length === 0) return [];
    const lines = same.map((each) => `\n    ${each.label}: ${each.resources.map((resource) => describe(resource, resources)).join(" and ")}`);
    return [{
        message: `${same.length === 1 ? "One Kubernetes object is" : `${same.length} Kubernetes objects are`} registered by more than one resource; the cluster would hold the one that is written last, and removing either removes the object. `
            + `Keep one of them, or give the other another host, name or namespace:${lines.join("")}`,
        frames: [],
    }];
}

/**
 * What one cluster tells objects apart by; the API version is none of it. Undefined for names that this preview does not
 * know, and for patches, of which one object takes many.
 */
function identify({ type, custom, external, provider = "", inputs }: Resource): { key: string; label: string } | undefined {
    const { apiVersion, kind, metadata } = inputs;
    if (!isKubernetes(type) || !custom || external || type.endsWith("Patch") || !isMap(metadata)) return undefined;
    const { name, namespace = "" } = metadata;
    if (!isKnown(apiVersion) || !isKnown(kind) || !isKnown(namespace) || !isKnown(name)) return undefined;
    const group = apiVersion.split("/").slice(0, -1).join("/");
    return { key: JSON.stringify([provider, group, kind, namespace, name]), label: `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}` };
}

function isKnown(value: unknown): value is string {
    return typeof value === "string" && !isIncomplete(value);
}

/** `"a-service-entry" of ExternalEgressHost "a"`; its own name alone where the program itself registers it. */
function describe({ name, parent }: Resource, all: readonly Resource[]): string {
    const owner = all.find(({ urn, parent: its }) => urn === parent && its !== undefined);
    return `${JSON.stringify(name)}${owner === undefined ? "" : ` of ${owner.type.split(":").at(-1) ?? owner.type} ${JSON.stringify(owner.name)}`}`;
}
