// The model's problems with a value of the tree, each at the place in the files that is at fault.
import { type Path, type Problem, isWithin } from "../model/problem";
import type { Finding } from "./errors";
import { type Entry, type ScalarNode, asRead, locate, toPlain, uselessRemovals } from "./tree";

/** The model's check of plain data, all problems at once. */
export type Check = (raw: unknown) => readonly Problem[];

/** Whether the model knows a property; what it does not know is shown at its key. */
export type Knows = (path: Path) => boolean;

/** Checks the value of an entry and finds the place of each problem. */
export function judge(entry: Entry, check: Check, knows: Knows): readonly Finding[] {
    const findings: Finding[] = uselessRemovals(entry.node).map(({ origin, path }) => ({
        position: origin, path, restsOnAbsence: true,
        text: "is null (or empty), which removes what defaults or an extended file give, and they give nothing of this name: write a value, or remove the line.",
    }));
    const problems = check(toPlain(entry.node)), unquoted = unquotedTexts(entry, problems, check);
    for (const problem of problems) {
        const { position, path, node } = locate(entry, problem.path, !knows(problem.path));
        // The removal that removes nothing, or the unreadable value, is the error; that the property is missing follows.
        if (node?.kind === "removed" && (node.unreadable === true || !node.used)) continue;
        const scalar = unquoted.find((each) => each === node);
        const missing = node === undefined || node.kind === "removed";
        findings.push({ position, path, text: scalar === undefined ? problem.text : quoteIt(scalar), ...(missing ? { restsOnAbsence: true } : {}) });
    }
    return findings;
}

/**
 * The values that YAML does not read as texts for want of quotes, such as 1.30, which is the number 1.3: those whose
 * problem goes away when the text in the file is taken instead.
 */
function unquotedTexts(entry: Entry, problems: readonly Problem[], check: Check): readonly ScalarNode[] {
    const suspects = problems.flatMap(({ path }) => {
        const { node } = locate(entry, path, false);
        return node?.kind === "scalar" && node.plain !== undefined && typeof node.value !== "string" ? [{ path, node }] : [];
    });
    if (suspects.length === 0) return [];
    const remaining = check(toPlain(entry.node, (node) => (suspects.some((suspect) => suspect.node === node) ? node.plain : node.value)));
    return suspects.filter(({ path }) => !remaining.some((problem) => isWithin(problem.path, path))).map(({ node }) => node);
}

function quoteIt({ plain = "", value }: ScalarNode): string {
    return `is written ${plain} without quotes, which YAML reads as ${asRead(value)}, but must be a text: write "${plain}".`;
}
