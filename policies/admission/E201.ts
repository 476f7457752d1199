// E201 at admission: a ServiceEntry that becomes LOGICAL_DNS in Envoy although the pool behind its host is fixed.
import { ANNOTATIONS, CONNECT_STRATEGY_ANNOTATION, Membership, RACE_FIRST_TCP_CONNECT, Resolution } from "../../model";
import { logicalDnsOnSmallPool } from "../rules/E201-logical-dns-on-small-pool";
import { distinct, listed, literal, normalised } from "./cel";
import { POOL_VARIABLES, speaksOf } from "./pool";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const HOST = "pool.example.invalid", STRATEGY = literal(CONNECT_STRATEGY_ANNOTATION);
const example = (resolution: string, annotations: Record<string, string> = {}): object => ({
    apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "example", namespace: "example", annotations: { [ANNOTATIONS.membership]: Membership.Fixed, ...annotations } },
    spec: { hosts: [HOST], resolution },
});
const hosts = { [HOST]: listed("variables.fixedHosts") };
const roundRobin = findingText(logicalDnsOnSmallPool, example(Resolution.DnsRoundRobin), hosts);
const race = findingText(logicalDnsOnSmallPool, example(Resolution.Dns, { [CONNECT_STRATEGY_ANNOTATION]: RACE_FIRST_TCP_CONNECT }), hosts);

export const logicalDnsOnSmallPoolAdmission: AdmissionRule = {
    rule: logicalDnsOnSmallPool,
    variables: [
        ...POOL_VARIABLES,
        ["resolution", "object.spec.?resolution.orValue('')"],
        ["hosts", distinct(`object.spec.?hosts.orValue([]).map(n, ${normalised("n")})`)],
        ["fixedHosts", `variables.isFixed ? variables.hosts.filter(n, ${speaksOf("n")}) : []`],
    ],
    findings: {
        own: `size(variables.fixedHosts) == 0 ? '' : variables.resolution == ${literal(Resolution.DnsRoundRobin)} ? ${roundRobin} : `
            + `variables.resolution == ${literal(Resolution.Dns)} && ${STRATEGY} in variables.annotations && variables.annotations[${STRATEGY}] == ${literal(RACE_FIRST_TCP_CONNECT)} ? ${race} : ''`,
    },
};
