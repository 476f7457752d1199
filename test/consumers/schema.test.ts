// What other languages see: Pulumi's analyzer accepts every component, and the schema that the provider serves is what it finds.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repository } from "../../tools/support/places";
import { componentSchema } from "./component-schema";

const file = path.join(repository, "provider/schema.json");

describe("the schema for other languages", function () {
    this.timeout(60_000);

    it("is what the analyzer makes of the components", () => {
        const schema = componentSchema();
        if (process.env["ACCEPT"] === "1") writeFileSync(file, `${JSON.stringify(schema, undefined, 2)}\n`);
        expect(schema, "provider/schema.json; ACCEPT=1 npx mocha test/consumers/schema.test.ts accepts a change").to.deep.equal(JSON.parse(readFileSync(file, "utf8")));

        const host = schema.resources["istio-egress:index:ExternalEgressHost"];
        expect(host).to.have.property("requiredInputs").that.deep.equals(["consumers", "host", "namespace", "ownership", "pool", "route"]);
        expect(Object.keys(host?.properties ?? {}).sort()).to.deep.equal(["host", "objects", "plan"]);
        const values = (name: string): unknown => schema.types[`istio-egress:index:${name}`]?.enum?.map(({ value }) => value);
        expect(values("Route")).to.deep.equal(["mtls-passthrough", "passthrough", "tls-origination", "direct"]);
        expect(values("Membership")).to.deep.equal(["fixed", "rotating"]);
        for (const [name, resource] of Object.entries(schema.resources)) expect(resource, name).to.have.property("description").that.is.a("string").and.not.equal("");
    });
});
