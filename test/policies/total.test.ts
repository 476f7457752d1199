// Property: no rule throws or hangs, whatever objects reach it, and hiding a part of an object never adds a finding.
import { expect } from "chai";
import fc from "fast-check";
import { unknownValue } from "@pulumi/pulumi/runtime";
import { judge } from "../../policies/judge";
import { Mesh } from "../../policies/mesh";
import { type MeshObject, meshObjects, objectsIn } from "../../policies/objects";
import { RULES } from "../../policies/rules";
import { junk, mutatedSets, placesOf, replaced } from "./mutations";
import { type Fixture, type Manifest, NOW, catalogues, findingsOf, fixtures, propertiesFor, resourceOf } from "./support";

/** FUZZ=100000 npx mocha test/policies/total.test.ts: as many mutated objects through every rule; otherwise a share of it. */
const FUZZ = Number(process.env["FUZZ"] ?? 0), OBJECTS = Math.max(FUZZ, 3000);
/** The same objects at every run; FUZZ_SEED gives others. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 20261130);
/** fast-check never ends at a number of runs that is not whole. */
const share = (part: number): number => Math.ceil(OBJECTS / part);
const LIMIT_MS = Math.max(60_000, OBJECTS * 20);

const configuration = { pools: [{ host: "api.partner.example", membership: "fixed", addressesPerAnswer: 2 }, { host: "*.example", membership: "fixed" }], allow: ["*.bank.example"], objects: "all", entries: "all", expiry: "required" };
const around = { catalogues: catalogues(), now: NOW, environment: "prod" };
const given = new Map(RULES.map((rule) => [rule, propertiesFor(rule, configuration)]));

const type = fc.constantFrom(
    "kubernetes:networking.istio.io/v1:ServiceEntry", "kubernetes:networking.istio.io/v1:DestinationRulePatch", "kubernetes:networking.istio.io/v1beta1:Gateway",
    "kubernetes:networking.istio.io/v1:DestinationRuleList", "kubernetes:core/v1:List", "kubernetes:core/v1:Service", "kubernetes:networking.istio.io/:", "kubernetes::", "", "pulumi:pulumi:Stack", "pulumi:providers:kubernetes",
);
const kind = fc.constantFrom("ServiceEntry", "DestinationRule", "Gateway", "VirtualService", "Sidecar", "EnvoyFilter", "WorkloadEntry");

/** Every rule, directly: what one throws is not caught on the way. */
function judgeAll(objects: readonly MeshObject[]): number {
    for (const mesh of [new Mesh(objects), new Mesh(objects, { complete: "all" })]) {
        for (const rule of RULES) judge(rule, mesh, given.get(rule) ?? {}, around);
    }
    return objects.length;
}

const asResource = (props: unknown, ofType?: string): readonly MeshObject[] => {
    const manifest = (typeof props === "object" && props !== null ? props : { props }) as Manifest;
    return meshObjects(ofType === undefined ? resourceOf(manifest) : resourceOf(manifest, ofType));
};

describe("every rule is a total function", function () {
    this.timeout(LIMIT_MS);

    it("over arbitrary values under the kinds that it reads", () => {
        fc.assert(fc.property(junk, type, (props, ofType) => void judgeAll(asResource(props, ofType))), { numRuns: share(10), seed: SEED });
    });

    it("over arbitrary specs and metadata, several together", () => {
        const object = fc.tuple(kind, junk, junk).map(([of, metadata, spec]) => ({ apiVersion: "networking.istio.io/v1", kind: of, metadata, spec }));
        fc.assert(fc.property(fc.array(object, { maxLength: 5 }), (objects) => void judgeAll(objects.flatMap((each) => asResource(each)))), { numRuns: share(10), seed: SEED });
    });

    it(`over ${OBJECTS} objects of real setups with parts replaced`, () => {
        let judged = 0;
        const started = Date.now();
        while (judged < OBJECTS) {
            const seed = SEED + judged;
            fc.assert(fc.property(mutatedSets, (set) => { judged += judgeAll(set.flatMap((each) => objectsIn(each))); }), { numRuns: 100, seed });
        }
        if (FUZZ > 0) console.log(`      ${judged} objects, ${((Date.now() - started) / 1000).toFixed(0)} s`);
    });

    it("over items of lists, through the SDK's proxies", () => {
        fc.assert(fc.property(mutatedSets, (items) => void judgeAll(asResource({ apiVersion: "v1", kind: "List", items }))), { numRuns: share(30), seed: SEED });
    });
});

interface Hidden {
    readonly fixture: Fixture;
    readonly index: number;
    readonly place: readonly (string | number)[];
}

/** Annotations that are not known may hold an exemption; that they might is no reason to let everything pass. */
const mayHoldExemption = ({ file }: Fixture, place: readonly (string | number)[]): boolean => file.startsWith("E506-") && place[0] === "metadata" && (place.length === 1 || place[1] === "annotations");

describe("what a preview does not know", function () {
    this.timeout(LIMIT_MS * 2);
    const subject = ({ message }: { message: string }): string => message.replace(/^(E\d+) .*?: (\S+) [^]*$/, "$1 $2");

    it("never adds a finding: with any one place unknown, each finding left stands at a place that has one in full knowledge", () => {
        const all = [...fixtures("invalid"), ...fixtures("valid")].flatMap((fixture) => fixture.manifests.flatMap((manifest, index) =>
            placesOf(manifest).filter((place) => place.length > 0 && !mayHoldExemption(fixture, place)).map((place): Hidden => ({ fixture, index, place }))));
        // A share of them, evenly over all; all of them with FUZZ.
        const step = FUZZ > 0 ? 1 : 31, full = new Map<Fixture, Set<string>>(), added: string[] = [];
        for (const { fixture, index, place } of all.filter((_, at) => at % step === 0)) {
            let known = full.get(fixture);
            if (known === undefined) full.set(fixture, known = new Set(findingsOf(fixture.manifests, fixture).map(subject)));
            const manifests = fixture.manifests.map((manifest, at) => (at === index ? (replaced(manifest, place, unknownValue) as Manifest) : manifest));
            const own = fixture.manifests[index];
            const left = findingsOf(manifests, { ...fixture, types: manifests.map((manifest, at) => (at === index && own !== undefined ? `kubernetes:${own.apiVersion}:${own.kind}` : `kubernetes:${manifest.apiVersion}:${manifest.kind}`)) }).map(subject);
            for (const finding of left) if (!known.has(finding)) added.push(`${finding}: ${fixture.file}, object ${index}, ${place.join(".")}`);
        }
        expect(added).to.deep.equal([]);
    });
});
