// What a rule is: a total function from one Istio object to its findings, and the text around it.
import type { z } from "zod";
import { type Path, formatPath } from "../model";
import type { IstioObject } from "./objects";
import type { Pools } from "./pools";

export type Level = "mandatory" | "advisory";
export type Severity = "low" | "medium" | "high" | "critical";

export interface Finding {
    /** The field at fault, within the object. */
    readonly path: Path;
    /** Value, bound, reason and way out; it reads on from the path, as in `is 30, but …`, and ends with a full stop. */
    readonly text: string;
    /** Where this finding weighs less than its rule: never more than what is set here. */
    readonly level?: Level;
    /** The one change that certainly removes the finding; made only at the enforcement level `remediate`. */
    readonly fix?: Fix;
}

export interface Fix {
    readonly path: Path;
    readonly value: number;
}

export interface Context<Settings> {
    readonly settings: Settings;
    readonly pools: Pools;
}

export interface Rule<Settings = unknown> {
    /** `E201`; stable, its meaning never changes. */
    readonly code: string;
    /** The policy's name in Pulumi's configuration and output. */
    readonly name: string;
    readonly level: Level;
    readonly severity: Severity;
    /** What is demanded, as one sentence. */
    readonly description: string;
    /** What a user does about a finding. */
    readonly remediation: string;
    /** Whether its findings carry fixes. */
    readonly remediates: boolean;
    /** The kinds of networking.istio.io that it reads. */
    readonly kinds: readonly string[];
    /** The policy's configuration, besides Pulumi's own enforcementLevel. */
    readonly configuration: z.ZodType<Settings>;
    /** Never throws, whatever the object holds; what it cannot know it does not judge. */
    check(object: IstioObject, context: Context<Settings>): readonly Finding[];
}

/** The one text of a finding, the same in every engine. */
export function formatFinding(rule: Pick<Rule, "code">, object: IstioObject, finding: Finding): string {
    return `${rule.code} ${object.label}: ${formatPath(finding.path)} ${finding.text} See docs/rules/${rule.code}.md`;
}
