// E602: an API version that is older than the newest one served of its kind.
import { newerApiVersion } from "../../model/istio";
import { noConfiguration } from "../configuration";
import type { ObjectRule } from "../rule";

export const outdatedApiVersion: ObjectRule = {
    code: "E602",
    name: "outdated-api-version",
    level: "advisory",
    severity: "low",
    description: "Objects of Istio should have the newest API version that is served of their kind.",
    remediation: "Change apiVersion; in Pulumi give the resource an alias of its old type, or it is created anew and the old one deleted: both are the same object.",
    remediates: false,
    kinds: ["*"],
    configuration: noConfiguration,
    check(object) {
        const newest = newerApiVersion(object.apiVersion, object.kind);
        if (newest === undefined) return [];
        return [{
            path: ["apiVersion"],
            text: `is ${object.show(["apiVersion"], object.apiVersion)}, but ${newest} is served of ${object.kind}: an old version goes away in some release, and the object with it. Write ${newest}; in Pulumi with an alias of the old type, since the same object under another version is another resource.`,
        }];
    },
};
