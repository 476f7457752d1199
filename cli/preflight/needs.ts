// What the declarations of a catalogue need of a cluster, taken from their manifests.
import type { CatalogueEntry } from "../../catalogue";
import { manifestsOf } from "../../manifests";
import { ALL_CONSUMERS, API_VERSIONS, type Declaration, type GatewayReference, type IstioKind, serviceNamespace, usesGateway } from "../../model";

export interface GatewayNeed {
    /** Tells gateways apart: Service and selector. */
    readonly key: string;
    readonly reference: GatewayReference;
    readonly service: { readonly namespace: string; readonly name: string };
    /** The declarations that use it. */
    readonly declarations: readonly string[];
    /** The namespaces whose sidecars must reach it; `*` for a gateway that serves all. */
    readonly consumers: readonly string[];
}

export interface NamespaceNeed {
    readonly name: string;
    /** The declarations whose own objects live there. */
    readonly declarations: readonly string[];
    /** The declarations that it is a consumer of. */
    readonly consumed: readonly string[];
    readonly isGateway: boolean;
}

export interface ObjectNeed {
    readonly kind: IstioKind;
    readonly namespace: string;
    readonly name: string;
    /** The declaration's name. */
    readonly declaration: string;
}

export interface Needs {
    readonly declarations: readonly { readonly name: string; readonly declaration: Declaration }[];
    readonly gateways: readonly GatewayNeed[];
    readonly namespaces: readonly NamespaceNeed[];
    readonly objects: readonly ObjectNeed[];
}

export function needsOf(entries: readonly Pick<CatalogueEntry, "name" | "declaration">[]): Needs {
    const declarations = entries.map(({ name, declaration }) => ({ name, declaration }));
    // AuthorizationPolicies are of another group, and are not looked for yet.
    const objects = declarations.flatMap(({ name, declaration }) => manifestsOf(name, declaration).filter(({ object }) => object.kind in API_VERSIONS).map(({ object }) => ({
        kind: object.kind as IstioKind, namespace: object.metadata.namespace, name: object.metadata.name, declaration: name,
    })));
    return { declarations, gateways: gatewaysOf(declarations), namespaces: namespacesOf(declarations), objects };
}

/** The namespaces that hold objects, each with the kinds that it holds. */
export function kindsByNamespace({ objects }: Needs): ReadonlyMap<string, readonly IstioKind[]> {
    const kinds = new Map<string, Set<IstioKind>>();
    for (const { namespace, kind } of objects) kinds.set(namespace, (kinds.get(namespace) ?? new Set()).add(kind));
    return new Map([...kinds].map(([namespace, set]) => [namespace, [...set]]));
}

/** The declaration's gateway, where its route has one. */
export function gatewayOf({ route, gateway }: Declaration): GatewayReference | undefined {
    return usesGateway(route) ? gateway : undefined;
}

export function gatewayKey({ namespace, serviceHost, selector }: GatewayReference): string {
    return JSON.stringify([namespace, serviceHost.toLowerCase(), Object.entries(selector).sort()]);
}

function gatewaysOf(declarations: Needs["declarations"]): readonly GatewayNeed[] {
    const byKey = new Map<string, GatewayNeed>();
    for (const { name, declaration } of declarations) {
        const reference = gatewayOf(declaration);
        if (reference === undefined) continue;
        const key = gatewayKey(reference), known = byKey.get(key);
        const ports = [...(known?.reference.ports ?? []), ...reference.ports].filter((port, index, all) => all.findIndex((other) => other.number === port.number && other.targetPort === port.targetPort) === index);
        byKey.set(key, {
            key, reference: { ...(known?.reference ?? reference), ports },
            service: { namespace: serviceNamespace(reference.serviceHost), name: reference.serviceHost.split(".")[0] ?? "" },
            declarations: [...(known?.declarations ?? []), name],
            consumers: [...new Set([...(known?.consumers ?? []), ...declaration.consumers.map(({ namespace }) => namespace)])],
        });
    }
    return [...byKey.values()];
}

function namespacesOf(declarations: Needs["declarations"]): readonly NamespaceNeed[] {
    const byName = new Map<string, { declarations: string[]; consumed: string[]; isGateway: boolean }>();
    const at = (name: string): { declarations: string[]; consumed: string[]; isGateway: boolean } => {
        const known = byName.get(name) ?? { declarations: [], consumed: [], isGateway: false };
        byName.set(name, known);
        return known;
    };
    for (const { name, declaration } of declarations) {
        at(declaration.namespace).declarations.push(name);
        for (const { namespace } of declaration.consumers) if (namespace !== ALL_CONSUMERS) at(namespace).consumed.push(name);
        const gateway = gatewayOf(declaration);
        if (gateway === undefined) continue;
        at(gateway.namespace).isGateway = true;
        at(serviceNamespace(gateway.serviceHost)).isGateway = true;
    }
    return [...byName].map(([name, need]) => ({ name, ...need }));
}
