// Property values between the wire of Pulumi's engine (sentinels, signatures) and what people and policies may see.
import { specialAssetSig, specialArchiveSig, specialOutputValueSig, specialResourceSig, specialSecretSig, specialSigKey, unknownValue } from "@pulumi/pulumi/runtime/rpc";
import type { Json, JsonObject } from "./types";

/** How a value that only a deployment can tell is shown. */
export const UNKNOWN = "<unknown>";
/** How a secret is shown. */
const SECRET = "[secret]";

/** The sentinel that stands for an unknown value on the wire. */
export const UNKNOWN_SENTINEL = unknownValue;

/** A value for people and files: nothing secret, unknowns marked, references as the id or URN that they stand for. */
export function masked(value: Json): Json {
    if (typeof value === "string") return value.replaceAll(unknownValue, UNKNOWN);
    if (Array.isArray(value)) return value.map(masked);
    if (value === null || typeof value !== "object") return value;
    switch (value[specialSigKey]) {
        case undefined: return maskedObject(value);
        case specialSecretSig: return SECRET;
        case specialResourceSig: return masked(reference(value));
        case specialOutputValueSig: return value["secret"] === true ? SECRET : masked(value["value"] ?? unknownValue);
        case specialAssetSig:
        case specialArchiveSig: return "[asset]";
        default: return UNKNOWN;
    }
}

export function maskedObject(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]));
}

/** A value as the engine sends it to a policy pack: secrets stay wrapped, unknowns stay sentinels, references become ids. */
function forPolicies(value: Json): Json {
    if (Array.isArray(value)) return value.map(forPolicies);
    if (value === null || typeof value !== "object") return value;
    switch (value[specialSigKey]) {
        case specialResourceSig: return reference(value);
        case specialOutputValueSig: return forPolicies(value["value"] ?? unknownValue);
        default: return forPoliciesObject(value);
    }
}

export function forPoliciesObject(value: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, forPolicies(inner)]));
}

/** Whether a masked value holds something that a deployment has and this preview has not. */
export function isIncomplete(value: Json): boolean {
    if (typeof value === "string") return value === SECRET || value.includes(UNKNOWN);
    if (value === null || typeof value !== "object") return false;
    return Object.values(value).some(isIncomplete);
}

/** A resource reference is its id where it has one (unknown in a preview), else its URN. */
function reference(value: JsonObject): Json {
    return value["id"] ?? value["urn"] ?? null;
}
