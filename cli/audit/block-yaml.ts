// YAML as machines write it, read in one pass: block lists and maps of plain and quoted values on single lines. Whatever else a text
// holds, mistakes included, is left to the parser of YAML: nothing is read here that the parser would read otherwise.

/** What a word means that is no text: YAML 1.1 as kubectl reads it (see SCHEMA in parse.ts). */
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
    ...["true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
    ...["false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
    ...["null", "Null", "NULL"].map((word) => [word, null] as const),
]);
const LONGEST_WORD = 5;

/** Tabs, carriage returns, other controls, and what is not ASCII. */
const UNUSUAL = /[^\n\x20-\x7e]/;
/** Whole numbers that are exact, and what begins like a number and is none: `30s`, `192.0.2.1`, `2027-06-30`. */
const WHOLE = /^(?:0|[1-9]\d{0,14})$/, NO_NUMBER = /[^\dxoa-fA-F.+-]|^\d+\.\d+\.|^\d{4}-/;
/** Keys are longer in no object of Kubernetes, and nothing is nested as deeply. */
const LONGEST_KEY = 320, MAX_DEPTH = 32;

const SPACE = 32, QUOTE = 34, HASH = 35, APOSTROPHE = 39, DASH = 45, SLASH = 47, COLON = 58, AT = 64;

