// How messages name who sees an object, and lists of names.
import type { Viewers } from "../../model/visibility";

const SHOWN = 5;

/** `a`, `a and b`, `a, b and c`; long lists are cut. */
export function enumerate(names: readonly string[]): string {
    const shown = names.slice(0, SHOWN), rest = names.length - shown.length;
    if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
    return shown.length < 2 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1) ?? ""}`;
}

/** `every namespace`, or `payments and orders`. */
export function who(viewers: Viewers): string {
    return viewers === "everywhere" ? "every namespace" : enumerate([...viewers].sort());
}

/** `1 address`, `2 addresses`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
