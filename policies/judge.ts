// Runs rules on objects: configuration and pool knowledge in, findings out, the same for every engine. No side effects but reading the catalogue.
import { type Path, formatPath } from "../model/problem";
import type { Catalogues } from "./catalogues";
import { type PoolConfiguration, readConfiguration } from "./configuration";
import { EXEMPTION_RULE, exemptionOf } from "./exemptions";
import { type Levels, levelOf, propertiesOf } from "./levels";
import { Mesh, type MeshOptions } from "./mesh";
import type { MeshObject } from "./objects";
import { type HostPool, Pools } from "./pools";
import { redact } from "./secrets";
import { type Context, type Finding, type Fix, type Level, type ObjectRule, type Rule, type SetVerdict, type Severity, type Unjudged, type Verdict, formatFinding, formatUnjudged, isSetRule, isUnjudged } from "./rule";

/** In a rule's kinds: it reads every kind. */
const ANY_KIND = "*";

/** What a rule says of the objects that it judges. */
export interface Judgement {
    readonly findings: readonly { readonly object: MeshObject; readonly finding: Finding }[];
    readonly unjudged: readonly { readonly object: MeshObject; readonly note: Unjudged }[];
    /** Findings that a valid exemption takes away. */
    readonly exempted: readonly { readonly object: MeshObject; readonly finding: Finding; readonly reason: string; readonly until: string }[];
    /** What keeps the rule from knowing the pools: each is told once in a run, not once per object. */
    readonly problems: readonly string[];
}

/** What judging rests on besides the objects. */
export interface Surroundings {
    readonly catalogues: Catalogues;
    /** What is known of pools besides what the configuration says; it counts last. */
    readonly pools?: readonly HostPool[];
    /** The day by which expiry is judged. */
    readonly now: Date;
    readonly environment?: string;
    /** The stack whose name stands for `{stack}` in the catalogue's path. */
    readonly stack?: string;
}

/** @param given the policy's configuration, without its level */
export function judge(rule: Rule, mesh: Mesh, given: unknown, surroundings: Surroundings): Judgement {
    const problems: string[] = [];
    const context = { ...contextOf(rule, given, surroundings, problems), now: surroundings.now, environment: surroundings.environment };
    const verdicts = isSetRule(rule) ? [...rule.checkSet(mesh, context), ...unknownOf(rule, mesh)].map(({ object, ...told }) => ({ object, told })) : checkEach(rule, judgedBy(rule, mesh), context);
    const findings: Judgement["findings"][number][] = [], exempted: Judgement["exempted"][number][] = [], unjudged: Judgement["unjudged"][number][] = [];
    for (const { object, told } of verdicts) {
        const verdict = withoutSecrets(told, isSetRule(rule) ? mesh.secrets : object.secrets);
        if (isUnjudged(verdict)) {
            unjudged.push({ object, note: verdict });
            continue;
        }
        const exemption = rule.code === EXEMPTION_RULE ? undefined : exemptionOf(object, rule.code, surroundings.now);
        if (exemption?.state === "valid") exempted.push({ object, finding: verdict, reason: exemption.reason, until: exemption.until });
        else findings.push({ object, finding: verdict });
    }
    return { findings, unjudged, exempted, problems };
}

/** Rules show what is secret as such; what one of them may have missed is taken out here. */
function withoutSecrets(verdict: Verdict, secrets: ReadonlySet<string>): Verdict {
    if (secrets.size === 0) return verdict;
    return isUnjudged(verdict) ? { ...verdict, unjudged: redact(verdict.unjudged, secrets) } : { ...verdict, text: redact(verdict.text, secrets) };
}

const NOT_KNOWN = "is not known before the update: what depends on it is not judged.";

interface Told {
    readonly object: MeshObject;
    readonly told: Verdict;
}

/** What a rule says of each object; of each part that it reads and that nobody knows yet it says that it was not judged. */
function checkEach(rule: ObjectRule, objects: readonly MeshObject[], context: Context<unknown>): readonly Told[] {
    const verdicts: Told[] = [];
    for (const object of objects) for (const told of checkOne(rule, object, context)) verdicts.push({ object, told });
    return verdicts;
}

function checkOne(rule: ObjectRule, object: MeshObject, context: Context<unknown>): readonly Verdict[] {
    if (object.isKnown) return rule.check(object, context);
    const unknown = new Map<string, Path>();
    const found = rule.check(object.watched((path) => unknown.set(formatPath(path), path)), context);
    return [...found, ...[...unknown.values()].map((path) => ({ path, unjudged: NOT_KNOWN }))];
}

function judgedBy({ kinds }: Rule, mesh: Mesh): readonly MeshObject[] {
    return kinds.includes(ANY_KIND) ? mesh.objects : mesh.among(kinds);
}

