// The JSON Schema for editors: current, a valid schema, in agreement with the loader on what it can know.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { z } from "zod";
import { catalogueJsonSchema, catalogueSchemaText } from "../../../catalogue";

const root = resolve(__dirname, "../../..");
const fixture = (path: string): unknown => parse(readFileSync(join(root, "test/fixtures/catalogues", path), "utf8"), { merge: true });

describe("catalogueJsonSchema", () => {
    const validator = z.fromJSONSchema(catalogueJsonSchema());
    const accepts = (value: unknown): boolean => validator.safeParse(value).success;

    it("is what catalogue.schema.json holds (npm run generate writes it)", () => {
        expect(readFileSync(join(root, "catalogue/catalogue.schema.json"), "utf8")).to.equal(catalogueSchemaText());
    });

    it("accepts good catalogues, overlays included", () => {
        for (const name of ["hosts", "dev", "dev-local", "anchors", "korean-bom-crlf"]) expect(accepts(fixture(`good/${name}.yaml`)), name).to.equal(true);
    });

    it("rejects unknown keys, wrong types, unquoted numbers and gateways in place", () => {
        for (const name of ["unknown-key", "wrong-type", "unquoted", "unknown-gateway", "bad-gateway", "bad-defaults", "list-at-top"]) expect(accepts(fixture(`bad/${name}.yaml`)), name).to.equal(false);
    });

    it("requires nothing that defaults may give, allows null for removal, and keeps list entries whole", () => {
        expect(accepts({ hosts: { a: {}, b: null } })).to.equal(true);
        expect(accepts({ hosts: { a: { pool: { membership: null }, gateway: null, failover: null } }, gateways: { platform: { selector: { old: null } } } })).to.equal(true);
        expect(accepts({ hosts: { a: { consumers: [{}] } } })).to.equal(false);
        expect(accepts({ hosts: { a: { ports: [{ number: null }] } } })).to.equal(false);
        expect(accepts({ hosts: { a: { manifestOverrides: { Gateway: { spec: null } } } } })).to.equal(true);
        expect(accepts({ hosts: { "Not-a-name": {} } })).to.equal(false);
    });

    it("describes every property, for the editor to show", () => {
        const { definitions } = catalogueJsonSchema() as { definitions: Record<string, { properties: Record<string, { description?: string }> }> };
        for (const [name, { properties }] of Object.entries(definitions)) {
            for (const [property, { description }] of Object.entries(properties)) expect(description, `${name}.${property}`).to.be.a("string").and.not.equal("");
        }
    });
});
