// Where things are: documents of a stream cut into pieces of any size, and the lines and columns of fields, against another parser.
import { expect } from "chai";
import fc from "fast-check";
import { type Document, LineCounter, type Node, isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
import { Locator } from "../../../cli/audit/locate";
import { documentsIn, documentsOf } from "../../../cli/audit/stream";

type Path = readonly (string | number)[];

async function cut(text: string, size: number, limit?: number): Promise<{ text: string; line: number; tooLarge?: number }[]> {
    const bytes = Buffer.from(text), found = [];
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    for await (const { bytes: part, ...rest } of documentsOf(pieces, limit)) found.push({ text: part.toString(), ...rest });
    return found;
}

describe("a stream of documents", () => {
    const line = fc.constantFrom("---", "--- # c", "---\t", "----", " ---", "a: 1", "", "é: ---", "--", "-", "---a", "...");

    it("is cut at the same lines whatever the pieces it comes in, and every document knows its line", () => fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), fc.integer({ min: 1, max: 9 }), async (lines, end, size) => {
        const text = lines.join(end), documents = await cut(text, size);
        expect(documents.map((one) => one.text).join("")).to.equal(text);
        for (const one of documents) {
            const before = text.slice(0, documents.slice(0, documents.indexOf(one)).reduce((sum, other) => sum + other.text.length, 0));
            expect(one.line).to.equal(before.split("\n").length);
        }
        expect(documents.length).to.equal(text === "" ? 0 : 1 + [...text.matchAll(/\n---(?=[ \t\r\n])/g)].length);
    }), { numRuns: 500 }));

    it("is cut alike where all of it is there at once", () => fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.integer({ min: 1, max: 20 }), async (lines, limit) => {
        const text = lines.join("\n"), found = [...documentsIn(Buffer.from(text), limit)].map(({ bytes, ...rest }) => ({ text: bytes.toString(), ...rest }));
        expect(found).to.deep.equal(await cut(text, 4, limit));
    }), { numRuns: 500 }));

    it("drops what is too large, and counts its lines", async () => {
        expect(await cut("a\nb\n---\nccccccccccccccc\nccccc\nc\n---\nd", 3, 12)).to.deep.equal([
            { text: "a\nb\n", line: 1 }, { text: "", line: 3, tooLarge: 28 }, { text: "---\nd", line: 7 },
        ]);
    });
});

describe("the place of a field", () => {
    const at = (text: string, ...path: Path): string => {
        const { line, column, endLine, endColumn } = new Locator(text).at(0, path);
        return `${line}:${column}-${endLine}:${endColumn}`;
    };

    it("is the key with its value, the key alone of a map or list, an item of a list", () => {
        const text = "a: 1\nb:\n  c: \"two\"\n  d: [x, {e: f}]\n";
        expect(at(text, "a")).to.equal("1:1-1:5");
        expect(at(text, "b")).to.equal("2:1-2:2");
        expect(at(text, "b", "c")).to.equal("3:3-3:11");
        expect(at(text, "b", "d", 0)).to.equal("4:7-4:8");
        expect(at(text, "b", "d", 1, "e")).to.equal("4:11-4:15");
    });

    it("of one that is missing is the nearest thing around it", () => {
        const text = "a: 1\nb:\n  c: {}\n";
        expect(at(text, "b", "c", "x", "y")).to.equal("3:3-3:4");
        expect(at(text, "b", "x")).to.equal("2:1-2:2");
        expect(at(text, "x")).to.equal("1:1-1:1");
        expect(at("", "x")).to.equal("1:1-1:1");
    });

    it("is found behind aliases and merge keys, in JSON, in several documents", () => {
        const text = "base: &b\n  c: 1\none: *b\ntwo:\n  <<: *b\n  d: 2\nthree:\n  <<: [*b, {e: 5}]\n";
        expect(at(text, "one", "c")).to.equal("2:3-2:7");
        expect(at(text, "two", "c")).to.equal("2:3-2:7");
        expect(at(text, "three", "e")).to.equal("8:13-8:17");
        expect(at('{"a": {"b": [1,\n 2]}}', "a", "b", 1)).to.equal("2:2-2:3");
        expect(new Locator("a: 1\n...\n---\na: 2\n").at(1, ["a"]).line).to.equal(4);
    });

    it("is where the other parser has the key, for every field of random documents", () => {
        const key = fc.stringMatching(/^[a-z/.-]{1,8}$/).filter((one) => one !== "<<"), scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ unit: "grapheme", maxLength: 12 }), fc.constantFrom("a\nb\n", "yes", "2027-01-01", "it's", "x: y", " lead"));
        const { value } = fc.letrec((tie) => ({
            value: fc.oneof({ maxDepth: 4 }, scalar, fc.dictionary(key, tie("value"), { maxKeys: 4 }), fc.array(tie("value"), { maxLength: 4 })),
        }));
        fc.assert(fc.property(fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 }), fc.record({ indent: fc.constantFrom(2, 4), indentSeq: fc.boolean(), collectionStyle: fc.constantFrom<"any" | "block" | "flow">("any", "flow") }), (data, options) => {
            const text = stringify(data, { ...options, lineWidth: 0, aliasDuplicateObjects: false }), counter = new LineCounter(), locator = new Locator(text);
            for (const [path, offset] of fields(parseDocument(text, { lineCounter: counter }))) {
                const { line, col } = counter.linePos(offset), found = locator.at(0, path);
                expect([found.line, found.column], `${path.join(".")} in\n${text}`).to.deep.equal([line, col]);
            }
        }), { numRuns: 300 });
    });
});

/** Every field of a document with the offset of its key, or of the item itself in lists. */
function fields(document: Document.Parsed): readonly (readonly [Path, number])[] {
    const found: (readonly [Path, number])[] = [];
    const visit = (node: unknown, path: Path): void => {
        if (isMap<Node, Node>(node)) {
            for (const { key, value } of node.items) {
                const next = [...path, String(isScalar(key) ? key.value : key)];
                found.push([next, key.range?.[0] ?? 0]);
                visit(value, next);
            }
        } else if (isSeq<Node>(node)) {
            node.items.forEach((item, index) => {
                // Of a block scalar the other parser gives its indicator, this one its first line.
                if (!(isScalar(item) && String(item.type).startsWith("BLOCK")) && !(isScalar(item) && item.value === null)) found.push([[...path, index], item.range?.[0] ?? 0]);
                visit(item, [...path, index]);
            });
        }
    };
    visit(document.contents, []);
    return found;
}
