// E201: a ServiceEntry that becomes LOGICAL_DNS in Envoy although the pool behind its host is fixed.
import { CONNECT_STRATEGY_ANNOTATION, LOGICAL_ON_FIXED_POOL, Membership, RACE_FIRST_TCP_CONNECT, Resolution, isLogicalDns } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { ObjectRule } from "../rule";
import { hostsOf, listed } from "../service-entry";

export const logicalDnsOnSmallPool: ObjectRule<PoolConfiguration> = {
    code: "E201",
    name: "logical-dns-on-small-pool",
    level: "mandatory",
    severity: "high",
    description: "A ServiceEntry of a fixed pool must keep the DNS answer as its list of addresses: resolution DNS, without the connect-strategy annotation.",
    remediation: "Set spec.resolution to DNS and remove the annotation istio.io/connect-strategy, or declare the pool rotating if a missing address only was not drawn.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const resolution = object.text(["spec", "resolution"]), strategy = object.annotation(CONNECT_STRATEGY_ANNOTATION);
        if (resolution === UNKNOWN || resolution === undefined) return [];
        if (!isLogicalDns(resolution, strategy === UNKNOWN ? {} : { [CONNECT_STRATEGY_ANNOTATION]: strategy })) return [];
        const fixed = hostsOf(object).filter(({ name }) => {
            const answer = pools.of(object, name);
            return answer.state === "declared" && answer.pool.membership === Membership.Fixed;
        });
        if (fixed.length === 0) return [];
        const reason = `but the pool behind ${listed(fixed)} is ${Membership.Fixed}: ${LOGICAL_ON_FIXED_POOL}.`;
        const annotation = ["metadata", "annotations", CONNECT_STRATEGY_ANNOTATION];
        const otherwise = "or declare the pool rotating if a missing address only was not drawn.";
        return resolution === Resolution.DnsRoundRobin
            ? [{ path: ["spec", "resolution"], text: `is ${object.show(["spec", "resolution"], resolution)}, ${reason} Set resolution: ${Resolution.Dns}, ${otherwise}` }]
            : [{
                path: annotation,
                text: `is ${object.show(annotation, RACE_FIRST_TCP_CONNECT)}, which turns resolution ${Resolution.Dns} into LOGICAL_DNS (Istio 1.30+), ${reason} Remove the annotation, ${otherwise}`,
            }];
    },
};
