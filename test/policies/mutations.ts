// Objects with parts replaced, for tests that no rule minds.
import fc from "fast-check";
import { unknownValue } from "@pulumi/pulumi/runtime";
import { type Manifest, fixtures } from "./support";

type Place = readonly (string | number)[];

/** Every place of a value, as a path. */
export function placesOf(value: unknown, path: Place = []): Place[] {
    if (typeof value !== "object" || value === null) return [path];
    return [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]))];
}

export function replaced(value: unknown, path: Place, by: unknown): unknown {
    const [key, ...rest] = path;
    if (key === undefined) return by;
    if (Array.isArray(value)) return value.map((item: unknown, index) => (index === key ? replaced(item, rest, by) : item));
    if (typeof value !== "object" || value === null) return value;
    const object = value as Record<string, unknown>;
    return { ...object, [key]: replaced(object[key], rest, by) };
}

export const junk = fc.oneof(
    fc.jsonValue(), fc.constant(undefined), fc.constant(unknownValue), fc.object(),
    fc.constantFrom(-1, 0, 1, 100, 443, 1e308, NaN, Infinity, "", "*", "*.", ".", "/", "[]", "__proto__", "constructor", "10s", "a".repeat(5000), "*.example", "api.partner.example"),
    fc.constantFrom(["*"], ["."], ["~"], ["payments"], [null], [[]], [{}], { "": null }),
);

/** The objects of all fixtures, set by set. */
export const SETS: readonly (readonly Manifest[])[] = [...fixtures("invalid"), ...fixtures("valid")].map(({ manifests }) => manifests);

/** Values that stand somewhere in the fixtures: put elsewhere they make objects that meet others by chance. */
const values = fc.constantFrom(...SETS.flat().flatMap((manifest) => placesOf(manifest).map((place) => place.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], manifest))));

function mutatedOf(manifest: Manifest): fc.Arbitrary<unknown> {
    return fc.array(fc.tuple(fc.constantFrom(...placesOf(manifest)), fc.oneof(junk, values)), { maxLength: 4 })
        .map((changes) => changes.reduce<unknown>((at, [place, by]) => replaced(at, place, by), manifest));
}

/** The objects of a fixture, each with some places replaced, and some of another fixture or junk among them. */
export const mutatedSets: fc.Arbitrary<readonly unknown[]> = fc.tuple(fc.constantFrom(...SETS), fc.constantFrom(...SETS)).chain(([one, other]) =>
    fc.tuple(...one.map(mutatedOf), fc.array(fc.oneof(fc.constantFrom(...other).chain(mutatedOf), junk), { maxLength: 3 }))
        .map((drawn) => drawn.flatMap((item) => (Array.isArray(item) ? (item as unknown[]) : [item]))));
