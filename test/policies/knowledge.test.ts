// Where the pack's knowledge of pools comes from, in what order, and what it says of configurations and catalogues that are broken.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import type { ResourceValidationArgs, ResourceValidationPolicy } from "@pulumi/policy";
import { readCatalogue } from "../../policies/catalogue-pools";
import { Catalogues, type ReadCatalogue, stackOf } from "../../policies/catalogues";
import { configSchema, poolConfiguration, readConfiguration } from "../../policies/configuration";
import { judge } from "../../policies/judge";
import { Mesh } from "../../policies/mesh";
import { meshObjects } from "../../policies/objects";
import { policyPackArgs } from "../../policies/pack";
import type { HostPool } from "../../policies/pools";
import { type Manifest, NOW, findingsOf, judgeWith, resourceOf, ruleOf } from "./support";

const entry = (annotations?: Record<string, unknown>, host = "api.partner.example"): Manifest => ({
    apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "partner", namespace: "egress", annotations },
    spec: { hosts: [host], resolution: "DNS_ROUND_ROBIN" },
});
const names = (manifest: Manifest, pools: readonly unknown[], read?: ReadCatalogue): string[] =>
    findingsOf(manifest, { configuration: { pools, ...(read === undefined ? {} : { catalogue: __filename }) }, readCatalogue: read }).map(({ policy }) => policy);
const catalogueOf = (...pools: HostPool[]): ReadCatalogue => () => ({ ok: true, pools });

const FIXED = ["logical-dns-on-small-pool"], ROTATING: string[] = [], UNDECLARED = ["pool-undeclared"];

