// Which rules run: --only and --skip take codes, names and families.
import { nearest } from "../../model/nearest";
import type { Rule } from "../../policies/rule";
import { usageError } from "../failure";

/** @param only nothing else runs, unless it is empty */
export function selectRules(rules: readonly Rule[], only: readonly string[], skip: readonly string[]): readonly Rule[] {
    const wanted = only.length === 0 ? new Set(rules) : new Set(only.flatMap((word) => named(rules, word, "--only")));
    for (const rule of skip.flatMap((word) => named(rules, word, "--skip"))) wanted.delete(rule);
    if (wanted.size === 0) throw usageError("--only and --skip leave no rule: name at least one that is not skipped.");
    return rules.filter((rule) => wanted.has(rule));
}

/** `E101`, `ejection-never`, or `E1` for the family of rules whose codes begin like that. */
function named(rules: readonly Rule[], word: string, option: string): readonly Rule[] {
    const code = word.toUpperCase(), found = rules.filter((rule) => rule.code === code || rule.name === word.toLowerCase() || (/^E\d{1,2}$/.test(code) && rule.code.startsWith(code)));
    if (found.length > 0) return found;
    const near = nearest(word.toLowerCase(), rules.map(({ name }) => name));
    throw usageError(`${option} names ${JSON.stringify(word)}, which is no rule${near === undefined ? "" : ` (did you mean ${near}?)`}: give codes (${rules[0]?.code ?? ""}), names (${rules[0]?.name ?? ""}) or families (E1), separated by commas. istio-egress audit --list-rules shows them.`);
}