/** Of the objects that a rule about many is about, those that hold something that nobody knows yet. */
function unknownOf(rule: Rule, mesh: Mesh): readonly SetVerdict[] {
    return (mesh.notKnown.length === 0 ? [] : judgedBy(rule, mesh)).flatMap((object) => {
        const path = mesh.unknownIn(object);
        return path === undefined ? [] : [{ path, unjudged: NOT_KNOWN, object }];
    });
}

/** With a broken configuration a rule goes on with its defaults, and hosts that only the configuration could name are unknown. */
function contextOf(rule: Rule, given: unknown, { catalogues, stack = "", pools: known = [] }: Surroundings, problems: string[]): { settings: unknown; pools: Pools } {
    const result = readConfiguration(rule.name, rule.configuration, given);
    if (!result.ok) {
        problems.push(result.problem);
        return { settings: rule.configuration.parse({}), pools: new Pools([], false) };
    }
    const { pools = [], catalogue } = result.settings as Partial<PoolConfiguration>;
    const sources: (readonly HostPool[])[] = [pools];
    if (catalogue === undefined) return { settings: result.settings, pools: new Pools([...sources, known], true) };
    const read = catalogues.of(catalogue, stack);
    if (read.ok) sources.push(read.pools);
    else problems.push(read.problem);
    return { settings: result.settings, pools: new Pools([...sources, known], read.ok) };
}

/** Where a finding's fix stands in the resource that holds the object. */
export function fixesOf({ findings }: Judgement): readonly Fix[] {
    return findings.flatMap(({ object, finding: { fix } }) => (fix === undefined ? [] : [{ path: [...object.position, ...fix.path], value: fix.value }]));
}

/** A finding, ready to be shown. */
export interface JudgedFinding {
    readonly code: string;
    readonly name: string;
    readonly level: Level;
    readonly severity: Severity;
    readonly object: MeshObject;
    /** `ServiceEntry egress/partner-api`. */
    readonly label: string;
    /** The field at fault, within the object; it may be one that is missing. */
    readonly path: Path;
    /** The same as users write it: `spec.servers[0].hosts`. */
    readonly field: string;
    /** Value, bound, reason and way out; it reads on from the field. */
    readonly text: string;
    /** The whole message, the same in every engine. */
    readonly message: string;
    readonly fix?: Fix;
}

/** What a rule could not know of an object. */
export interface JudgedNote extends Omit<JudgedFinding, "level" | "severity" | "fix"> {
    readonly unjudged: true;
}

export interface JudgeOptions extends MeshOptions, Surroundings {
    readonly rules: readonly Rule[];
    /** Levels and properties by policy name or `all`, in the format of `--policy-pack-config`. */
    readonly configuration?: Levels;
}

export interface Judged {
    /** By object, in the order in which the objects are given, then by code. */
    readonly findings: readonly JudgedFinding[];
    readonly unjudged: readonly JudgedNote[];
    /** Findings that exemptions take away, with reason and last day. */
    readonly exempted: readonly (JudgedFinding & { readonly reason: string; readonly until: string })[];
    /** Configurations and catalogues that could not be read: mandatory, since the pools that they would tell are unknown. */
    readonly problems: readonly string[];
}

/** Judges objects by rules, outside of any engine. */
export function judgeObjects(objects: readonly MeshObject[], options: JudgeOptions): Judged {
    const mesh = new Mesh(objects, options), order = new Map(objects.map((object, index) => [object, index]));
    const findings: JudgedFinding[] = [], unjudged: JudgedNote[] = [], exempted: Judged["exempted"][number][] = [], problems = new Set<string>();
    for (const rule of options.rules) {
        const level = levelOf(rule, options.configuration);
        if (level === "disabled") continue;
        const judgement = judge(rule, mesh, propertiesOf(rule, options.configuration), options);
        for (const problem of judgement.problems) problems.add(problem);
        const shown = (object: MeshObject, finding: Finding): JudgedFinding => ({
            ...about(rule, object, finding.path), level: finding.level === "advisory" ? "advisory" : level, severity: rule.severity,
            text: finding.text, message: formatFinding(rule, object, finding), ...(finding.fix === undefined ? {} : { fix: finding.fix }),
        });
        for (const { object, finding } of judgement.findings) findings.push(shown(object, finding));
        for (const { object, finding, reason, until } of judgement.exempted) exempted.push({ ...shown(object, finding), reason, until });
        for (const { object, note } of judgement.unjudged) unjudged.push({ ...about(rule, object, note.path), text: note.unjudged, message: formatUnjudged(rule, object, note), unjudged: true });
    }
    const inOrder = <T extends { readonly object: MeshObject }>(list: readonly T[]): T[] => [...list].sort((one, other) => (order.get(one.object) ?? 0) - (order.get(other.object) ?? 0));
    return { findings: inOrder(findings), unjudged: inOrder(unjudged), exempted: inOrder(exempted), problems: [...problems] };
}

function about({ code, name }: Rule, object: MeshObject, path: Path): Pick<JudgedFinding, "code" | "name" | "object" | "label" | "path" | "field"> {
    return { code, name, object, label: object.label, path, field: formatPath(path) };
}
