// Parsed YAML → tree with positions: anchors and merge keys resolved, and everything refused that a catalogue cannot mean.
import { type ParsedNode, type YAMLMap, isAlias, isMap, isScalar, isSeq } from "yaml";
import { type Path, formatPath } from "../model/problem";
import { nearest } from "../model/nearest";
import type { Findings } from "./errors";
import { type Position, formatPosition } from "./position";
import { type Entry, type MapNode, type Node, asRead } from "./tree";

/** Deeper than any declaration; a bound for the recursion. */
const MAX_DEPTH = 64;
/** How many values all aliases of a file together may stand for; a bound for anchors that multiply each other. */
const MAX_ALIASED_VALUES = 100_000;

type PositionOf = (offset: number) => Position;

export class Converter {
    readonly #anchors = new Map<string, ParsedNode>();
    /** The anchored nodes that are being expanded, to find one within itself. */
    readonly #open = new Set<ParsedNode>();
    readonly #findings: Findings;
    readonly #positionOf: PositionOf;
    #aliasDepth = 0;
    #aliasedValues = 0;
    #exhausted = false;

    constructor(findings: Findings, positionOf: PositionOf) {
        this.#findings = findings;
        this.#positionOf = positionOf;
    }

    /** The tree of a node at `path`. What cannot be read is reported and stands in it as such. */
    convert(node: ParsedNode | null | undefined, path: Path): Node {
        const origin = this.#positionOf(node?.range[0] ?? 0);
        if (node === null || node === undefined) return { kind: "removed", origin, path, used: false };
        if (isAlias(node)) return this.#followAlias(node.source, origin, path);
        if (this.#aliasDepth > 0) this.#aliasedValues += 1;
        if (path.length > MAX_DEPTH) {
            return this.#unreadable(origin, path.slice(0, 3), `is nested more than ${MAX_DEPTH} levels deep: no declaration is.`);
        }
        if (node.anchor !== undefined && this.#aliasDepth === 0) this.#anchors.set(node.anchor, node);
        this.#open.add(node);
        const converted = this.#convertOpen(node, origin, path);
        this.#open.delete(node);
        return converted;
    }

    #convertOpen(node: Exclude<ParsedNode, { source: string; resolve: unknown }>, origin: Position, path: Path): Node {
        if (isMap(node)) return this.#convertMap(node, origin, path);
        if (isSeq(node)) {
            const items = node.items.map((item, index) => {
                const child = this.convert(item, [...path, index]);
                // In a list null is a value, and a wrong one; there is nothing that it could remove.
                return child.kind === "removed" && child.unreadable !== true ? { kind: "scalar" as const, value: null, origin: child.origin, path: child.path } : child;
            });
            return { kind: "list", origin, path, items };
        }
        const { value, source, type } = node;
        if (value === null && !keepsNull(path)) return { kind: "removed", origin, path, used: false };
        if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null) {
            return { kind: "scalar", value, origin, path, ...(type === "PLAIN" && source !== undefined ? { plain: source } : {}) };
        }
        return this.#unreadable(origin, path, "is no text, number, true or false: write it as one.");
    }

    #convertMap(map: YAMLMap.Parsed, origin: Position, path: Path): MapNode {
        const entries = new Map<string, Entry>(), merged: MapNode[] = [];
        for (const pair of map.items) {
            const key = this.#keyOf(pair.key, path);
            if (key === undefined) continue;
            const { position, name } = key, first = entries.get(name);
            if (name === "<<" && isScalar(pair.key) && pair.key.type === "PLAIN") {
                merged.push(...this.#mergeSources(pair.value, path));
            } else if (name === "__proto__") {
                this.#add(position, [...path, name], "is no name that anything may have here: rename it.");
            } else if (first !== undefined) {
                this.#add(position, [...path, name], `is there twice, first at ${formatPosition(first.key)}: keep one, or give the other another name.`);
            } else {
                const value = this.convert(pair.value, [...path, name]);
                // A key without a value has nothing of its own to point to.
                const empty = pair.value === null || (isScalar(pair.value) && pair.value.source === "" && pair.value.type === "PLAIN");
                entries.set(name, { key: position, node: empty ? { ...value, origin: position } : value });
            }
        }
        for (const base of merged) {
            for (const [name, entry] of base.entries) {
                const own = entries.get(name);
                if (own === undefined) entries.set(name, entry);
                else if (own.node.kind === "removed") entries.set(name, { key: own.key, node: { ...own.node, used: true } });
            }
        }
        return { kind: "map", origin, path, entries };
    }

