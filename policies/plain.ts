// Whatever Pulumi hands to a policy, as a plain copy in which everything that cannot be known yet is marked.

/** Stands for a value that this preview does not know, that could not be read, or that is no data (an asset). */
export const UNKNOWN: unique symbol = Symbol("unknown");
export type Unknown = typeof UNKNOWN;

export type Plain = null | boolean | number | string | Unknown | readonly Plain[] | PlainObject;
export interface PlainObject {
    readonly [key: string]: Plain;
}

/** Pulumi's marker of an unknown value (`unknownValue` of its SDK), where it reaches us in clear or inside a longer text. */
const SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whether a text may hold a value that nobody knows yet. */
export function mayBeUnknown(text: string): boolean {
    return text.includes(SENTINEL);
}

/** Deeper than any Kubernetes object that the API server accepts for these kinds. */
const MAX_DEPTH = 64;

/**
 * Copies a value and never throws. The SDK's proxy throws at each read of an unknown value, which would end a policy at
 * the first one, so every single read is guarded here and rules never touch the proxy.
 */
export function plainCopy(value: unknown, depth = 0): Plain {
    try {
        return copy(value, depth);
    } catch {
        return UNKNOWN;
    }
}

function copy(value: unknown, depth: number): Plain {
    if (value === null || typeof value === "boolean" || typeof value === "number") return value;
    if (typeof value === "string") return value.includes(SENTINEL) ? UNKNOWN : value;
    if (typeof value !== "object" || depth > MAX_DEPTH) return UNKNOWN;
    if (Array.isArray(value)) return Array.from({ length: value.length }, (_, index) => property(value, index, depth) ?? null);
    if (!isPlainObject(value)) return UNKNOWN;
    const result: Record<string, Plain> = {};
    for (const key of Object.keys(value)) {
        const copied = property(value, key, depth);
        if (copied === undefined) continue;
        // An assignment would set the prototype.
        if (key === "__proto__") Object.defineProperty(result, key, { value: copied, enumerable: true, configurable: true, writable: true });
        else result[key] = copied;
    }
    return result;
}

function property(container: object, key: string | number, depth: number): Plain | undefined {
    try {
        const value = (container as Record<string | number, unknown>)[key];
        return value === undefined ? undefined : copy(value, depth + 1);
    } catch {
        return UNKNOWN;
    }
}

/** An object literal, of whatever realm; not an instance of a class. */
function isPlainObject(value: object): boolean {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function isObject(value: Plain | undefined): value is PlainObject {
    return typeof value === "object" && value !== null && !isList(value);
}

export function isList(value: Plain | undefined): value is readonly Plain[] {
    return Array.isArray(value);
}

/** A property of a plain object; undefined when it is absent, also for names such as `constructor`. */
export function own(value: PlainObject | readonly Plain[], key: string | number): Plain | undefined {
    return Object.hasOwn(value, key) ? (value as Readonly<Record<string | number, Plain>>)[key] : undefined;
}
