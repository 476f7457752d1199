// What is read without the parser of YAML: always what the parser reads, never what it refuses.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { CORE_SCHEMA, boolYaml11Tag, loadAll, mergeTag } from "js-yaml";
import { stringify } from "yaml";
import { manifestTexts } from "../../../bench/manifests";
import { readBlockYaml } from "../../../cli/audit/block-yaml";

const SCHEMA = CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag);
const parser = (text: string): readonly unknown[] => loadAll(text, { schema: SCHEMA });
const RUNS = Math.max(Number(process.env["FUZZ"] ?? 0), 5000);

/** @returns whether it was read */
function agrees(text: string): boolean {
    const read = readBlockYaml(text);
    if (read !== undefined) expect([read.value], text).to.deep.equal(parser(text));
    return read !== undefined;
}

const documents = ["valid", "invalid", "corpus"].flatMap((folder) => {
    const base = path.join(__dirname, "../../fixtures", folder);
    return readdirSync(base).filter((name) => name.endsWith(".yaml")).flatMap((name) => readFileSync(path.join(base, name), "utf8").split(/^(?=---\n)/m));
});

const scalar = fc.oneof(
    fc.constantFrom("a", "y", "no", "On", "null", "~", "true", "TRUE", "0", "-1", "012", "0x1F", "0o7", "1e3", "1.5", ".5", ".inf", ".", "./x", "30s", "192.0.2.1", "2027-06-30", "12:30", "1_000", "{}", "[]", "[a]", "{a: b}", "*", "*a", "&a b",
        "!x y", "|", ">", "'it''s'", "'a'", "\"a\"", "\"a\\n\"", "\"\"", "'", "\"", "a: b", "a:b", "a:", "a #b", "a#b", "# c", "- a", "-a", "? a", "%a", "@a", "`a", "a b", " a", "a ", "", "http://x/y", "/etc/x", "<<", "é", "\ta", "a\r", ",", "a, b", "]", "..."),
    fc.string({ maxLength: 6 }),
);
const key = fc.oneof({ weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "d", "e", "kind", "metadata") }, fc.constantFrom("a", "b", "kind", "y", "null", "constructor", "__proto__", "<<", "a.b/c-d", "\"q\"", "1", "a b", "?", "-", "é", ""), fc.string({ maxLength: 3 }));
/** Lines that look like block YAML, with indentation that fits now and then. */
const line = fc.tuple(fc.constantFrom(0, 0, 1, 2, 2, 3, 4, 4, 6), fc.constantFrom("", "", "", "- ", "- ", "-  ", "-"), key, fc.constantFrom(": ", ":", ":", ":  ", " : ", ""), scalar)
    .map(([indent, dash, name, colon, value]) => `${" ".repeat(indent)}${dash}${name}${colon}${colon.endsWith(" ") || colon === "" ? value : ""}`);
const good = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e", "f"), fc.constantFrom(": x", ": 1", ": yes", ":", ":", ":\n  - x", ":\n- x", ":\n  g: y", ":\n    h: y", ":\n    - g: 1\n      h: 2")).map((parts) => parts.join(""));
const lines = fc.array(fc.oneof({ weight: 30, arbitrary: good }, { weight: 6, arbitrary: line }, { weight: 1, arbitrary: fc.constantFrom("", "  ", "# c", "  # c", "---", "...", "--- a", "- - a", "- a", "  - a", "%YAML 1.2") }), { maxLength: 8 });

describe("block YAML", () => {
    it("is what machines write: the objects of this library, each read as the parser reads it", () => {
        for (const text of manifestTexts(5)) expect(agrees(`---\n${text}`), text).to.equal(true);
    });

    it("is read with every value in place", () => {
        const text = "---\n# Source: a.yaml\nkind: A\n\nspec:\n  list:\n  - a\n  - name: b\n    on.e: 1\n  deep:\n    - x:\n        - w: 30s\n      z: []\n  empty:\n  no-text: yes\n  text: \"yes\"\nmore: 'it is: # a text'\n";
        expect(readBlockYaml(text)?.value).to.deep.equal({
            kind: "A", spec: { list: ["a", { name: "b", "on.e": 1 }], deep: [{ x: [{ w: "30s" }], z: [] }], empty: null, "no-text": true, text: "yes" }, more: "it is: # a text",
        });
        expect(agrees(text)).to.equal(true);
    });

    it("keeps keys apart that begin, end and have their middle alike", () => {
        for (const text of ["axxmbxc: 1\nayxmbxc: 2\n", "ayxmbxc: 1\naxxmbxc:\n  ayxmbxc: 2\n  axxmbyc: 3\n", "axxmbxc: 1\nayxmbxc: 2\n"]) expect(agrees(text), text).to.equal(true);
    });

    it("leaves to the parser what it does not know, and every mistake", () => {
        for (const text of [
            "", "# c\n", "- a\n", "a\n", "a: b\n c\n", "a: b\n  # c\n  c\n", "a: |\n  b\n", "a: [b]\n", "a: &x b\nc: *x\n", "a: b # c\n", "a: b: c\n", "a: 1.5\n", "a: \"\\n\"\n", "a: 'it''s'\n", "a: é\n", "a:\tb\n", "a: b\r\n", "\"a\": b\n",
            "a: 1\na: 2\n", "y: 1\ntrue: 2\n", "<<: {}\n", "a:\n- b\nc\n", "a:\n    - b\n  - c\n", "a:\n  b: 1\n c: 2\n", "a: 1\n...\n", "a: 1\n--- \nb: 1\n", "--- a\n", `${"a".repeat(400)}: 1\n`, `${Array.from({ length: 40 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")}`,
        ]) expect(readBlockYaml(text), JSON.stringify(text)).to.equal(undefined);
    });

    it("is read as the parser reads it, whatever is changed in a document", () => {
        const texts = [...documents, ...manifestTexts(2)], change = fc.tuple(fc.constantFrom(...texts), fc.nat(), fc.oneof(line, scalar, fc.constant(undefined)), fc.nat());
        let read = 0;
        fc.assert(fc.property(change, ([text, at, put, column]) => {
            const all = text.split("\n"), index = at % all.length, old = all[index] ?? "";
            all.splice(index, 1, ...(put === undefined ? [] : [column % 3 === 0 ? put : old.slice(0, column % (old.length + 1)) + put]));
            if (agrees(all.join("\n"))) read++;
        }), { numRuns: RUNS });
        expect(read).to.be.above(RUNS / 20);
    });

    it("is read as the parser reads it, whatever the lines", () => {
        let read = 0;
        fc.assert(fc.property(lines, (all) => { if (agrees(all.join("\n"))) read++; }), { numRuns: RUNS });
        expect(read).to.be.above(RUNS / 50);
    });

    it("is read as the parser reads it, whatever a library writes", () => {
        let read = 0;
        fc.assert(fc.property(fc.object({ maxDepth: 4, key: fc.constantFrom("a", "b", "c", "d", "kind", "a.b/c"), values: [fc.constantFrom("a", "yes", "1", "a: b", "30s", "x".repeat(90)), fc.string({ maxLength: 5 }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)] }), (value) => { if (agrees(stringify(value))) read++; }), { numRuns: RUNS });
        expect(read).to.be.above(RUNS / 50);
    });
});
