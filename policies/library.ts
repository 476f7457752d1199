// What other policy packs build on: the rules, the arguments of a PolicyPack, the reader of Istio objects. Nothing is started here.
import type { Level, Rule } from "./rule";

export { noConfiguration, poolConfiguration } from "./configuration";
export { type IstioObject, istioObjects } from "./objects";
export { type PackOptions, policyPackArgs } from "./pack";
export { type Plain, type PlainObject, UNKNOWN, type Unknown } from "./plain";
export type { HostPool, PoolAnswer, Pools } from "./pools";
export type { Context, Finding, Fix, Level, Rule, Severity } from "./rule";
export { RULES } from "./rules";

/**
 * The rules with other levels, by name; a rule at `disabled` is left out. What a pack is built with is its default: each
 * environment may still change it by `--policy-pack-config`, a disabled rule aside.
 *
 * @throws when a name is no rule's
 */
export function withLevels(rules: readonly Rule[], levels: Readonly<Record<string, Level | "disabled">>): readonly Rule[] {
    const unknown = Object.keys(levels).find((name) => rules.every((rule) => rule.name !== name));
    if (unknown !== undefined) throw new Error(`withLevels: "${unknown}" is no rule: there are ${rules.map(({ name }) => name).join(", ")}.`);
    return rules.flatMap((rule) => {
        const level = levels[rule.name] ?? rule.level;
        return level === "disabled" ? [] : [{ ...rule, level }];
    });
}
