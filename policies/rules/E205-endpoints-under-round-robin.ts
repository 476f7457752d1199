// E205: several endpoints under DNS_ROUND_ROBIN, which Istio rejects.
import { Resolution } from "../../model/resolution";
import { noConfiguration } from "../configuration";
import type { ObjectRule } from "../rule";

export const endpointsUnderRoundRobin: ObjectRule = {
    code: "E205",
    name: "endpoints-under-round-robin",
    level: "mandatory",
    severity: "high",
    description: "A ServiceEntry with resolution DNS_ROUND_ROBIN may have one endpoint at most.",
    remediation: "Set resolution: DNS where several endpoints are meant, or leave one.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    check(object) {
        const path = ["spec", "endpoints"], { length } = object.indexes(path);
        if (object.text(["spec", "resolution"]) !== Resolution.DnsRoundRobin || length < 2) return [];
        return [{
            path,
            text: `has ${object.isSecret(path) ? "several" : length} entries under resolution ${Resolution.DnsRoundRobin}, whose cluster has one logical host: Istio's CRD and webhook reject it. Set resolution: ${Resolution.Dns}, or leave one endpoint.`,
        }];
    },
};
