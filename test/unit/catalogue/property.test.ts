// Any damaged catalogue gives declarations or errors at places inside its files, never an exception.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { parseCatalogue } from "../../../catalogue";
import { reader } from "./support";

const folder = resolve(__dirname, "../../fixtures/catalogues/good");
const BASE = readFileSync(`${folder}/hosts.yaml`, "utf8"), OVERLAY = readFileSync(`${folder}/dev.yaml`, "utf8"), ANCHORS = readFileSync(`${folder}/anchors.yaml`, "utf8");

const FRAGMENTS = ["\t", "\r\n", "\n", ": ", "- ", "[", "]", "{", "}", '"', "'", "|", ">", "&a ", "*a", "<<: ", "!x ", "---\n", "null", "~", "1.30", "%", "@", "#", "? ", "한", "\u0000", "\uFFFD", "\uD800", "__proto__: 1\n"];

type Edit = { readonly at: number; readonly remove: number; readonly insert: string };
const edit: fc.Arbitrary<Edit> = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }), remove: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(40)),
    insert: fc.oneof(fc.constant(""), fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 5 })),
});
const damaged = (text: string): fc.Arbitrary<string> => fc.oneof(
    fc.array(edit, { minLength: 1, maxLength: 5 }).map((edits) => edits.reduce(apply, text)),
    fc.nat(text.length).map((length) => text.slice(0, length)),
);

function apply(text: string, { at, remove, insert }: Edit): string {
    const from = Math.floor(at * text.length);
    return text.slice(0, from) + insert + text.slice(from + remove);
}

/** Loads `c.yaml` over `hosts.yaml`; every error must lie inside one of them. */
function check(text: string, base: string): void {
    const files: Record<string, string> = { "c.yaml": text, "hosts.yaml": base };
    const result = parseCatalogue(text, "c.yaml", reader(files));
    if (result.ok) {
        for (const { origin } of result.catalogue.entries) expectInside(files, origin);
        return;
    }
    expect(result.errors).not.to.be.empty;
    for (const error of result.errors) {
        expectInside(files, error);
        expect(error.text).to.equal(`${error.file}:${error.line}:${error.column}: ${error.message}`);
        expect(error.message).not.to.match(/undefined|\[object/);
    }
}

function expectInside(files: Readonly<Record<string, string>>, { file, line, column }: { readonly file: string; readonly line: number; readonly column: number }): void {
    const lines = (files[file] ?? "").split("\n");
    expect(line, `line of ${file}`).to.be.within(1, lines.length);
    expect(column, `column of ${file}:${line}`).to.be.within(1, (lines[line - 1] ?? "").length + 1);
}

describe("a damaged catalogue", () => {
    const runs = { numRuns: 100 };

    it("is loaded or refused with places inside it", () => {
        fc.assert(fc.property(damaged(BASE), (text) => check(text, BASE)), runs);
        fc.assert(fc.property(damaged(ANCHORS), (text) => check(text, BASE)), runs);
    });

    it("is so as an overlay, and below one", () => {
        fc.assert(fc.property(damaged(OVERLAY), damaged(BASE), (text, base) => {
            check(text, BASE);
            check(OVERLAY, base);
        }), runs);
    });

    it("is so when it is any text at all", () => {
        fc.assert(fc.property(fc.array(fc.oneof(fc.constantFrom(...FRAGMENTS, "hosts", "gateways", "extends", "defaults", " "), fc.string({ maxLength: 3 })), { maxLength: 30 }), (parts) => check(parts.join(""), BASE)), runs);
    });
});