/** What keys without quotes hold, by code. */
const IN_KEY = new Uint8Array(128);
for (const letter of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./_") IN_KEY[letter.charCodeAt(0)] = 1;

/** Keys that were met, by a hash: the same few are written in every object, and a text that is known already is found sooner in a map. */
const MET: string[] = new Array<string>(1024).fill("");

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

/** What a text cannot be read by. */
const UNREAD = Symbol("unread");

/** The one document of a text, which may begin with its `---` line; undefined where the parser of YAML must read it. */
export function readBlockYaml(text: string): { readonly value: unknown } | undefined {
    if (UNUSUAL.test(text)) return undefined;
    const reader = new Reader(text), value = reader.document();
    return value === UNREAD ? undefined : { value };
}

/** Its fields are private in TypeScript only: a `#field` is a WeakMap in the target that is compiled for, which took a third of the time. */
class Reader {
    /** The current line: its indentation, where its content begins, and its end. Past the last one the indentation is -1. */
    private indent = -1;
    private from = 0;
    private end = 0;
    private next: number;

    constructor(private readonly text: string) {
        this.next = text.startsWith("---\n") ? 4 : 0;
        this.advance();
    }

    document(): unknown {
        const value = this.indent === 0 && isLetter(this.code(this.from)) ? this.map(0, 0) : UNREAD;
        return this.indent === -1 ? value : UNREAD;
    }

    private code(at: number): number {
        return this.text.charCodeAt(at);
    }

    /** To the next line that is neither empty nor a comment. */
    private advance(): void {
        const { text } = this;
        while (this.next < text.length) {
            let at = this.next;
            const found = text.indexOf("\n", at), end = found === -1 ? text.length : found, begin = at;
            this.next = end + 1;
            while (at < end && text.charCodeAt(at) === SPACE) at++;
            if (at === end || text.charCodeAt(at) === HASH) continue;
            this.indent = at - begin;
            this.from = at;
            this.end = end;
            return;
        }
        this.indent = -1;
    }

    private map(indent: number, depth: number): unknown {
        if (depth > MAX_DEPTH) return UNREAD;
        const map: Record<string, unknown> = {};
        while (this.indent === indent) {
            const isQuoted = this.code(this.from) === QUOTE, colon = isQuoted ? this.quotedKeyEnd() : this.keyEnd();
            if (colon === -1) return UNREAD;
            const key = isQuoted ? this.text.slice(this.from + 1, colon - 1) : this.key(this.from, colon);
            if (key.length > LONGEST_KEY || Object.hasOwn(map, key) || (!isQuoted && key.length <= LONGEST_WORD && WORDS.has(key))) return UNREAD;
            const value = colon + 1 === this.end ? this.below(indent, depth) : this.inline(colon + 2, indent);
            if (value === UNREAD) return UNREAD;
            map[key] = value;
        }
        // What is indented further went on from a value.
        return this.indent > indent ? UNREAD : map;
    }

    private key(from: number, end: number): string {
        const length = end - from, place = (length * 131 + this.code(from) * 31 + this.code(end - 1) * 7 + this.code(from + (length >> 1))) & 1023, met = MET[place] ?? "";
        if (met.length === length && this.text.startsWith(met, from)) return met;
        return MET[place] = this.text.slice(from, end);
    }

    private list(indent: number, depth: number): unknown {
        if (depth > MAX_DEPTH) return UNREAD;
        const list: unknown[] = [];
        while (this.indent === indent && this.isItem()) {
            const at = this.from + 2;
            let value: unknown;
            this.from = at;
            if (isLetter(this.code(at)) && this.keyEnd() !== -1) {
                this.indent = indent + 2;
                value = this.map(indent + 2, depth + 1);
            } else {
                value = this.inline(at, indent);
            }
            if (value === UNREAD) return UNREAD;
            list.push(value);
        }
        return this.indent > indent ? UNREAD : list;
    }

    private isItem(): boolean {
        return this.code(this.from) === DASH && this.code(this.from + 1) === SPACE && this.from + 2 < this.end;
    }

    /** The colon behind the key that the line begins with; -1 where it begins with none. */
    private keyEnd(): number {
        let at = this.from;
        if (!isLetter(this.code(at))) return -1;
        for (; at < this.end; at++) {
            const code = this.code(at);
            if (code === COLON) return at + 1 === this.end || this.code(at + 1) === SPACE ? at : -1;
            if (IN_KEY[code] !== 1) return -1;
        }
        return -1;
    }

    /** The same behind a key in double quotes that needs none of their escapes, such as `"@type"`. */
    private quotedKeyEnd(): number {
        let at = this.from + 1;
        if (!isLetter(this.code(at)) && this.code(at) !== AT) return -1;
        while (at < this.end && this.code(at) !== QUOTE) {
            const code = this.code(at);
            if (IN_KEY[code] !== 1 && code !== AT) return -1;
            at++;
        }
        const colon = at + 1;
        return this.code(colon) === COLON && (colon + 1 === this.end || this.code(colon + 1) === SPACE) ? colon : -1;
    }

    /** The value of a key with nothing behind it. */
    private below(indent: number, depth: number): unknown {
        this.advance();
        if (this.indent === indent) return this.code(this.from) === DASH ? this.list(indent, depth + 1) : null;
        if (this.indent < indent) return null;
        return this.code(this.from) === DASH ? this.list(this.indent, depth + 1) : this.map(this.indent, depth + 1);
    }

    /** A value that ends with its line; what is indented further would go on with it. */
    private inline(from: number, indent: number): unknown {
        const value = this.scalar(from, this.end);
        this.advance();
        return this.indent > indent ? UNREAD : value;
    }

    private scalar(from: number, end: number): unknown {
        const { text } = this, first = text.charCodeAt(from), last = text.charCodeAt(end - 1);
        if (first === QUOTE || first === APOSTROPHE) {
            const inner = text.slice(from + 1, end - 1);
            return last === first && end - from >= 2 && !inner.includes(first === QUOTE ? "\"" : "'") && !(first === QUOTE && inner.includes("\\")) ? inner : UNREAD;
        }
        const value = text.slice(from, end);
        if (value === "{}") return {};
        if (value === "[]") return [];
        if (last === SPACE || last === COLON) return UNREAD;
        if (isDigit(first)) return WHOLE.test(value) ? Number(value) : NO_NUMBER.test(value) && isOneText(value) ? value : UNREAD;
        if (isLetter(first)) {
            const word = value.length <= LONGEST_WORD ? WORDS.get(value) : undefined;
            return word !== undefined ? word : isOneText(value) ? value : UNREAD;
        }
        return value === "." || (first === SLASH && isOneText(value)) ? value : UNREAD;
    }
}

/** Neither a key nor a comment within it. */
function isOneText(value: string): boolean {
    for (let at = 1; at < value.length; at++) {
        const code = value.charCodeAt(at);
        if (code === SPACE ? value.charCodeAt(at - 1) === COLON : code === HASH && value.charCodeAt(at - 1) === SPACE) return false;
    }
    return true;
}
