// E112: a fixed pool whose ejected address is refused even when it is the only one left and alive.
import { DEFAULT_MIN_HEALTH_PERCENT, GuardVerdict, judgeGuard } from "../../model/guard";
import { Membership } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import { describe, outlierBlocks, poolOfRule } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

/** Where N is unknown the guard is judged for the smallest pool with an alternative: what is ejected there is ejected in any. */
export const SMALLEST_WITH_ALTERNATIVE = 2;

export const noWayBackForEjected: ObjectRule<PoolConfiguration> = {
    code: "E112",
    name: "no-way-back-for-ejected",
    level: "advisory",
    severity: "medium",
    description: "Outlier detection of a fixed pool should let ejected addresses be tried when nothing healthy is left.",
    remediation: "Set outlierDetection.minHealthPercent to 1: panic routing only when nothing healthy is left.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const pool = poolOfRule(object, pools);
        if (pool === undefined || pool.membership !== Membership.Fixed) return [];
        return outlierBlocks(object).flatMap(({ path, maxEjectionPercent: percent, minHealthPercent, wholePool }): Finding[] => {
            if (percent === UNKNOWN || minHealthPercent === UNKNOWN) return [];
            const addresses = (wholePool ? pool.addressesPerAnswer : undefined) ?? SMALLEST_WITH_ALTERNATIVE;
            if (!judgeGuard(addresses, percent, minHealthPercent).verdicts.includes(GuardVerdict.CanLeaveEjectedOnly)) return [];
            const field = [...path, "minHealthPercent"];
            return [{
                path: field,
                text: `${describe(object, field, minHealthPercent)}, which switches panic routing off, and the pool behind ${pool.host} is fixed: an address that was ejected and then becomes the only one in the answer is refused although it may be alive `
                    + `(measured on the lab, istiod 1.31, Envoy 1.39.3: 200 of 200 new connections failed, with 1 none). Set ${DEFAULT_MIN_HEALTH_PERCENT}: panic routing only when nothing healthy is left.`,
                fix: { path: field, value: DEFAULT_MIN_HEALTH_PERCENT },
            }];
        });
    },
};
