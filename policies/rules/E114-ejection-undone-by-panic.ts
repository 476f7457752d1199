// E114: a minHealthPercent so high that the first ejection starts panic routing, in which the ejected address is used again.
import { DEFAULT_MIN_HEALTH_PERCENT, GuardVerdict, judgeGuard, panics } from "../../model/guard";
import { Membership } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import { outlierBlocks, poolOfRule } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

export const ejectionUndoneByPanic: ObjectRule<PoolConfiguration> = {
    code: "E114",
    name: "ejection-undone-by-panic",
    level: "mandatory",
    severity: "high",
    description: "Outlier detection of a fixed pool must stay out of panic routing when one address is ejected.",
    remediation: "Set outlierDetection.minHealthPercent to 1: panic routing only when nothing healthy is left.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const pool = poolOfRule(object, pools), addresses = pool?.addressesPerAnswer;
        if (pool === undefined || pool.membership !== Membership.Fixed || addresses === undefined || addresses < 2) return [];
        return outlierBlocks(object).flatMap(({ path, maxEjectionPercent: percent, minHealthPercent: health, wholePool }): Finding[] => {
            if (percent === UNKNOWN || health === UNKNOWN || health === undefined || !wholePool) return [];
            const field = [...path, "minHealthPercent"], shown = object.show(field, health), fix = { path: field, value: DEFAULT_MIN_HEALTH_PERCENT };
            const { verdicts } = judgeGuard(addresses, percent, health), undone = verdicts.includes(GuardVerdict.UndoneByPanic);
            // What never ejects is E101's.
            if (verdicts.includes(GuardVerdict.Inert)) return [];
            const why = "below that share of healthy addresses Envoy goes by none of their health (panic routing), so that the ejected one gets new connections again";
            if (undone) {
                return [{
                    path: field, fix,
                    text: `is ${shown}, but with one of the ${pool.count(addresses)} addresses behind ${pool.host} ejected the healthy share is below that: ${why}, and the ejection does nothing. Set ${DEFAULT_MIN_HEALTH_PERCENT}: panic routing only when nothing healthy is left.`,
                }];
            }
            const size = [3, 2].find((smaller) => smaller < addresses && panics(smaller, 1, health));
            if (size === undefined) return [];
            return [{
                path: field, level: "advisory", fix,
                text: `is ${shown}, which works for the ${pool.count(addresses)} addresses behind ${pool.host}, but once the DNS answer has shrunk to ${object.isSecret(field) ? "fewer" : pool.count(size)}: ${why}. Set ${DEFAULT_MIN_HEALTH_PERCENT}: panic routing only when nothing healthy is left.`,
            }];
        });
    },
};