describe("the pool behind a host", () => {
    it("is what the annotations say, then the configuration, then the catalogue", () => {
        const host = "api.partner.example";
        const fixed = { host, membership: "fixed" } as const, rotating = { host, membership: "rotating" } as const;
        expect(names(entry({ "istio-egress/membership": "rotating" }), [fixed], catalogueOf(fixed))).to.deep.equal(ROTATING);
        expect(names(entry(), [rotating], catalogueOf(fixed))).to.deep.equal(ROTATING);
        expect(names(entry(), [], catalogueOf(fixed))).to.deep.equal(FIXED);
        expect(names(entry(), [], catalogueOf())).to.deep.equal(UNDECLARED);
        expect(names(entry(), [])).to.deep.equal(UNDECLARED);
    });

    it("is the exact host's before a pattern's, and the first pattern's", () => {
        const exact = { host: "API.partner.example.", membership: "fixed" }, wide = { host: "*.example", membership: "rotating" }, narrow = { host: "*.partner.example", membership: "fixed" };
        expect(names(entry(), [wide, exact])).to.deep.equal(FIXED);
        expect(names(entry(), [wide, narrow])).to.deep.equal(ROTATING);
        expect(names(entry(), [narrow, wide])).to.deep.equal(FIXED);
        expect(names(entry(undefined, "partner.example"), [narrow])).to.deep.equal(UNDECLARED);
    });

    it("is not what annotations say of another host", () => {
        const annotations = { "istio-egress/host": "other.partner.example", "istio-egress/membership": "fixed" };
        expect(names(entry(annotations), [])).to.deep.equal(UNDECLARED);
        expect(names(entry({ ...annotations, "istio-egress/host": "API.PARTNER.example" }), [])).to.deep.equal(FIXED);
    });

    it("is not what an unreadable annotation says", () => {
        for (const membership of ["Fixed", "", 1, {}, ["fixed"]]) expect(names(entry({ "istio-egress/membership": membership }), [])).to.deep.equal(UNDECLARED);
        const twoDigits = { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "two" };
        const rule: Manifest = { ...entry(twoDigits), kind: "DestinationRule", spec: { host: "api.partner.example", trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN" }, connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection: { maxEjectionPercent: 30, minHealthPercent: 1 } } } };
        expect(findingsOf(rule)).to.deep.equal([]);
    });

    it("gives the same message whatever it is known from", () => {
        const host = "api.partner.example";
        const messages = [
            findingsOf(entry({ "istio-egress/host": host, "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "2" })),
            findingsOf(entry(), { configuration: { pools: [{ host, membership: "fixed", addressesPerAnswer: 2 }] } }),
            findingsOf(entry(), { configuration: { catalogue: __filename }, readCatalogue: catalogueOf({ host, membership: "fixed", addressesPerAnswer: 2 }) }),
        ];
        expect(messages[0]).to.have.lengthOf(1);
        expect(messages[1]).to.deep.equal(messages[0]);
        expect(messages[2]).to.deep.equal(messages[0]);
    });
});

describe("a policy's configuration", () => {
    const problemOf = (given: unknown): string => {
        const result = readConfiguration("logical-dns-on-small-pool", poolConfiguration, given);
        return result.ok ? "" : result.problem;
    };

    it("is refused with property, value and what is expected", () => {
        const problem = problemOf({ pools: [{ host: "a*.example", membership: "fxed", addressesPerAnswer: 0, n: 2 }], catalog: "dev.yaml" });
        expect(problem).to.match(/^Configuration of the policy logical-dns-on-small-pool: /)
            .and.include('pools[0].host is "a*.example": ').and.include('pools[0].membership is "fxed": ').and.include('"fixed"|"rotating"')
            .and.include("pools[0].addressesPerAnswer is 0: ").and.include('"n" in pools[0] is no property of it').and.include('"catalog" is no property of it');
        expect(problemOf({ pools: [{ membership: "fixed" }] })).to.include("pools[0].host is missing: ");
        expect(problemOf({ pools: { host: "a.example" } })).to.include('pools is {"host":"a.example"}: ');
        expect(problemOf({ pools: [{ host: "*.a.example", membership: "rotating" }, { host: "egress.istio-system.svc.cluster.local", membership: "fixed", addressesPerAnswer: 2 }] })).to.equal("");
    });

    it("converts into the schema that Pulumi's engine checks first", () => {
        const { properties } = configSchema(poolConfiguration);
        expect(properties).to.have.all.keys("pools", "catalogue");
        expect(properties["pools"]).to.have.nested.property("items.properties.membership.enum").that.deep.equals(["fixed", "rotating"]);
        expect(properties["pools"]).to.have.property("default").that.deep.equals([]);
    });

    it("that is broken leaves pools unknown that nothing else tells: no finding is made up", () => {
        const around = { catalogues: new Catalogues(readCatalogue, []), now: NOW }, meshOf = (manifest: Manifest): Mesh => new Mesh(meshObjects(resourceOf(manifest)));
        const { findings, problems } = judge(ruleOf("E207"), meshOf(entry()), { pools: 1 }, around);
        expect(findings).to.deep.equal([]);
        expect(problems).to.have.lengthOf(1);
        const annotated = entry({ "istio-egress/membership": "fixed" });
        expect(judge(ruleOf("E201"), meshOf(annotated), { pools: 1 }, around).findings).to.have.lengthOf(1);
    });
});

describe("the environment's catalogue", () => {
    let folder: string;
    before(() => { folder = mkdtempSync(path.join(tmpdir(), "policies-")); });
    after(() => rmSync(folder, { recursive: true }));

    const write = (name: string, text: string): string => {
        const file = path.join(folder, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, text);
        return file;
    };
    const GOOD = `hosts:
  partner-api:
    host: api.partner.example
    namespace: egress
    pool: { membership: fixed, addressesPerAnswer: 2 }
    route: direct
    consumers: [{ namespace: payments }]
    ownership: { owner: team-payments, purpose: card settlement }
`;

    it("says what the pools of its hosts are, by the stack's name", () => {
        write("catalogue/dev.yaml", GOOD);
        write("catalogue/prod.yaml", GOOD.replace("fixed, addressesPerAnswer: 2", "rotating"));
        const configuration = { catalogue: path.join(folder, "catalogue/{stack}.yaml") };
        const inStack = (stack: string): number => judgeWith(ruleOf("E201"), resourceOf(entry(), undefined, stack), { configuration }).violations.length;
        expect(inStack("dev")).to.equal(1);
        expect(inStack("prod")).to.equal(0);
    });

    it("is looked up by a relative path in the given folders and their parents, nearest first", () => {
        write("near/x.yaml", "near");
        write("x.yaml", "far");
        const seen: string[] = [];
        const read: ReadCatalogue = (file) => { seen.push(path.relative(folder, file)); return { ok: true, pools: [] }; };
        for (const start of ["near/dist/policies", "near", "other/place"]) new Catalogues(read, [path.join(folder, start)]).of("x.yaml", "");
        expect(seen).to.deep.equal(["near/x.yaml", "near/x.yaml", "x.yaml"]);
    });

    it("is read once for all rules and objects", () => {
        let reads = 0;
        const catalogues = new Catalogues(() => { reads += 1; return { ok: true, pools: [] }; }, [path.dirname(__filename)]);
        for (let time = 0; time < 3; time++) catalogues.of(path.basename(__filename), "dev");
        expect(reads).to.equal(1);
    });

    it("that has errors or is missing is one problem with the way out, and its pools are unknown", () => {
        const broken = write("broken.yaml", GOOD.replace("route: direct", "rout: direct"));
        const { violations, problems } = judgeWith(ruleOf("E207"), resourceOf(entry()), { configuration: { catalogue: broken } });
        expect(violations).to.deep.equal([]);
        expect(problems).to.have.lengthOf(1);
        expect(problems[0]).to.include(`The catalogue ${broken} `).and.match(/broken\.yaml:6:\d+: .*rout/);

        const missing = judgeWith(ruleOf("E207"), resourceOf(entry()), { configuration: { catalogue: "no/such/{stack}.yaml" } });
        expect(missing.problems).to.have.lengthOf(1);
        expect(missing.problems[0]).to.include("The catalogue no/such/dev.yaml of the policy pack's configuration does not exist").and.include("parent folders");
        expect(missing.violations).to.deep.equal([]);
    });

    it("that makes the reader throw is a problem too", () => {
        const catalogues = new Catalogues(() => { throw new Error("out of paper"); }, []);
        expect(catalogues.of(__filename, "")).to.deep.equal({ ok: false, problem: `The catalogue ${__filename} of the policy pack's configuration cannot be read: out of paper` });
    });

    it("is told once per run, as a mandatory finding, however many policies and resources need it", () => {
        const reported: unknown[] = [];
        const { policies } = policyPackArgs();
        for (let resource = 0; resource < 3; resource++) {
            for (const policy of policies as ResourceValidationPolicy[]) {
                const takesCatalogue = "catalogue" in (policy.configSchema?.properties ?? {});
                const args = { ...resourceOf(entry()), getConfig: () => (takesCatalogue ? { catalogue: "/no/such/file.yaml" } : {}) } as unknown as ResourceValidationArgs;
                // Those of the whole stack are asked once, at the end.
                const validate = policy.validateResource;
                if (typeof validate === "function") void validate(args, (violation: unknown) => reported.push(violation));
            }
        }
        expect(reported).to.deep.equal([{ message: "The catalogue /no/such/file.yaml of the policy pack's configuration does not exist. Correct the path, or give an absolute one; until then the pools of its hosts are unknown.", enforcementLevel: "mandatory", severity: "high" }]);
    });
});

describe("stackOf", () => {
    it("reads the stack's name from an object's URN", () => {
        expect(stackOf("urn:pulumi:dev::shop::kubernetes:networking.istio.io/v1:Gateway::egress")).to.equal("dev");
        expect(stackOf("urn:pulumi:my.stack-1::shop::t::n")).to.equal("my.stack-1");
        for (const urn of ["", "urn:pulumi:", "dev"]) expect(stackOf(urn)).to.equal("");
    });
});
