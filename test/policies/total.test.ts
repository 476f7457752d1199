// Property: no rule throws, whatever object reaches it, and hiding a part of an object never adds a finding.
import { expect } from "chai";
import fc from "fast-check";
import { unknownValue } from "@pulumi/pulumi/runtime";
import { RULES } from "../../policies/rules";
import { type Manifest, findingsOf, fixtures, judgeWith, resourceOf } from "./support";

const manifests = [...fixtures("invalid"), ...fixtures("valid")].flatMap((fixture) => fixture.manifests);
const configuration = { pools: [{ host: "api.partner.example", membership: "fixed", addressesPerAnswer: 2 }, { host: "*.example", membership: "fixed" }] };
const RUNS = 2000;

/** Every place of a value, as a path. */
function placesOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
    if (typeof value !== "object" || value === null) return [path];
    return [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]))];
}

function replaced(value: unknown, path: readonly (string | number)[], by: unknown): unknown {
    const [key, ...rest] = path;
    if (key === undefined) return by;
    if (Array.isArray(value)) return value.map((item: unknown, index) => (index === key ? replaced(item, rest, by) : item));
    const object = value as Record<string, unknown>;
    return { ...object, [key]: replaced(object[key], rest, by) };
}

const junk = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.constant(unknownValue), fc.object(), fc.constantFrom(-1, 0, 1, 1e308, NaN, "", "*", "*.", "/", "[]", "__proto__"));
const type = fc.constantFrom(
    "kubernetes:networking.istio.io/v1:ServiceEntry", "kubernetes:networking.istio.io/v1:DestinationRulePatch", "kubernetes:networking.istio.io/v1beta1:Gateway",
    "kubernetes:networking.istio.io/v1:DestinationRuleList", "kubernetes:core/v1:List", "kubernetes:networking.istio.io/:", "kubernetes::", "", "pulumi:pulumi:Stack",
);

/** One of the fixtures, with some places replaced. */
const mutated = fc.constantFrom(...manifests).chain((manifest) =>
    fc.array(fc.tuple(fc.constantFrom(...placesOf(manifest)), junk), { minLength: 1, maxLength: 4 }).map((changes) =>
        changes.reduce<unknown>((at, [place, by]) => {
            try {
                return replaced(at, place, by);
            } catch {
                return at;
            }
        }, manifest)));

function judgeAll(props: unknown, ofType?: string): void {
    const manifest = (typeof props === "object" && props !== null ? props : { props }) as Manifest;
    const resource = ofType === undefined ? resourceOf(manifest) : resourceOf(manifest, ofType);
    for (const rule of RULES) judgeWith(rule, resource, { configuration });
}

describe("every rule is a total function", () => {
    it("over arbitrary values under the kinds that it reads", () => {
        fc.assert(fc.property(junk, type, (props, ofType) => judgeAll(props, ofType)), { numRuns: RUNS });
    });

    it("over arbitrary specs and metadata", () => {
        const kind = fc.constantFrom("ServiceEntry", "DestinationRule", "Gateway");
        fc.assert(fc.property(kind, junk, junk, (of, metadata, spec) => judgeAll({ apiVersion: "networking.istio.io/v1", kind: of, metadata, spec })), { numRuns: RUNS });
    });

    it("over real objects with parts replaced", () => {
        fc.assert(fc.property(mutated, (props) => judgeAll(props)), { numRuns: RUNS });
    });

    it("over items of lists", () => {
        fc.assert(fc.property(fc.array(fc.oneof(mutated, junk), { maxLength: 4 }), (items) => judgeAll({ apiVersion: "v1", kind: "List", items })), { numRuns: RUNS / 4 });
    });
});

describe("what a preview does not know", () => {
    it("never adds a finding: with any one place unknown, each finding left stands at a place that has one in full knowledge", () => {
        const subject = ({ message }: { message: string }): string => message.replace(/^(E\d+) .*?: (\S+) [^]*$/, "$1 $2");
        for (const { manifests: all, configuration: own } of [...fixtures("invalid"), ...fixtures("valid")]) {
            for (const manifest of all) {
                const full = new Set(findingsOf(manifest, { configuration: own }).map(subject));
                for (const place of placesOf(manifest)) {
                    if (place.length === 0) continue;
                    const hidden = replaced(manifest, place, unknownValue) as Manifest;
                    const type = `kubernetes:${manifest.apiVersion}:${manifest.kind}`;
                    const left = RULES.flatMap((rule) => judgeWith(rule, resourceOf(hidden, type), { configuration: own }).violations).map(subject);
                    for (const finding of left) expect([...full], `${place.join(".")} of ${JSON.stringify(manifest.metadata)}`).to.include(finding);
                }
            }
        }
    });
});
