// The SDK's own schema analyzer over the entry point: what it rejects, no other language can use.
import path from "node:path";
import { Analyzer } from "@pulumi/pulumi/provider/experimental/analyzer";
import { expect } from "chai";

const root = path.join(__dirname, "../../..");

describe("the schema for other languages", () => {
    it("is generated from every component", function () {
        this.timeout(60_000);
        const packageJson = { name: "istio-egress", main: "index.ts", dependencies: {} };
        const components = new Set(["EgressCatalog", "EgressGateway", "ExternalEgressHost"]);
        const { components: found, typeDefinitions } = new Analyzer(root, "istio-egress", packageJson, components).analyze();
        expect(Object.keys(found).sort()).to.deep.equal(["EgressCatalog", "EgressGateway", "ExternalEgressHost"]);
        const host = found["ExternalEgressHost"];
        expect(Object.entries(host?.inputs ?? {}).filter(([, input]) => input.optional !== true).map(([name]) => name).sort())
            .to.deep.equal(["consumers", "host", "namespace", "ownership", "pool", "route"]);
        expect(Object.keys(host?.outputs ?? {}).sort()).to.deep.equal(["host", "objects", "plan"]);
        expect(typeDefinitions["Route"]?.enum?.map(({ value }) => value)).to.deep.equal(["mtls-passthrough", "passthrough", "tls-origination", "direct"]);
        expect(typeDefinitions["Membership"]?.enum?.map(({ value }) => value)).to.deep.equal(["fixed", "rotating"]);
        for (const [name, component] of Object.entries(found)) expect(component.description, name).to.be.a("string").and.not.equal("");
    });
});
