// The error by which a component refuses its arguments: a message that needs no stack.
import * as pulumi from "@pulumi/pulumi";
import { type Problem, describeProperty, formatPath, formatProblem, isWithin } from "../model";
import type { Leaf } from "./inputs";

/** Thrown before anything is registered. Pulumi shows the message of a RunError without a stack. */
export class DeclarationError extends pulumi.RunError {
    constructor(readonly subject: string, readonly problems: readonly string[]) {
        super(problems.map((problem) => `${subject}: ${problem}`).join("\n"));
    }
}

/** The problems as sentences; one that shows a secret value names its place only. */
export function describeProblems(problems: readonly Problem[], leaves: readonly Leaf[]): readonly string[] {
    const secrets = leaves.filter((leaf) => leaf.secret);
    return problems.map((problem) => {
        const hidden = secrets.some(({ path }) => problem.reads.some((read) => isWithin(read, path) || isWithin(path, read)));
        return hidden ? `${formatPath(problem.path)} is refused, and the reason would show a secret value: make the same value plain for one preview to read it. ${describeProperty(problem.path) ?? ""}`.trimEnd() : formatProblem(problem);
    });
}
