// E602 at admission: an API version that is older than the newest one served of its kind, by the version of the request.
import { newerApiVersion } from "../../model";
import { outdatedApiVersion } from "../rules/E602-outdated-api-version";
import { literal } from "./cel";
import { type AdmissionRule, RESOURCES } from "./rule";
import { findingText } from "./template";

/** Every outdated version of a kind, with the newest one. */
const OUTDATED = Object.entries(RESOURCES).flatMap(([kind, { group }]) => ["v1alpha3", "v1beta1", "v1"].flatMap((version) => {
    const newest = newerApiVersion(`${group}/${version}`, kind);
    return newest === undefined ? [] : [[`${group}/${version} ${kind}`, newest] as const];
}));
const NEWEST = `variables.newest[variables.key]`;
const text = findingText(outdatedApiVersion, { apiVersion: "networking.istio.io/v1beta1", kind: "Gateway", metadata: { name: "example" } }, { "networking.istio.io/v1beta1": "object.apiVersion", "networking.istio.io/v1": NEWEST, Gateway: "object.kind" });

export const outdatedApiVersionAdmission: AdmissionRule = {
    rule: outdatedApiVersion,
    variables: [
        ["newest", `{${OUTDATED.map(([key, newest]) => `${literal(key)}: ${literal(newest)}`).join(", ")}}`],
        ["key", "object.apiVersion + ' ' + object.kind"],
    ],
    findings: { own: `variables.key in variables.newest ? ${text} : ''` },
};
