// E102: an ejection guard that lets all addresses be ejected together, with panic routing off.
import { DEFAULT_MAX_EJECTION_PERCENT, DEFAULT_MIN_HEALTH_PERCENT, GuardVerdict, judgeGuard } from "../../model/guard";
import { noConfiguration } from "../configuration";
import { describe, outlierBlocks } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

/** A guard of 100 % is total at any size; the verdict on one address is that on all. */
const ANY_SIZE = 1;

export const ejectionEmptiesPool: ObjectRule = {
    code: "E102",
    name: "ejection-empties-pool",
    level: "mandatory",
    severity: "high",
    description: "Outlier detection must never be able to eject every address of a pool while panic routing is off.",
    remediation: "Set outlierDetection.minHealthPercent to 1, so that ejected addresses are tried when nothing healthy is left, or lower maxEjectionPercent to 50.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    check(object) {
        return outlierBlocks(object).flatMap(({ path, maxEjectionPercent: percent, minHealthPercent }): Finding[] => {
            if (percent === UNKNOWN || percent === undefined || minHealthPercent === UNKNOWN) return [];
            if (!judgeGuard(ANY_SIZE, percent, minHealthPercent).verdicts.includes(GuardVerdict.CanEmptyThePool)) return [];
            return [{
                path: [...path, "maxEjectionPercent"],
                text: `${describe(object, [...path, "maxEjectionPercent"], percent)}, and minHealthPercent ${describe(object, [...path, "minHealthPercent"], minHealthPercent)}: all addresses can be ejected together, and with panic routing off (Istio sets Envoy's threshold to minHealthPercent) every new connection then fails at once, without a try. `
                    + `Set minHealthPercent to ${DEFAULT_MIN_HEALTH_PERCENT}, so that ejected addresses are tried when nothing healthy is left, or maxEjectionPercent to ${DEFAULT_MAX_EJECTION_PERCENT}.`,
                fix: { path: [...path, "minHealthPercent"], value: DEFAULT_MIN_HEALTH_PERCENT },
            }];
        });
    },
};
