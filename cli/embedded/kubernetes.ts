// What is special about Kubernetes resources in a preview: their objects, and the defaults that a provider or API server gives.
import { createHash } from "node:crypto";
import { isMap } from "../plain";
import type { JsonObject, Resource } from "./types";

/** A resource that stands for one object of a Kubernetes API server. */
export interface KubernetesObject {
    readonly resource: Resource;
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    /** Absent for a cluster-wide object, and where the cluster's default applies. */
    readonly namespace?: string;
}

export function isKubernetes(type: string): boolean {
    return type.startsWith("kubernetes:");
}

/** The object behind a resource; undefined for components, providers, charts and whatever else is not one object. */
export function kubernetesObject(resource: Resource): KubernetesObject | undefined {
    const { apiVersion, kind, metadata } = resource.inputs;
    if (!isKubernetes(resource.type) || !resource.custom || resource.external) return undefined;
    if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
    const { name, namespace } = isMap(metadata) ? metadata : {};
    return {
        resource, apiVersion, kind,
        name: typeof name === "string" ? name : resource.name,
        ...(typeof namespace === "string" ? { namespace } : {}),
    };
}

/**
 * The inputs of a resource after the provider has checked them: an object without a name is named after its resource,
 * with a suffix (here a stable one; the real provider's is random).
 */
export function serverDefaults(resource: { type: string; name: string; custom: boolean; external: boolean; inputs: JsonObject }, urn: string): JsonObject {
    const { inputs } = resource;
    if (!isKubernetes(resource.type) || !resource.custom || resource.external || typeof inputs["kind"] !== "string") return inputs;
    const metadata = inputs["metadata"] ?? {};
    if (metadata === null || typeof metadata !== "object" || Array.isArray(metadata)) return inputs;
    if (metadata["name"] !== undefined || metadata["generateName"] !== undefined) return inputs;
    const suffix = createHash("sha256").update(urn).digest("hex").slice(0, 8);
    return { ...inputs, metadata: { ...metadata, name: `${resource.name}-${suffix}` } };
}
