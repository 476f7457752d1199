// What this library writes gives no finding, whatever is declared: all rules, all routes, several hosts together.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { manifestsOf } from "../../manifests";
import type { Declaration, DeclarationInput } from "../../model";
import { accept, declarations } from "../support/declarations";
import { type Manifest, findingsOf } from "./support";

/** What a declaration may force against its pool is what the rules are there for. */
const wise = declarations.map((input): DeclarationInput => ({ ...input, resolution: undefined, pool: { ...input.pool, onEmptyAnswer: input.pool.membership === "fixed" ? input.pool.onEmptyAnswer : undefined }, loadBalancer: undefined, outlier: undefined, connectTimeout: undefined }));

/** Declarations of one catalogue: one gateway for all that use one, each host once, and no consumer in the gateway's namespace. */
const catalogues = fc.array(wise, { minLength: 1, maxLength: 6 }).map((inputs) => {
    const gateway = inputs.find((input) => input.gateway !== undefined)?.gateway;
    const ports = [...new Map(inputs.flatMap((input) => input.gateway?.ports ?? []).map((port) => [port.number, port])).values()];
    const hosts = new Set<string>();
    return inputs.filter((input) => !hosts.has(input.host) && hosts.add(input.host)).map((input): DeclarationInput => {
        const forAll = gateway?.consumers === "all";
        const consumers = input.gateway === undefined ? input.consumers : forAll ? [{ namespace: "*" }] : input.consumers.filter(({ namespace }) => namespace !== "*" && namespace !== gateway?.namespace);
        // Service accounts are the locked gateway's to enforce, and this catalogue's gateway is another one than the declaration's.
        const named = consumers.map(({ namespace, serviceAccounts }) => (gateway?.lockdown === input.gateway?.lockdown && serviceAccounts !== undefined ? { namespace, serviceAccounts } : { namespace }));
        return { ...input, gateway: input.gateway === undefined || gateway === undefined ? undefined : { ...gateway, ports }, consumers: named.length === 0 ? [{ namespace: "somebody" }] : named };
    });
});

const objectsOf = (declared: readonly Declaration[]): Manifest[] => declared.flatMap((declaration, index) => manifestsOf(`host-${index}`, declaration).map(({ object }) => object as unknown as Manifest));

/** That everything is at hand makes the rules about what is missing judge, too; enforcement is a component of its own. */
const WHOLE = { objects: "all" };
const unexpected = (manifests: readonly Manifest[], configuration = {}): string[] => findingsOf(manifests, { configuration }).map(({ message }) => message).filter((message) => !message.startsWith("E505 "));

describe("the objects of declarations", function () {
    this.timeout(120_000);

    it("give no finding", () => {
        fc.assert(fc.property(catalogues, (inputs) => {
            const manifests = objectsOf(inputs.map(accept));
            expect(findingsOf(manifests)).to.deep.equal([]);
            // A leg that is taken away leaves the gateway's side behind, on purpose.
            if (inputs.every(({ active }) => active !== false)) expect(unexpected(manifests, WHOLE)).to.deep.equal([]);
        }), { numRuns: 300 });
    });

    it("give none as the environments of this repository write them", () => {
        for (const environment of ["dev", "staging", "prod"]) {
            const file = path.join(__dirname, "../embedded/golden", `${environment}.yaml`);
            const manifests = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest).filter((document) => document !== null);
            expect(manifests.length, environment).to.be.above(20);
            expect(findingsOf(manifests), environment).to.deep.equal([]);
            expect(unexpected(manifests, WHOLE), environment).to.deep.equal([]);
        }
    });
});
