// What a manifest is here, and the metadata that all of a declaration's objects share.
import { ANNOTATIONS, type Declaration, type EmittedKind, type ObjectRole, apiVersionOf, mergePatch, poolAnnotations } from "../model";

/** A Kubernetes object as plain data. */
export interface KubernetesObject {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: {
        readonly name: string;
        readonly namespace: string;
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
    };
    readonly spec: Readonly<Record<string, unknown>>;
}

export interface Manifest {
    /** Stable within the declaration: the logical name of the Pulumi resource is built from it. */
    readonly key: string;
    readonly role: ObjectRole;
    /** The mesh leg moves the traffic: written last, removed first. */
    readonly movesTraffic: boolean;
    readonly object: KubernetesObject;
}

interface Identity {
    readonly kind: EmittedKind;
    readonly name: string;
    readonly namespace: string;
    /** Whether the object says something about the host's pool, and so carries it for the policies. */
    readonly carriesPool: boolean;
    /** Annotations that Istio reads. */
    readonly annotations?: Readonly<Record<string, string>>;
}

/** An object with the annotations that carry its declaration's intent. */
export function kubernetesObject(name: string, declaration: Declaration, identity: Identity, spec: Readonly<Record<string, unknown>>): KubernetesObject {
    const { ownership } = declaration;
    return {
        apiVersion: apiVersionOf(identity.kind),
        kind: identity.kind,
        metadata: {
            name: identity.name,
            namespace: identity.namespace,
            labels: { "app.kubernetes.io/part-of": "istio-egress" },
            annotations: {
                [ANNOTATIONS.declaration]: name,
                [ANNOTATIONS.host]: declaration.host,
                [ANNOTATIONS.route]: declaration.route,
                ...(identity.carriesPool ? poolAnnotations(declaration.pool) : {}),
                [ANNOTATIONS.owner]: ownership.owner,
                [ANNOTATIONS.purpose]: ownership.purpose,
                ...(ownership.expires === undefined ? {} : { [ANNOTATIONS.expires]: ownership.expires }),
                ...identity.annotations,
            },
        },
        spec,
    };
}

/** The same manifest, marked as written by one component, given by its URN. */
export function writtenBy<T extends { readonly object: object }>(resource: string, manifest: T): T {
    return { ...manifest, object: mergePatch(manifest.object, { metadata: { annotations: { [ANNOTATIONS.resource]: resource } } }) };
}

/** Removes the properties that are undefined, so that a spec holds what is set and nothing else. */
export function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
