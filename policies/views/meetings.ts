// Objects that some proxy sees together, found in one pass.
import { type Viewers, commonViewers } from "../../model/visibility";
import { UNKNOWN, type Unknown } from "../plain";

interface Seen {
    readonly viewers: Viewers | Unknown;
}

export interface Meeting<T> {
    readonly first: T;
    readonly second: T;
    /** Who sees both. */
    readonly viewers: Viewers;
}

/**
 * Each item with the first earlier one that some proxy sees beside it, in their order; what is not known meets nothing. Linear in
 * the items and the namespaces that they name.
 */
export function meetings<T extends Seen>(items: readonly T[]): readonly Meeting<T>[] {
    const found: Meeting<T>[] = [], inNamespace = new Map<string, T>();
    let everywhere: T | undefined, any: T | undefined;
    for (const item of items) {
        const { viewers } = item;
        if (viewers === UNKNOWN) continue;
        const named = viewers === "everywhere" ? [] : [...viewers];
        const first = viewers === "everywhere" ? any : everywhere ?? named.map((namespace) => inNamespace.get(namespace)).find((other) => other !== undefined);
        if (first !== undefined) found.push({ first, second: item, viewers: commonViewers(first.viewers as Viewers, viewers) });
        if (viewers === "everywhere") everywhere ??= item;
        if (viewers === "everywhere" || named.length > 0) any ??= item;
        for (const namespace of named) if (!inNamespace.has(namespace)) inNamespace.set(namespace, item);
    }
    return found;
}
