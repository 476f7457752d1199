// What a preflight has seen of a cluster: plain data, so that the checks are functions of it and need no cluster.
import type { IstioKind } from "../../model";
import type { Labels } from "../../model/preflight";

/** Why something was not seen. `action` reads on from "may not": `list pods in namespace payments`. */
export type Unseen =
    | { readonly kind: "forbidden"; readonly action: string }
    | { readonly kind: "failed"; readonly action: string; readonly text: string };

export type Seen<T> = { readonly seen: true; readonly value: T } | { readonly seen: false; readonly why: Unseen };

export interface Namespace {
    readonly name: string;
    readonly labels: Labels;
    readonly terminating: boolean;
}

export interface ServicePort {
    readonly number: number;
    readonly name?: string;
    /** TCP, UDP or SCTP. */
    readonly protocol: string;
    /** A number, or the name of a container's port. */
    readonly targetPort: number | string;
}

export interface Service {
    readonly type: string;
    readonly ports: readonly ServicePort[];
    /** Empty for a Service whose endpoints are written by hand. */
    readonly selector: Labels;
    readonly annotations: Labels;
}

export interface Pod {
    readonly name: string;
    readonly labels: Labels;
    readonly ready: boolean;
    readonly ports: readonly { readonly name: string; readonly number: number }[];
    /** The image of its istio-proxy container; absent when it has none. */
    readonly proxyImage?: string;
    /** The control plane's revision that injected it. */
    readonly revision?: string;
}

/** A Deployment of istiod. */
export interface Istiod {
    readonly name: string;
    readonly revision: string;
    readonly image?: string;
    readonly readyReplicas: number;
}

/** A MutatingWebhookConfiguration that injects sidecars: for a revision, or for a tag that stands for one. */
export interface Injector {
    readonly name: string;
    readonly revision?: string;
    readonly tag?: string;
}

export interface MeshConfig {
    /** The ConfigMap, `istio-system/istio`. */
    readonly object: string;
    /** Undefined when there is no such ConfigMap, or it holds no mesh. */
    readonly config: Seen<Readonly<Record<string, unknown>> | undefined>;
}

/** An object of one of the kinds that are written here, or of one that decides what sidecars see of them, or whom the gateway lets in. */
export interface IstioObject {
    readonly kind: IstioKind | "Sidecar" | "AuthorizationPolicy";
    readonly namespace: string;
    readonly name: string;
    readonly labels: Labels;
    readonly annotations: Labels;
    readonly spec: Readonly<Record<string, unknown>>;
    /** Who owns fields of it (`metadata.managedFields`), in Kubernetes' order. */
    readonly fieldManagers: readonly string[];
}

/** The objects of one kind, and the places where they could not be listed. */
export interface Listed {
    readonly objects: readonly IstioObject[];
    readonly unseen: readonly Unseen[];
}

/** What this account may not do with a kind. */
export interface Denied {
    readonly kind: IstioKind;
    readonly verbs: readonly string[];
}

export interface Snapshot {
    /** What is served of networking.istio.io: version → kinds; empty when nothing is. */
    readonly served: Seen<ReadonlyMap<string, readonly string[]>>;
    readonly istioNamespace: string;
    readonly istiods: Seen<readonly Istiod[]>;
    readonly injectors: Seen<readonly Injector[]>;
    readonly meshes: readonly MeshConfig[];
    /** By name; undefined where there is none. */
    readonly namespaces: ReadonlyMap<string, Seen<Namespace | undefined>>;
    /** By full host name, as gateways refer to them. */
    readonly services: ReadonlyMap<string, Seen<Service | undefined>>;
    /** By the key of the gateway: pods that its selector or its Service takes. */
    readonly gatewayPods: ReadonlyMap<string, Seen<readonly Pod[]>>;
    /** By namespace, of consumers whose namespace does not say whether it is injected; the first ones of many. */
    readonly consumerPods: ReadonlyMap<string, Seen<readonly Pod[]>>;
    /** By namespace; empty where everything is allowed. */
    readonly denied: ReadonlyMap<string, Seen<readonly Denied[]>>;
    readonly objects: Readonly<Record<IstioKind, Listed>>;
    readonly sidecars: Listed;
    /** AuthorizationPolicies where they can be for a gateway: in its namespace, and in the mesh's root namespace. */
    readonly policies: Listed;
}
