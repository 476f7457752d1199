// Where the fields of a document are written, from the parser's events: made only for documents that have findings.
import { type Event, EVENT_ID, type ScalarEvent, getScalarValue, parseEvents } from "js-yaml";
import type { Path } from "../../model/problem";

/** From 1, in UTF-16 units, as editors count; the end is exclusive. */
export interface Region {
    readonly line: number;
    readonly column: number;
    readonly endLine: number;
    readonly endColumn: number;
}

interface Child {
    /** The index of the key's event in a map, of the item's in a list. */
    readonly start: number;
    readonly value: number;
}

/** The documents of one text. Its lists and maps are indexed when they are first asked for. */
export class Locator {
    private readonly events: readonly Event[];
    private readonly roots: number[] = [];
    /** For the event that opens a list or map: the index of the one that closes it. */
    private readonly ends = new Map<number, number>();
    /** For an alias: the event that it stands for. */
    private readonly targets = new Map<number, number>();
    private readonly children = new Map<number, ReadonlyMap<string | number, Child>>();
    private readonly lines: Lines;

    constructor(private readonly text: string, events?: readonly Event[]) {
        this.events = events ?? parseEvents(text, {});
        this.lines = new Lines(text);
        this.index();
    }

    /** The field at a path, key and value; where it is not written, the nearest thing around it that is. */
    at(document: number, path: Path): Region {
        let value = this.roots[document], start = value;
        if (value === undefined || start === undefined) return this.lines.region(0, 0);
        for (const key of path) {
            const child = this.child(value, key);
            if (child === undefined) break;
            ({ start, value } = child);
        }
        return this.region(start, value);
    }

    /** The first key that is written twice in one map, and where it was written before. */
    twice(): { readonly key: string; readonly first: Region; readonly second: Region } | undefined {
        for (const [index, event] of this.events.entries()) {
            if (event.type !== EVENT_ID.MAPPING) continue;
            const seen = new Map<string, number>();
            for (const [key] of this.pairs(index)) {
                const name = this.key(key);
                const before = name === undefined ? undefined : seen.get(name);
                if (name !== undefined && before !== undefined) return { key: name, first: this.region(before, before), second: this.region(key, key) };
                if (name !== undefined) seen.set(name, key);
            }
        }
        return undefined;
    }

    private index(): void {
        const open: number[] = [], anchors = new Map<string, number>();
        for (const [index, event] of this.events.entries()) {
            if (event.type === EVENT_ID.POP) {
                const begin = open.pop();
                if (begin !== undefined) this.ends.set(begin, index);
                continue;
            }
            if (event.type === EVENT_ID.DOCUMENT) {
                open.push(index);
                this.roots.push(index + 1);
                continue;
            }
            const anchor = event.anchorStart < 0 ? undefined : this.text.slice(event.anchorStart, event.anchorEnd);
            if (event.type === EVENT_ID.ALIAS) {
                const target = anchor === undefined ? undefined : anchors.get(anchor);
                if (target !== undefined) this.targets.set(index, target);
                continue;
            }
            if (anchor !== undefined) anchors.set(anchor, index);
            if (event.type !== EVENT_ID.SCALAR) open.push(index);
        }
    }

    private child(container: number, key: string | number): Child | undefined {
        const index = this.targets.get(container) ?? container;
        let children = this.children.get(index);
        if (children === undefined) {
            children = this.childrenOf(index);
            this.children.set(index, children);
        }
        return children.get(key) ?? (children.has(MERGE) ? this.merged(children.get(MERGE), key) : undefined);
    }

    private childrenOf(index: number): ReadonlyMap<string | number, Child> {
        const event = this.events[index];
        if (event?.type === EVENT_ID.SEQUENCE) return new Map(this.parts(index).map((part, position) => [position, { start: part, value: part }]));
        if (event?.type !== EVENT_ID.MAPPING) return new Map();
        return new Map(this.pairs(index).flatMap(([key, value]) => {
            const name = this.key(key);
            return name === undefined ? [] : [[name, { start: key, value }] as const];
        }));
    }

    /** `<<: *base`, or a list of such. */
    private merged(merge: Child | undefined, key: string | number): Child | undefined {
        if (merge === undefined) return undefined;
        const target = this.targets.get(merge.value) ?? merge.value;
        const sources = this.events[target]?.type === EVENT_ID.SEQUENCE ? this.parts(target) : [target];
        for (const source of sources) {
            const child = this.child(source, key);
            if (child !== undefined) return child;
        }
        return undefined;
    }

    /** The events that begin the parts of a list, or the keys and values of a map by turns. */
    private parts(index: number): number[] {
        const end = this.ends.get(index) ?? index, parts: number[] = [];
        for (let at = index + 1; at < end; at = (this.ends.get(at) ?? at) + 1) parts.push(at);
        return parts;
    }

    private pairs(index: number): (readonly [key: number, value: number])[] {
        const parts = this.parts(index);
        return Array.from({ length: Math.floor(parts.length / 2) }, (_, pair) => [parts[2 * pair] ?? index, parts[2 * pair + 1] ?? index] as const);
    }

    private key(index: number): string | undefined {
        const event = this.events[this.targets.get(index) ?? index];
        return event?.type === EVENT_ID.SCALAR ? getScalarValue(this.text, event) : undefined;
    }

    /** From a key to the end of a value on the same line, or to the key's own. */
    private region(start: number, value: number): Region {
        const first = this.span(start), last = value === start ? first : this.span(value);
        return this.lines.region(first.start, this.isScalar(value) && last.end > first.start ? last.end : first.end);
    }

    private isScalar(index: number): boolean {
        return this.events[index]?.type === EVENT_ID.SCALAR;
    }

    private span(index: number): { readonly start: number; readonly end: number } {
        const event = this.events[index];
        if (event === undefined || event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return { start: 0, end: 0 };
        if (event.type === EVENT_ID.ALIAS) return { start: event.anchorStart - 1, end: event.anchorEnd };
        if (event.type !== EVENT_ID.SCALAR) return { start: event.start, end: event.start };
        return quoted(this.text, event);
    }
}

const MERGE = "<<";

/** The events give what stands between the quotes. */
function quoted(text: string, { valueStart, valueEnd }: ScalarEvent): { readonly start: number; readonly end: number } {
    if (valueStart < 0) return { start: 0, end: 0 };
    const quote = text[valueStart - 1], isQuoted = (quote === "\"" || quote === "'") && text[valueEnd] === quote;
    return isQuoted ? { start: valueStart - 1, end: valueEnd + 1 } : { start: valueStart, end: valueEnd };
}

/** Offsets → lines and columns. */
class Lines {
    private readonly starts = [0];

    constructor(private readonly text: string) {
        for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    }

    /** Ends with the line that it begins on, where what it covers goes on below. */
    region(start: number, end: number): Region {
        const line = this.lineOf(start), begin = this.starts[line] ?? 0;
        const next = this.starts[line + 1], stop = next === undefined ? this.text.length : next - 1;
        const last = Math.max(Math.min(end, this.text[stop - 1] === "\r" ? stop - 1 : stop), start);
        return { line: line + 1, column: start - begin + 1, endLine: line + 1, endColumn: last - begin + 1 };
    }

    private lineOf(offset: number): number {
        let low = 0, high = this.starts.length - 1;
        while (low < high) {
            const middle = Math.ceil((low + high) / 2);
            if ((this.starts[middle] ?? 0) <= offset) low = middle;
            else high = middle - 1;
        }
        return low;
    }
}
