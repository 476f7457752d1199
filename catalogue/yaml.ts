// YAML text → tree: the parser's options, and what it says of a text, in this project's words.
import { type Document, type ErrorCode, type ParsedNode, isScalar, parseAllDocuments, visit } from "yaml";
import { Converter } from "./convert";
import type { Findings } from "./errors";
import { type Position, positionsOf } from "./position";
import type { Node } from "./tree";

/** Of a text that is no YAML at all the parser may say something at every line. */
const MAX_SYNTAX_ERRORS = 100;

/** Parses one file. Undefined when it has no content to go on with; what is wrong is in `findings`. */
export function parseTree(file: string, text: string, findings: Findings): Node | undefined {
    const positionOf = positionsOf(file, text);
    const documents = parseDocuments(text, findings, positionOf);
    if (documents === undefined) return undefined;
    const [document, second] = documents;
    if (document === undefined || (second === undefined && isScalar(document.contents) && document.contents.value === null && document.errors.length === 0)) {
        findings.addUnreadable(positionOf(0), [], "the file is empty: a catalogue has hosts, and may have extends, gateways and defaults.");
        return undefined;
    }
    if (second !== undefined) {
        const at = positionOf(second.range[0]);
        findings.addSyntaxError(at, "a second YAML document starts here, and a catalogue is one: remove the --- line, or make it a file of its own that extends this one.");
    }
    return new Converter(findings, positionOf).convert(document.contents, []);
}

type PositionOf = (offset: number) => Position;
type ParsedDocument = Document.Parsed<ParsedNode>;

function parseDocuments(text: string, findings: Findings, positionOf: PositionOf): readonly ParsedDocument[] | undefined {
    try {
        // The core schema whatever %YAML says: yes, on and dates stay texts. Duplicate and merge keys are handled here, with both positions.
        const documents = parseAllDocuments<ParsedNode>(text, { version: "1.2", schema: "core", merge: false, resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
        if ("empty" in documents) return [];
        if (documents[0] !== undefined) reportSyntax(documents[0], findings, positionOf);
        return documents;
    } catch (error) {
        // Parser and visitor recurse: brackets by the hundred thousand end the stack.
        const reason = error instanceof RangeError ? "it is nested too deeply, as no declaration is" : `the parser gave up (${error instanceof Error ? error.message : String(error)}), check the file`;
        findings.addUnreadable(positionOf(0), [], `the file cannot be read as YAML: ${reason}.`);
        return undefined;
    }
}

function reportSyntax(document: ParsedDocument, findings: Findings, positionOf: PositionOf): void {
    const tab = document.errors.find(({ code }) => code === "TAB_AS_INDENT");
    // The lines after a tab then seem to be indented badly.
    const errors = document.errors.filter(({ code, pos }) => tab === undefined || code !== "BAD_INDENT" || pos[0] < tab.pos[0]);
    const more = errors.length - MAX_SYNTAX_ERRORS;
    errors.slice(0, MAX_SYNTAX_ERRORS).forEach(({ code, message, pos }, index) => {
        const [offset, text] = explain(document, code, message, pos[0]);
        findings.addSyntaxError(positionOf(offset), `${text}.${index === MAX_SYNTAX_ERRORS - 1 && more > 0 ? ` ${more} more follow.` : ""}`);
    });
    for (const { code, message, pos } of document.warnings) {
        findings.add({
            position: positionOf(pos[0]), path: [],
            text: code === "TAG_RESOLVE_FAILED" ? `this tag is unknown (${message}): remove it; a catalogue holds plain maps, lists, texts, numbers, true and false.` : `this is not understood: ${message}.`,
        });
    }
}

/** Where to look for a syntax error, and what it is. */
function explain(document: ParsedDocument, code: ErrorCode, message: string, offset: number): readonly [number, string] {
    if (code === "TAB_AS_INDENT") return [offset, "a tab indents this line, and YAML allows spaces only: replace it with spaces"];
    if (code === "RESOURCE_EXHAUSTION") return [offset, "the file is nested too deeply to be read: no declaration is"];
    if (code === "MISSING_CHAR" && message.endsWith("quote")) {
        // The parser points to the end of what the text swallows, up to the end of the file.
        let opening: number | undefined;
        visit(document, {
            Scalar(_, { type, range }) {
                if ((type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE") && range && range[0] <= offset) opening = Math.max(opening ?? 0, range[0]);
            },
        });
        return [opening ?? offset, "this quote is never closed: add the closing one where the text ends"];
    }
    return [offset, `this is not valid YAML: ${message.replace(/\.$/, "")}`];
}
