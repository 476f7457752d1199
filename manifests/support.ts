// Objects that belong to no single host: a gateway's own, and those of a lockdown.

/** A Kubernetes object as plain data, with whatever fields its kind has beside the metadata. */
export interface PlainObject {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> };
    readonly [field: string]: unknown;
}

export interface SupportManifest {
    /** Stable within the component: the logical name of the Pulumi resource is built from it. */
    readonly key: string;
    readonly object: PlainObject;
    /** The keys of those that must be there first. */
    readonly after?: readonly string[];
}

interface SupportMetadata {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
}

export function supportObject(apiVersion: string, kind: string, { name, namespace, labels = {}, annotations }: SupportMetadata, fields: Readonly<Record<string, unknown>>): PlainObject {
    return {
        apiVersion, kind,
        metadata: { name, namespace, labels: { "app.kubernetes.io/part-of": "istio-egress", ...labels }, ...(annotations === undefined ? {} : { annotations }) },
        ...fields,
    };
}
