// manifestOverrides as patches: the objects that they name, and how they merge.

/** The objects of a declaration, by kind and part. */
export const OBJECT_ROLES = [
    "ServiceEntry/host", "ServiceEntry/client-view", "DestinationRule/host", "DestinationRule/subset",
    "Gateway/server", "AuthorizationPolicy/consumers", "EnvoyFilter/gateway", "EnvoyFilter/sidecar", "VirtualService/gateway-leg", "VirtualService/mesh-leg",
] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

export type Overrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands there; undefined where nothing does. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
    return path.reduce<unknown>((at, name) => (isMap(at) ? at[name] : undefined), value);
}

/** The patches for one object, the general one (by kind) first. */
export function patchesFor(role: ObjectRole, overrides: Overrides | undefined): readonly Readonly<Record<string, unknown>>[] {
    const [kind = ""] = role.split("/");
    return [kind, role].flatMap((key) => {
        const patch = overrides?.[key];
        return patch === undefined ? [] : [patch];
    });
}

/** JSON merge patch (RFC 7386): maps merge, null removes, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
    if (!isMap(patch)) return patch;
    const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete result[key];
        else result[key] = mergePatch(result[key], value);
    }
    return result;
}
