// E111: LEAST_REQUEST in front of a small fixed pool: it favours a dead address, which never has active requests.
import { LoadBalancer } from "../../model/load-balancer";
import type { Path } from "../../model/problem";
import { Membership } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import { UNKNOWN, isObject } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { hostRules } from "../views/destination-rules";
import { entriesMet, mayBeDnsList } from "../views/service-entries";

/** From ten addresses on a dead one draws little, whatever the load balancer. */
const SMALL = 10;

/** All that istiod turns into LEAST_REQUEST (Istio's API). */
const LEAST_REQUEST = ["UNSPECIFIED", "LEAST_REQUEST", "LEAST_CONN"];

export const leastRequestSmallPool: SetRule<PoolConfiguration> = {
    code: "E111",
    name: "least-request-small-pool",
    level: "advisory",
    severity: "low",
    description: "A small fixed pool should be balanced by ROUND_ROBIN: LEAST_REQUEST, also istiod's default, sends a dead address more than its share.",
    remediation: "Set trafficPolicy.loadBalancer.simple to ROUND_ROBIN.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: poolConfiguration,
    checkSet(mesh, { pools }) {
        if (!mesh.isSure("ServiceEntry")) return [];
        return hostRules(mesh).flatMap(({ object, host, shown, viewers }): SetVerdict[] => {
            const answer = pools.of(object, host);
            if (answer.state !== "declared" || answer.isSizeUnknown || answer.pool.membership !== Membership.Fixed) return [];
            const { addressesPerAnswer: addresses } = answer.pool;
            if (addresses !== undefined && (addresses < 2 || addresses >= SMALL)) return [];
            const entries = entriesMet(mesh, host, viewers);
            // Only a DNS list is balanced over.
            if (!mayBeDnsList(entries)) return [];
            return policiesOf(object).flatMap((policy): SetVerdict[] => {
                const balancer = [...policy, "loadBalancer"], path = [...balancer, "simple"], simple = object.text(path);
                if (simple === UNKNOWN || (simple !== undefined && !LEAST_REQUEST.includes(simple)) || object.at([...balancer, "consistentHash"]) !== undefined) return [];
                const state = simple === undefined ? `is unset, so istiod's default ${LoadBalancer.LeastRequest} is in force` : `is ${object.show(path, simple)}`;
                return [{
                    object, path,
                    text: `${state}, but the pool behind ${shown} is small and fixed: a dead address never has active requests, and so gets more than its share `
                        + `(measured on the lab, one of two addresses dead and nothing else set: 66.8 % of new connections failed, 50.2 % with ROUND_ROBIN). Set ${LoadBalancer.RoundRobin}.`,
                }];
            });
        });
    },
};

/** The rule's own policy, and each of its ports' that is there: an entry replaces the load balancer too. */
function policiesOf(rule: MeshObject): readonly Path[] {
    const own = ["spec", "trafficPolicy"], policy = rule.at(own);
    if (policy === UNKNOWN) return [];
    return [own, ...rule.indexes([...own, "portLevelSettings"]).map((index) => [...own, "portLevelSettings", index])].filter((path) => path === own || isObject(rule.at(path)));
}
