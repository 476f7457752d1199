// The content of catalogues as a tree in which every value knows where it was written, and the merge of two such trees.
import { type Path, show } from "../model/problem";
import type { Position } from "./position";

interface Written {
    /** Where the value starts. */
    readonly origin: Position;
    /** The property in the words of its file: `["defaults", "failover", "dnsTtl"]`. */
    readonly path: Path;
}

export interface Entry {
    readonly key: Position;
    readonly node: Node;
    /** The property itself, where its value is a reference and `node` what it refers to, written elsewhere. */
    readonly path?: Path;
}

export interface MapNode extends Written {
    readonly kind: "map";
    readonly entries: ReadonlyMap<string, Entry>;
}

export interface ListNode extends Written {
    readonly kind: "list";
    readonly items: readonly Node[];
}

export interface ScalarNode extends Written {
    readonly kind: "scalar";
    readonly value: string | number | boolean | null;
    /** The text in the file when it has no quotes, from which YAML made the value. */
    readonly plain?: string;
}

/** `null` in a map: the key is removed from what lies below. */
export interface RemovedNode extends Written {
    readonly kind: "removed";
    /** Whether there was anything to remove. */
    readonly used: boolean;
    /** There is a value, and it cannot be read, which has been reported: that it is missing is no news. */
    readonly unreadable?: boolean;
}

/** What YAML makes of a text without quotes, for messages. */
export function asRead(value: unknown): string {
    return typeof value === "number" ? `the number ${value}` : show(value);
}

export type Node = MapNode | ListNode | ScalarNode | RemovedNode;

/** An empty map, for a section that is not there. */
export function emptyMap(origin: Position, path: Path): MapNode {
    return { kind: "map", origin, path, entries: new Map() };
}

/** `upper` over `lower`: maps deep, everything else replaces; a removal stays as a mark, so that an error can point to it. */
export function merge(lower: Node, upper: Node): Node {
    if (upper.kind === "removed") return { ...upper, used: upper.used || lower.kind !== "removed" || lower.used };
    return lower.kind === "map" && upper.kind === "map" ? mergeMaps(lower, upper) : upper;
}

export function mergeMaps(lower: MapNode, upper: MapNode): MapNode {
    const entries = new Map(lower.entries);
    for (const [name, entry] of upper.entries) {
        const below = lower.entries.get(name);
        entries.set(name, below === undefined ? entry : { key: entry.key, node: merge(below.node, entry.node) });
    }
    return { ...upper, entries };
}

/** The value of a key that is there and not removed. */
export function childOf(map: MapNode | undefined, key: string): Node | undefined {
    const node = map?.entries.get(key)?.node;
    return node?.kind === "removed" ? undefined : node;
}

/** A map with one entry set, or taken out. */
export function withEntry(map: MapNode, key: string, entry: Entry | undefined): MapNode {
    const entries = new Map(map.entries);
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
    return { ...map, entries };
}

/** The tree as plain data, without what was removed. `scalar` may give another value for a scalar. */
export function toPlain(node: Node, scalar: (node: ScalarNode) => unknown = ({ value }) => value): unknown {
    switch (node.kind) {
        case "scalar": return scalar(node);
        case "removed": return undefined;
        case "list": return node.items.map((item) => toPlain(item, scalar));
        case "map": return Object.fromEntries([...node.entries].filter(([, entry]) => entry.node.kind !== "removed").map(([key, entry]) => [key, toPlain(entry.node, scalar)]));
    }
}

/** Every removal that removed nothing. */
export function uselessRemovals(node: Node): readonly RemovedNode[] {
    switch (node.kind) {
        case "scalar": return [];
        case "removed": return node.used ? [] : [node];
        case "list": return node.items.flatMap(uselessRemovals);
        case "map": return [...node.entries.values()].flatMap((entry) => uselessRemovals(entry.node));
    }
}

export interface Place {
    readonly position: Position;
    readonly path: Path;
    /** The value at the path; undefined when it is missing, and the removal when it, or what it would lie in, is removed. */
    readonly node?: Node;
}

/**
 * Where to look for a path below `root`. A value: where it starts, or its key for maps, lists and when `atKey`. A missing
 * property: the place where it was removed, or the map that lacks it; for one of `root` itself, root's key.
 */
export function locate(root: Entry, path: Path, atKey: boolean): Place {
    let { key: position, path: at, node } = root;
    for (const [depth, step] of path.entries()) {
        const rest = path.slice(depth);
        const entry: Entry | undefined = node.kind === "map" ? node.entries.get(String(step)) : undefined;
        const item = node.kind === "list" && typeof step === "number" ? node.items[step] : undefined;
        const next = entry?.node ?? item;
        if (next === undefined) return { position: depth === 0 ? root.key : node.origin, path: [...node.path, ...rest] };
        if (next.kind === "removed") return { position: next.origin, path: [...next.path, ...rest.slice(1)], node: next };
        position = entry?.key ?? next.origin;
        at = entry?.path;
        node = next;
    }
    return { position: node.kind === "scalar" && !atKey ? node.origin : position, path: at ?? node.path, node };
}
