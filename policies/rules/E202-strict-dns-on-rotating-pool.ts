// E202: a ServiceEntry that becomes STRICT_DNS in Envoy although the pool behind its host rotates.
import { CONNECT_STRATEGY_ANNOTATION, Membership, Resolution, STRICT_ON_ROTATING_POOL, isLogicalDns } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { ObjectRule } from "../rule";
import { hostsOf, listed, mayHaveAddressesOnly } from "../service-entry";

export const strictDnsOnRotatingPool: ObjectRule<PoolConfiguration> = {
    code: "E202",
    name: "strict-dns-on-rotating-pool",
    level: "mandatory",
    severity: "medium",
    description: "A ServiceEntry of a rotating pool must not take each DNS answer for the whole list: resolution DNS_ROUND_ROBIN.",
    remediation: "Set spec.resolution to DNS_ROUND_ROBIN, or declare the pool fixed if a missing address means that it must not be used.",
    remediates: true,
    kinds: ["ServiceEntry"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const path = ["spec", "resolution"], resolution = object.text(path), strategy = object.annotation(CONNECT_STRATEGY_ANNOTATION);
        if (resolution !== Resolution.Dns || strategy === UNKNOWN || isLogicalDns(resolution, { [CONNECT_STRATEGY_ANNOTATION]: strategy })) return [];
        if (mayHaveAddressesOnly(object)) return [];
        const hosts = hostsOf(object), rotating = hosts.filter(({ name }) => {
            const answer = pools.of(object, name);
            return answer.state === "declared" && answer.pool.membership === Membership.Rotating;
        });
        if (rotating.length === 0) return [];
        // DNS_ROUND_ROBIN takes no wildcard and one endpoint at most, and counts for every host of the object.
        const isCertain = rotating.length === hosts.length && object.stated(["spec", "endpoints"]) === undefined && hosts.every(({ name }) => !name.startsWith("*"));
        return [{
            path,
            text: `is ${object.show(path, resolution)}, but the pool behind ${listed(rotating)} is ${Membership.Rotating}: ${STRICT_ON_ROTATING_POOL}. Set resolution: ${Resolution.DnsRoundRobin}, or declare the pool fixed if a missing address means that it must not be used.`,
            ...(isCertain ? { fix: { path, value: Resolution.DnsRoundRobin } } : {}),
        }];
    },
};
