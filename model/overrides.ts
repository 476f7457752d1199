// manifestOverrides: which objects of a declaration they can name, and what they must leave alone.
import { type Problem, Problems, show } from "./problem";

/** The objects of a declaration, by kind and part. */
export const OBJECT_ROLES = [
    "ServiceEntry/host", "ServiceEntry/client-view", "DestinationRule/host", "DestinationRule/subset",
    "Gateway/server", "VirtualService/gateway-leg", "VirtualService/mesh-leg",
] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

export type Overrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Identity is the declaration's: an object under another name would be another object, and lose its order and its aliases. */
const IDENTITY = [["apiVersion"], ["kind"], ["metadata", "name"], ["metadata", "namespace"]] as const;

export function overrideProblems(overrides: Overrides): readonly Problem[] {
    const problems = new Problems();
    for (const [key, patch] of Object.entries(overrides)) {
        if (!OBJECT_ROLES.some((role) => role === key || role.startsWith(`${key}/`))) {
            problems.add(["manifestOverrides", key], `is not an object of a declaration: use a kind or one of ${OBJECT_ROLES.join(", ")}.`);
            continue;
        }
        for (const path of IDENTITY) {
            const value = path.reduce<unknown>((at, name) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[name] : undefined), patch);
            if (value !== undefined) problems.add(["manifestOverrides", key, ...path], `is ${show(value)}, but an object's identity is the declaration's and cannot be overridden: remove it.`);
        }
    }
    return problems.list;
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
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
    const result: Record<string, unknown> = typeof target === "object" && target !== null && !Array.isArray(target) ? { ...(target as Record<string, unknown>) } : {};
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete result[key];
        else result[key] = mergePatch(result[key], value);
    }
    return result;
}
