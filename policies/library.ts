// What other policy packs, and the audit, build on: the rules, the arguments of a PolicyPack, the reader of objects. Nothing is started
// here, and nothing of Pulumi is loaded.
import { checkLevelNames } from "./levels";
import type { Level, Rule } from "./rule";

export { type CatalogueResult, Catalogues, type ReadCatalogue } from "./catalogues";
export { readCatalogue } from "./catalogue-pools";
export { noConfiguration, poolConfiguration } from "./configuration";
export { EgressPolicies, type EgressPoliciesOptions } from "./egress-policies";
export { EXEMPTION_PREFIX } from "../model";
export { type Exemption, exemptionOf, readExemption } from "./exemptions";
export { type Judged, type JudgedFinding, type JudgedNote, type JudgeOptions, judgeObjects } from "./judge";
export { type ConfiguredLevel, type Levels, levelOf } from "./levels";
export { Mesh, type MeshOptions } from "./mesh";
export { MeshObject, meshObjects, objectsIn } from "./objects";
export { type PackOptions, policyPackArgs } from "./pack";
export { type Plain, type PlainObject, UNKNOWN, type Unknown } from "./plain";
export type { HostPool, PoolAnswer, Pools } from "./pools";
export { type Context, type Finding, type Fix, type Level, type ObjectRule, type Rule, type SetRule, type SetVerdict, type Severity, type Unjudged, type Verdict, isSetRule } from "./rule";
export { RULES } from "./rules";
export { today } from "./today";

/**
 * The rules with other levels, by name; a rule at `disabled` is left out. What a pack is built with is its default: each
 * environment may still change it by `--policy-pack-config`, a disabled rule aside.
 *
 * @throws when a name is no rule's
 */
export function withLevels(rules: readonly Rule[], levels: Readonly<Record<string, Level | "disabled">>): readonly Rule[] {
    checkLevelNames("withLevels", rules, levels);
    return rules.flatMap((rule) => {
        const level = levels[rule.name] ?? rule.level;
        return level === "disabled" ? [] : [{ ...rule, level }];
    });
}
