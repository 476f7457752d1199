// Levels and properties of policies by configuration, in the format of Pulumi's `--policy-pack-config`.
import type { Level, Rule } from "./rule";

export type ConfiguredLevel = Level | "remediate" | "disabled";

/** By policy name or `all`: a level, or a level and properties. */
export type Levels = Readonly<Record<string, ConfiguredLevel | ({ readonly enforcementLevel?: ConfiguredLevel } & Readonly<Record<string, unknown>>)>>;

/** The level of a rule: its own entry, then that of `all`, then what it was written with. `remediate` counts as mandatory where nothing is changed. */
export function levelOf(rule: Rule, levels: Levels = {}): Level | "disabled" {
    const level = entryLevel(levels, rule.name) ?? entryLevel(levels, "all") ?? rule.level;
    return level === "remediate" ? "mandatory" : level;
}

/** The level that a configuration gives a name, where it gives one. */
export function entryLevel(levels: Levels, name: string): ConfiguredLevel | undefined {
    const entry = Object.hasOwn(levels, name) ? levels[name] : undefined;
    return typeof entry === "object" ? entry.enforcementLevel : entry;
}

/** The properties of a rule, without its level. */
export function propertiesOf(rule: Rule, levels: Levels = {}): Readonly<Record<string, unknown>> {
    const entry = Object.hasOwn(levels, rule.name) ? levels[rule.name] : undefined;
    if (typeof entry !== "object") return {};
    return Object.fromEntries(Object.entries(entry).filter(([key]) => key !== "enforcementLevel"));
}

/** @throws when a name is no rule's: a typing mistake must not switch a rule off silently */
export function checkLevelNames(where: string, rules: readonly Rule[], levels: object, others: readonly string[] = []): void {
    const unknown = Object.keys(levels).find((name) => !others.includes(name) && rules.every((rule) => rule.name !== name));
    if (unknown !== undefined) throw new Error(`${where}: "${unknown}" is no rule: there are ${rules.map(({ name }) => name).join(", ")}.`);
}
