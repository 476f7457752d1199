// The text of a rule's finding as a CEL expression, taken from the rule itself: it judges an example, and what stands for values there is
// computed from the object here. So the words of a finding have one home.
import { formatPath } from "../../model";
import { objectsIn } from "../objects";
import { Pools } from "../pools";
import { type ObjectRule, isUnjudged } from "../rule";
import { type Cel, literal } from "./cel";

/** What stands in an example for a value, and the expression for the value itself. Numbers are found as whole numbers. */
export type Holes = Readonly<Record<string, Cel>>;

/**
 * @param example an object of which the rule has exactly one finding, with values that occur nowhere else in the text
 * @throws when the rule finds something else, or its text lacks a value: then the example must follow the rule
 */
export function findingText(rule: ObjectRule, example: object, holes: Holes): Cel {
    const [object] = objectsIn(example), context = { settings: rule.configuration.parse({}), pools: new Pools([], true), now: new Date(0) };
    const findings = object === undefined ? [] : rule.check(object, context).flatMap((verdict) => (isUnjudged(verdict) ? [] : [verdict]));
    const [finding] = findings;
    if (finding === undefined || findings.length > 1) throw new Error(`The example of ${rule.code} for admission has ${findings.length} findings, not one.`);
    return fill(rule.code, `${formatPath(finding.path)} ${finding.text}`, holes);
}

function fill(code: string, text: string, holes: Holes): Cel {
    const keys = Object.keys(holes).sort((one, other) => other.length - one.length), pattern = new RegExp(keys.map(patternOf).join("|"), "g");
    const missing = keys.find((key) => !new RegExp(patternOf(key)).test(text));
    if (missing !== undefined) throw new Error(`The text of ${code} lacks ${JSON.stringify(missing)}, which its example for admission has: ${text}`);
    if (keys.length === 0) return literal(text);
    const parts: Cel[] = [];
    let from = 0;
    for (const match of text.matchAll(pattern)) {
        if (match.index > from) parts.push(literal(text.slice(from, match.index)));
        parts.push(holes[match[0]] ?? "");
        from = match.index + match[0].length;
    }
    if (from < text.length) parts.push(literal(text.slice(from)));
    return `(${parts.join(" + ")})`;
}

function patternOf(key: string): string {
    const escaped = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return /^\d+$/.test(key) ? `(?<![\\d.])${escaped}(?!\\d)` : escaped;
}
