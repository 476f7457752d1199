// E207: an external ServiceEntry that is resolved by DNS, of whose pool nobody has said whether a missing address means something.
import { ANNOTATIONS } from "../../model/annotations";
import { parseHost } from "../../model/host";
import { Membership, Resolution } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import type { ObjectRule } from "../rule";
import { hostsOf, listed, mayHaveAddressesOnly } from "../service-entry";

export const poolUndeclared: ObjectRule<PoolConfiguration> = {
    code: "E207",
    name: "pool-undeclared",
    level: "advisory",
    severity: "low",
    description: "Whether an address that is missing from a DNS answer means something should be declared for every external host that is resolved by DNS.",
    remediation: "Declare the host in the catalogue, annotate the ServiceEntry with istio-egress/membership (and istio-egress/addresses-per-answer), or list it under pools in the pack's configuration.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const resolution = object.text(["spec", "resolution"]), location = object.text(["spec", "location"]);
        if (resolution !== Resolution.Dns && resolution !== Resolution.DnsRoundRobin) return [];
        // MESH_EXTERNAL is the value of an absent location.
        if (location !== undefined && location !== "MESH_EXTERNAL") return [];
        if (mayHaveAddressesOnly(object)) return [];
        const undeclared = hostsOf(object).filter(({ name }) => parseHost(name).ok && pools.of(object, name).state === "undeclared");
        if (undeclared.length === 0) return [];
        const field = ["metadata", "annotations", ANNOTATIONS.membership];
        const membership = object.annotation(ANNOTATIONS.membership);
        const state = typeof membership === "string" ? `is ${object.show(field, JSON.stringify(membership))}, which is neither ${Membership.Fixed} nor ${Membership.Rotating}` : "is missing";
        return [{
            path: field,
            text: `${state}, and nothing else declares the pool behind ${listed(undeclared)}: whether an address that is missing from the DNS answer means something decides between resolution DNS and DNS_ROUND_ROBIN, `
                + `so that ${object.show(["spec", "resolution"], resolution)} cannot be judged. Declare the host in the catalogue, annotate it ${Membership.Fixed} or ${Membership.Rotating}, or list it under pools in the policy's configuration.`,
        }];
    },
};
