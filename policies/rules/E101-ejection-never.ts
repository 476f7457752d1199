// E101: an ejection guard that never lets an address of the declared pool be ejected, or not after a withdrawal.
import { z } from "zod";
import { DEFAULT_MAX_EJECTION_PERCENT, GuardVerdict, judgeGuard, safeBand } from "../../model/guard";
import { Membership } from "../../model/resolution";
import { poolConfiguration } from "../configuration";
import { type RulePool, outlierBlocks, poolOfRule } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";
import { SECRET } from "../secrets";

const configuration = poolConfiguration.extend({
    afterWithdrawal: z.enum(["advisory", "like-never"]).default("advisory")
        .describe("The level where the guard works for the whole pool and is dead once the GSLB has withdrawn an address: advisory, or like a guard that never works."),
});

export const ejectionNever: ObjectRule<z.output<typeof configuration>> = {
    code: "E101",
    name: "ejection-never",
    level: "mandatory",
    severity: "high",
    description: "Outlier detection of a fixed pool must be able to eject an address, at every size that the DNS answer can have.",
    remediation: "Set outlierDetection.maxEjectionPercent to 50: it ejects an address at every answer size from 2 up and never the whole pool.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration,
    check(object, { settings, pools }) {
        const pool = poolOfRule(object, pools);
        if (pool === undefined || pool.membership !== Membership.Fixed) return [];
        const addresses = pool.addressesPerAnswer;
        if (addresses === undefined || addresses < 2) return [];
        return outlierBlocks(object).flatMap(({ path, maxEjectionPercent: percent, wholePool }): Finding[] => {
            // Unset and 0 are Envoy's 10 %: E105.
            if (percent === UNKNOWN || percent === undefined || percent <= 0) return [];
            const guard = judgeGuard(addresses, percent, undefined), field = [...path, "maxEjectionPercent"];
            const isSecret = object.isSecret(field), shown = isSecret ? SECRET : String(percent);
            const fix = { path: field, value: DEFAULT_MAX_EJECTION_PERCENT };
            if (guard.verdicts.includes(GuardVerdict.Inert)) return [{ path: field, text: neverText(shown, addresses, pool), fix }];
            // A subset by labels has fewer addresses than the pool: what never works for the pool never works for it, no more is known.
            if (!wholePool || !guard.verdicts.includes(GuardVerdict.InertAfterWithdrawal)) return [];
            const level = settings.afterWithdrawal === "advisory" ? "advisory" : undefined;
            return [{ path: field, text: withdrawalText(shown, pool.count(addresses), isSecret ? SECRET : pool.count(guard.ejectable), isSecret ? SECRET : sizes(guard.inertSizes, pool), pool.host), level, fix }];
        });
    },
};

function neverText(percent: string, addresses: number, { host, count }: RulePool): string {
    return `is ${percent}, but the pool behind ${host} has ${count(addresses)} addresses, and Envoy ejects one only while 100 * (ejected + 1) / addresses <= maxEjectionPercent: `
        + `a dead address is never ejected and keeps its share of the new connections. Set ${DEFAULT_MAX_EJECTION_PERCENT}, which works at every answer size from 2 up; ${count(addresses)} addresses need ${count(safeBand(addresses)?.min ?? 0)}..99.`;
}

function withdrawalText(percent: string, addresses: string, ejectable: string, inertSizes: string, host: string): string {
    return `is ${percent}, which ejects ${ejectable} of the ${addresses} addresses behind ${host}, but none once the DNS answer has shrunk to ${inertSizes} addresses: `
        + `after a withdrawal by the GSLB a dead address is never ejected. Set ${DEFAULT_MAX_EJECTION_PERCENT}, which works at every answer size from 2 up.`;
}

/** `3`, `2..4`. */
function sizes(numbers: readonly number[], { count }: RulePool): string {
    const [first = 0] = numbers, last = numbers[numbers.length - 1] ?? first;
    return first === last ? count(first) : `${count(first)}..${count(last)}`;
}
