// What a rule is: a total function from one object, or from all of them together, to its findings, and the text around them.
import type { z } from "zod";
import { type Path, formatPath } from "../model/problem";
import type { Mesh } from "./mesh";
import type { MeshObject } from "./objects";
import type { Plain } from "./plain";
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
    readonly value: Plain;
}

/** What a rule could not know, and so did not judge: no finding, and no acquittal either. */
export interface Unjudged {
    readonly path: Path;
    /** What is not known, and so what was not judged; it reads on from the path and ends with a full stop. */
    readonly unjudged: string;
}

export type Verdict = Finding | Unjudged;

/** What a rule about many objects says of one of them. */
export type SetVerdict = Verdict & { readonly object: MeshObject };

export interface Context<Settings> {
    readonly settings: Settings;
    readonly pools: Pools;
    /** The day by which expiry is judged. */
    readonly now: Date;
    /** The environment that is judged, where somebody says it: the stack's tag `environment`, or the stack's name. */
    readonly environment?: string;
}

interface RuleInformation<Settings> {
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
    /** The kinds that its findings are about; a rule about many objects may read others as well. */
    readonly kinds: readonly string[];
    /** The policy's configuration, besides Pulumi's own enforcementLevel. */
    readonly configuration: z.ZodType<Settings>;
    /** Where the rule is explained: a path or an address that ends its messages. Left out for none. */
    readonly page?: string;
}

/** A rule that needs nothing but the object itself. */
export interface ObjectRule<Settings = unknown> extends RuleInformation<Settings> {
    /** Never throws, whatever the object holds; what it cannot know it does not judge. */
    check(object: MeshObject, context: Context<Settings>): readonly Verdict[];
}

/** A rule about what objects say together. */
export interface SetRule<Settings = unknown> extends RuleInformation<Settings> {
    /** Never throws, whatever the objects hold; what it cannot know it does not judge. */
    checkSet(mesh: Mesh, context: Context<Settings>): readonly SetVerdict[];
}

export type Rule<Settings = unknown> = ObjectRule<Settings> | SetRule<Settings>;

export const isSetRule = (rule: Rule): rule is SetRule => "checkSet" in rule;

export const isUnjudged = (verdict: Verdict): verdict is Unjudged => "unjudged" in verdict;

/** The one text of a finding, the same in every engine. */
export function formatFinding(rule: Pick<Rule, "code" | "page">, object: MeshObject, finding: Finding): string {
    return `${rule.code} ${object.label}: ${formatPath(finding.path)} ${finding.text}${rule.page === undefined ? "" : ` See ${rule.page}`}`;
}

/** The one text of what was not judged. */
export function formatUnjudged(rule: Pick<Rule, "code">, object: MeshObject, { path, unjudged }: Unjudged): string {
    return `${rule.code} ${object.label}: ${formatPath(path)} ${unjudged}`;
}
