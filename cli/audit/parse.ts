// The text of a document → plain values, read as kubectl reads them; what is wrong is told with line and column.
import { CORE_SCHEMA, EVENT_ID, YAMLException, boolYaml11Tag, constructFromEvents, mergeTag, parseEvents } from "js-yaml";
import { messageOf } from "../failure";
import { readBlockYaml } from "./block-yaml";
import { expansionProblem } from "./expansion";
import { Locator } from "./locate";

/** kubectl's parser (go.yaml.in/yaml/v2, resolve.go) takes y, yes, on and their opposites for booleans, as YAML 1.1 does, and leaves dates as texts. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag);

/** No object of Kubernetes is nested as deeply; parsers recurse. */
const MAX_DEPTH = 100;
/** Far above what people write with aliases; a YAML bomb is billions. */
const MAX_ALIASED_VALUES = 1_000_000;
/** Above this size JSON was written by a machine, which writes no key twice, and only its values are read. */
const MAX_CHECKED_JSON = 4_000_000;

export type Parsed =
    /** `isOwn` where nothing but this result refers to a part of the values, and no part stands in two places. */
    | { readonly ok: true; readonly values: readonly unknown[]; readonly isOwn?: boolean }
    /** Line and column count from 1 within the text. */
    | { readonly ok: false; readonly line?: number; readonly column?: number; readonly reason: string };

/** The documents of a text that was cut at its `---` lines: one, or none where only comments stand, or more between `...` lines. */
export function parseText(text: string): Parsed {
    return (/^\s*[[{]/.test(text) ? parseJson(text) : undefined) ?? parseYaml(text);
}

/**
 * The same for texts that follow each other in one stream, each but the first beginning with its `---` line. What machines write
 * is read without the parser of YAML. The parser takes as long to begin as for a small document (measured: 16 at once take half
 * the time); where anything is wrong with them together, each is read by itself, so that only what is wrong is lost.
 */
export function parseTexts(texts: readonly string[]): readonly Parsed[] {
    const read = texts.map((text): Parsed | undefined => {
        const block = readBlockYaml(text);
        return block === undefined ? undefined : { ok: true, values: [block.value], isOwn: true };
    });
    const left = texts.filter((_, index) => read[index] === undefined);
    if (left.length === 0) return read as readonly Parsed[];
    const parsed = ((left.length > 1 ? parseTogether(left) : undefined) ?? left.map(parseText)).values();
    return read.map((one) => one ?? parsed.next().value ?? { ok: false, reason: "is no valid YAML." });
}

function parseTogether(texts: readonly string[]): readonly Parsed[] | undefined {
    // JSON, and aliases, which reach as far as their document.
    if (texts.some((text) => /^\s*[[{]/.test(text))) return undefined;
    try {
        const source = texts.join(""), events = parseEvents(source, { maxDepth: MAX_DEPTH });
        if (events.some(({ type }) => type === EVENT_ID.ALIAS)) return undefined;
        const values = constructFromEvents(events, { source, schema: SCHEMA });
        return values.length === texts.length ? values.map((value) => ({ ok: true, values: [value] })) : undefined;
    } catch {
        return undefined;
    }
}

/** Undefined for what is no JSON: YAML in brackets, or a mistake, which the parser of YAML explains. */
function parseJson(text: string): Parsed | undefined {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch {
        return undefined;
    }
    return (text.length > MAX_CHECKED_JSON ? undefined : repeatedKey(text)) ?? { ok: true, values: [value] };
}

function parseYaml(text: string): Parsed {
    try {
        const events = parseEvents(text, { maxDepth: MAX_DEPTH }), values = constructFromEvents(events, { source: text, schema: SCHEMA });
        const endless = events.some(({ type }) => type === EVENT_ID.ALIAS) ? expansionProblem(values, MAX_ALIASED_VALUES) : undefined;
        return endless === undefined ? { ok: true, values } : { ok: false, reason: endless };
    } catch (error) {
        return explain(text, error);
    }
}

function explain(text: string, error: unknown): Parsed {
    if (error instanceof RangeError) return { ok: false, reason: TOO_DEEP };
    if (!(error instanceof YAMLException)) return { ok: false, reason: `cannot be read as YAML: ${messageOf(error)}.` };
    const { reason, mark } = error;
    if (reason.includes("maxDepth")) return { ok: false, reason: TOO_DEEP };
    const template = /\{\{[^]*?\}\}/.exec(text);
    if (template !== null) return { ok: false, ...placeOf(text, template.index), reason: "holds a template ({{ … }}), which is no YAML before it is rendered: audit what a cluster gets, as in helm template CHART | istio-egress audit -" };
    const at = mark === undefined ? {} : { line: mark.line + 1, column: mark.column + 1 }, isAtEnd = mark !== undefined && text.slice(mark.position).trim() === "";
    return (reason === "duplicated mapping key" ? repeatedKey(text) : undefined) ?? { ok: false, ...at, reason: `is no valid YAML: ${wording(reason, isAtEnd)}` };
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
    const before = text.slice(0, offset);
    return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

const TOO_DEEP = `is nested deeper than ${MAX_DEPTH} levels, as no object of Kubernetes is: correct its brackets or its indentation.`;

/** What people meet most, with what to do about it. */
function wording(reason: string, isAtEnd: boolean): string {
    if (isAtEnd && reason === "deficient indentation") return "the text ends within a list or map in brackets: it is cut off, or a closing bracket is missing.";
    if (reason.startsWith("unexpected end of the stream")) return `the text ends within a ${/flow collection/.test(reason) ? "list or map in brackets" : "quoted text"}: it is cut off, or a closing ${/flow collection/.test(reason) ? "bracket" : "quote"} is missing.`;
    if (/tab characters/.test(reason)) return "a tab indents this line, and YAML allows spaces only: replace it with spaces.";
    if (/^unknown .*tag/.test(reason)) return `${reason}: Kubernetes knows no tags, remove it.`;
    return `${reason.replace(/\.$/, "")}.`;
}

/** kubectl refuses such a document, and which of the two would count differs from tool to tool. */
function repeatedKey(text: string): Parsed | undefined {
    try {
        const twice = new Locator(text, parseEvents(text, { maxDepth: MAX_DEPTH })).twice();
        if (twice === undefined) return undefined;
        const { key, first, second } = twice;
        return { ok: false, line: second.line, column: second.column, reason: `has the key ${JSON.stringify(key)} twice in one map, here and ${second.line - first.line === 0 ? "before on this line" : `${second.line - first.line} line${second.line - first.line === 1 ? "" : "s"} above`}: which of them counts differs from tool to tool. Remove one.` };
    } catch {
        return undefined;
    }
}