    /** `<<: *base`, or a list of such: the maps whose keys count where the map itself has none. */
    #mergeSources(source: ParsedNode | null, path: Path): readonly MapNode[] {
        if (isSeq(source)) return source.items.flatMap((item) => this.#mergeSources(item, path));
        const base = this.convert(source, path);
        if (base.kind === "map") return [base];
        if (base.kind !== "removed" || base.unreadable !== true) this.#add(this.#positionOf(source?.range[0] ?? 0), [...path, "<<"], "merges something that is no map: give an alias of a map, or a list of such.");
        return [];
    }

    #keyOf(key: ParsedNode, path: Path): { readonly position: Position; readonly name: string } | undefined {
        const position = this.#positionOf(key.range[0]), where = path.length === 0 ? "The catalogue" : formatPath(path);
        if (!isScalar(key)) {
            this.#add(position, [], `${where} has a key that is ${isMap(key) ? "a map" : isSeq(key) ? "a list" : "an alias"}: keys are texts${isMap(key) ? " (a template's {{ }} needs quotes)" : ""}.`);
            return undefined;
        }
        if (key.anchor !== undefined && this.#aliasDepth === 0) this.#anchors.set(key.anchor, key);
        if (typeof key.value === "string") return { position, name: key.value };
        const text = key.source ?? "";
        this.#add(position, [], text === "" ? `${where} has an empty key: write one.` : `${where} has the key ${text}, which YAML reads as ${asRead(key.value)}, not as a text: write "${text}", with quotes.`);
        return key.value === null ? undefined : { position, name: text };
    }

    #followAlias(name: string, origin: Position, path: Path): Node {
        const target = this.#anchors.get(name);
        if (target === undefined) {
            const near = nearest(name, [...this.#anchors.keys()]);
            return this.#unreadable(origin, path, `is the alias *${name}, and no anchor &${name} stands above it: ${near === undefined ? "add the anchor, or write the value." : `did you mean *${near}?`}`);
        }
        if (this.#open.has(target)) return this.#unreadable(origin, path, `is the alias *${name} inside the value that it stands for: write the value.`);
        if (this.#aliasedValues >= MAX_ALIASED_VALUES) {
            // Once per file: what follows would be thousands.
            if (!this.#exhausted) this.#findings.addUnreadable(origin, path, `is the alias *${name}, and the aliases of this file stand for more than ${MAX_ALIASED_VALUES} values already: use defaults for what many declarations share.`);
            this.#exhausted = true;
            return { kind: "removed", origin, path, used: true, unreadable: true };
        }
        this.#aliasDepth += 1;
        const value = this.convert(target, path);
        this.#aliasDepth -= 1;
        return value;
    }

    #unreadable(origin: Position, path: Path, text: string): Node {
        this.#add(origin, path, text);
        return { kind: "removed", origin, path, used: true, unreadable: true };
    }

    #add(position: Position, path: Path, text: string): void {
        this.#findings.add({ position, path, text });
    }
}

/** Inside a manifest override null is JSON merge patch's own: it removes the field from the manifest. */
function keepsNull(path: Path): boolean {
    const at = path.indexOf("manifestOverrides");
    return at !== -1 && at === (path[0] === "hosts" ? 2 : 1) && path.length > at + 2;
}
