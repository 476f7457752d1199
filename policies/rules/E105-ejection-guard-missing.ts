// E105: outlier detection without maxEjectionPercent, which leaves Envoy's 10 %: nothing is ejected in a pool of fewer than 10.
import { DEFAULT_MAX_EJECTION_PERCENT, ENVOY_DEFAULT_MAX_EJECTION_PERCENT, GuardVerdict, judgeGuard } from "../../model/guard";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import { type RulePool, outlierBlocks, poolOfRule } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

/** The smallest pool of which Envoy's default ejects an address. */
const SMALLEST_POOL = 100 / ENVOY_DEFAULT_MAX_EJECTION_PERCENT;

export const ejectionGuardMissing: ObjectRule<PoolConfiguration> = {
    code: "E105",
    name: "ejection-guard-missing",
    level: "mandatory",
    severity: "high",
    description: "Outlier detection must set maxEjectionPercent: Envoy's own 10 % ejects nothing in a pool of fewer than 10 addresses.",
    remediation: "Set outlierDetection.maxEjectionPercent to 50: it ejects an address at every answer size from 2 up and never the whole pool.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        return outlierBlocks(object).flatMap(({ path, maxEjectionPercent: percent, wholePool }): Finding[] => {
            if (percent === UNKNOWN || (percent !== undefined && percent > 0)) return [];
            const field = [...path, "maxEjectionPercent"], fix = { path: field, value: DEFAULT_MAX_EJECTION_PERCENT };
            const pool = wholePool ? poolOfRule(object, pools) : undefined;
            const { clause, level } = consequence(pool);
            const reason = percent === undefined ? "is unset, so" : `is ${object.show(field, percent)}, which Istio treats as unset, so`;
            return [{
                path: field,
                text: `${reason} Envoy's default of ${ENVOY_DEFAULT_MAX_EJECTION_PERCENT} % is in force: ${clause}. Set ${DEFAULT_MAX_EJECTION_PERCENT}, which ejects an address at every answer size from 2 up.`,
                level, fix,
            }];
        });
    },
};

/** What the default does to the pool; a large one is protected until it shrinks, which weighs less. */
function consequence(pool: RulePool | undefined): { clause: string; level?: "advisory" } {
    const addresses = pool?.addressesPerAnswer;
    const never = `nothing is ever ejected in a pool of fewer than ${SMALLEST_POOL} addresses, and a dead address keeps its share of the new connections`;
    if (pool === undefined || addresses === undefined) return { clause: never };
    const guard = judgeGuard(addresses, undefined, undefined);
    if (guard.verdicts.includes(GuardVerdict.Inert)) {
        return { clause: `${never}; the pool behind ${pool.host} has ${pool.count(addresses)}` };
    }
    return {
        clause: `it ejects ${pool.count(guard.ejectable)} of the ${pool.count(addresses)} addresses behind ${pool.host}, and none once the DNS answer has fewer than ${SMALLEST_POOL}`,
        level: "advisory",
    };
}
