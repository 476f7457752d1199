// Catalogues on disk: the good ones load, each bad one gives exactly the lines of its .errors.txt (ACCEPT=1 writes them).
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { CatalogueFailure, formatErrors, loadCatalogue } from "../../../catalogue";

const cwd = resolve(__dirname, "../../fixtures/catalogues");
const cataloguesIn = (folder: string): string[] => readdirSync(join(cwd, folder)).filter((name) => name.endsWith(".yaml"));

describe("catalogue fixtures", () => {
    for (const name of cataloguesIn("good")) {
        it(`good/${name} loads`, () => {
            const result = loadCatalogue(`good/${name}`, { cwd });
            expect(result.ok ? "" : formatErrors(result.errors)).to.equal("");
        });
    }

    for (const name of cataloguesIn("bad")) {
        it(`bad/${name} gives its errors`, () => {
            const expected = join(cwd, "bad", name.replace(/\.yaml$/, ".errors.txt"));
            const result = loadCatalogue(`bad/${name}`, { cwd });
            expect(result.ok, "it must be refused").to.equal(false);
            const text = result.ok ? "" : `${formatErrors(result.errors)}\n`;
            if (process.env.ACCEPT === "1") writeFileSync(expected, text);
            expect(text).to.equal(existsSync(expected) ? readFileSync(expected, "utf8") : "");
        });
    }

    it("has no expected errors without their catalogue", () => {
        const expected = readdirSync(join(cwd, "bad")).filter((name) => name.endsWith(".errors.txt"));
        expect(expected.map((name) => name.replace(/\.errors\.txt$/, ".yaml"))).to.deep.equal(cataloguesIn("bad"));
    });
});

describe("loadCatalogue", () => {
    it("reads Korean text, a byte order mark and Windows line ends", () => {
        const bytes = readFileSync(join(cwd, "good/korean-bom-crlf.yaml"));
        expect([...bytes.subarray(0, 3)]).to.deep.equal([0xef, 0xbb, 0xbf]);
        expect(bytes.includes("\r\n")).to.equal(true);
        const result = loadCatalogue("good/korean-bom-crlf.yaml", { cwd });
        const [entry] = result.ok ? result.catalogue.entries : [];
        expect(entry?.declaration.ownership).to.deep.equal({ owner: "결제팀", purpose: "카드 정산\n(매일 02:00)\n" });
        expect(entry?.origin).to.deep.equal({ file: "good/korean-bom-crlf.yaml", line: 10, column: 3 });
    });

    it("shows paths relative to the working directory below it, and whole elsewhere", () => {
        const file = (path: string, base: string): string => {
            const result = loadCatalogue(path, { cwd: base });
            return result.ok ? result.catalogue.files.join() : String(result.errors[0]?.file);
        };
        expect(file(join(cwd, "good/dev.yaml"), cwd)).to.equal("good/hosts.yaml,good/dev.yaml");
        expect(file("dev.yaml", join(cwd, "good"))).to.equal("hosts.yaml,dev.yaml");
        expect(file("../good/hosts.yaml", join(cwd, "bad"))).to.equal(join(cwd, "good/hosts.yaml"));
    });

    it("says why a file cannot be read", () => {
        const text = (path: string): string => {
            const result = loadCatalogue(path, { cwd });
            return result.ok ? "" : formatErrors(result.errors);
        };
        expect(text("nowhere.yaml")).to.equal("nowhere.yaml:1:1: the catalogue does not exist: check the path.");
        expect(text("good")).to.equal("good:1:1: the catalogue is a directory: name a YAML file in it.");
        expect(text("good/hosts.yaml/x")).to.equal("good/hosts.yaml/x:1:1: the catalogue does not exist: check the path.");
        expect(text("/dev/null")).to.equal("/dev/null:1:1: the catalogue is not a regular file.");
    });

    it("gives failures that carry all errors, one per line", () => {
        const result = loadCatalogue("bad/guard.yaml", { cwd });
        const failure = new CatalogueFailure(result.ok ? [] : result.errors);
        expect(failure).to.be.instanceOf(Error);
        expect(failure.name).to.equal("CatalogueFailure");
        expect(failure.errors).to.have.length(4);
        expect(failure.message.split("\n")).to.deep.equal(failure.errors.map(({ text }) => text));
        const [first] = failure.errors;
        expect(first?.text).to.equal(`${first?.file}:${first?.line}:${first?.column}: ${first?.message}`);
    });
});
