// Turns the rules into the arguments of Pulumi's PolicyPack. Nothing is started here: tests and other packs use it as it is.
import type { PolicyPackArgs, ReportViolation, ResourceValidationArgs, ResourceValidationPolicy, StackValidationArgs, StackValidationPolicy } from "@pulumi/policy";
import { readCatalogue } from "./catalogue-pools";
import { Catalogues, type ReadCatalogue, stackOf } from "./catalogues";
import { configSchema } from "./configuration";
import { type Judgement, type Surroundings, fixesOf, judge } from "./judge";
import { type Levels, checkLevelNames, entryLevel } from "./levels";
import { Mesh } from "./mesh";
import { type MeshObject, type Resource, meshObjects } from "./objects";
import { type Level, type ObjectRule, type Rule, type SetRule, type Severity, formatFinding, formatUnjudged, isSetRule } from "./rule";
import { RULES } from "./rules";
import { keepSecretMarks, sentAs } from "./secrets";
import { today } from "./today";

export const PACK_NAME = "istio-egress";

/** The stack tag that names the environment; without it the stack's name does. */
const ENVIRONMENT_TAG = "environment";

export interface PackOptions {
    readonly rules?: readonly Rule[];
    /**
     * Levels by environment, that is by the stack's tag `environment`, or by its name where it has no such tag:
     * `{prod: {"pool-undeclared": "mandatory"}, dev: {all: "advisory"}}`. They count before the pack's configuration;
     * properties belong there.
     */
    readonly environments?: Readonly<Record<string, Levels>>;
    readonly readCatalogue?: ReadCatalogue;
    /** Where a relative catalogue path is looked up, with all parents. Default: the working directory, then the pack's own folder. */
    readonly folders?: readonly string[];
}

/** The SDK's server also takes an object, which its type does not show: level per violation, the URN, and the message as it is. */
interface ViolationObject {
    readonly message: string;
    readonly enforcementLevel?: Level;
    readonly severity?: Severity;
    readonly urn?: string;
}

export function policyPackArgs(options: PackOptions = {}): PolicyPackArgs {
    keepSecretMarks();
    const rules = options.rules ?? RULES, pack = new Pack(options);
    for (const [environment, levels] of Object.entries(options.environments ?? {})) checkLevelNames(`environments.${environment}`, rules, levels, ["all"]);
    return {
        description: "Refuses Istio egress configurations that cannot do what they are written for, with the measured reason and the fix.",
        enforcementLevel: "mandatory",
        policies: rules.map((rule) => (isSetRule(rule) ? pack.stackPolicy(rule) : pack.resourcePolicy(rule))),
    };
}

type Arguments = Pick<ResourceValidationArgs, "getConfig" | "notApplicable" | "stackTags">;

class Pack {
    private readonly catalogues: Catalogues;
    private readonly environments: Readonly<Record<string, Levels>>;
    private readonly told = new Set<string>();
    /** What was read of a request, for all policies that judge it. */
    private readonly read = new WeakMap<object, readonly MeshObject[]>();
    private stack: { readonly objects: readonly MeshObject[]; readonly mesh: Mesh } | undefined;

    constructor(options: PackOptions) {
        this.catalogues = new Catalogues(options.readCatalogue ?? readCatalogue, options.folders ?? [process.cwd(), __dirname]);
        this.environments = options.environments ?? {};
    }

    resourcePolicy(rule: ObjectRule): ResourceValidationPolicy {
        return {
            ...information(rule),
            ...(rule.remediates ? { remediateResource: (args: ResourceValidationArgs) => this.remediate(rule, args) } : {}),
            validateResource: (args, report) => {
                const objects = this.objectsOf(args);
                if (objects.length === 0) return;
                const around = this.surroundings(args, stackOf(args.urn));
                this.report(rule, judge(rule, new Mesh(objects), args.getConfig(), around), { args, report, around });
            },
        };
    }

    stackPolicy(rule: SetRule): StackValidationPolicy {
        return {
            ...information(rule),
            validateStack: (args: StackValidationArgs, report) => {
                // The engine gives them in the order in which they were ready, which differs from run to run; of two that clash, the same one is told of.
                const resources = [...args.resources].sort((one, other) => (one.urn < other.urn ? -1 : one.urn > other.urn ? 1 : 0));
                const urns = new Map(resources.flatMap((resource) => this.objectsOf(resource).map((object) => [object, resource.urn] as const)));
                const around = this.surroundings(args, stackOf(args.resources[0]?.urn ?? ""));
                this.report(rule, judge(rule, this.meshOf([...urns.keys()]), args.getConfig(), around), { args, report, around, urns });
            },
        };
    }

    private objectsOf(resource: Resource): readonly MeshObject[] {
        const sent = sentAs(resource.props), known = sent === undefined ? undefined : this.read.get(sent);
        if (known !== undefined) return known;
        const objects = meshObjects(resource);
        if (sent !== undefined) this.read.set(sent, objects);
        return objects;
    }

    /** All stack policies of one request get the same objects, and so share what one of them has indexed. */
    private meshOf(objects: readonly MeshObject[]): Mesh {
        const last = this.stack;
        if (last?.objects.length === objects.length && objects.every((object, index) => object === last.objects[index])) return last.mesh;
        const mesh = new Mesh(objects);
        this.stack = { objects, mesh };
        return mesh;
    }

    private surroundings({ stackTags }: Arguments, stack: string): Surroundings {
        const environment = stackTags?.get(ENVIRONMENT_TAG) ?? (stack === "" ? undefined : stack);
        return { catalogues: this.catalogues, now: today(), stack, environment };
    }

    private report(rule: Rule, judgement: Judgement, { args, report, around, urns }: Reporting): void {
        const tell = report as unknown as (violation: ViolationObject) => void;
        const { environment = "" } = around, level = this.environmentLevel(rule, environment);
        if (level === "disabled") return args.notApplicable(`The environment ${environment} switches the rule off.`);
        for (const problem of judgement.problems) {
            if (this.told.has(problem)) continue;
            this.told.add(problem);
            // A pack that cannot know its pools must not pass for one that found nothing, whatever the rule's own level.
            tell({ message: problem, enforcementLevel: "mandatory", severity: "high" });
        }
        for (const { object, finding } of judgement.findings) {
            tell({ message: formatFinding(rule, object, finding), enforcementLevel: finding.level ?? level, urn: urns?.get(object) });
        }
        const reasons = [
            ...judgement.unjudged.map(({ object, note }) => formatUnjudged(rule, object, note)),
            ...judgement.exempted.map(({ object, until, reason }) => `${rule.code} ${object.label} is exempt until ${until}: ${reason}`),
        ];
        if (judgement.findings.length === 0 && reasons.length > 0) args.notApplicable(reasons.join("\n"));
    }

    /** The level that an environment gives a rule; undefined where it gives none. */
    private environmentLevel(rule: Rule, environment: string): Level | "disabled" | undefined {
        const levels = Object.hasOwn(this.environments, environment) ? this.environments[environment] : undefined;
        if (levels === undefined) return undefined;
        const level = entryLevel(levels, rule.name) ?? entryLevel(levels, "all");
        return level === "remediate" ? "mandatory" : level;
    }

    /** Called at the enforcement level `remediate` only. Writing through the SDK's proxies keeps secrets secret. */
    private remediate(rule: ObjectRule, args: ResourceValidationArgs): Record<string, unknown> | undefined {
        // Read anew: another policy may have changed the properties since.
        const around = this.surroundings(args, stackOf(args.urn)), { environment = "" } = around;
        if (this.environmentLevel(rule, environment) === "disabled") return undefined;
        const fixes = fixesOf(judge(rule, new Mesh(meshObjects(args)), args.getConfig(), around));
        if (fixes.length === 0) return undefined;
        const properties = args.props as Record<string | number, unknown>;
        for (const { path, value } of fixes) {
            const owner = path.slice(0, -1).reduce((at, key) => at[key] as Record<string | number, unknown>, properties);
            owner[path[path.length - 1] ?? ""] = value;
        }
        return properties;
    }
}

interface Reporting {
    readonly args: Arguments;
    readonly report: ReportViolation;
    readonly around: Surroundings;
    /** Of the resource that an object is in, where the engine does not know it by itself. */
    readonly urns?: ReadonlyMap<MeshObject, string>;
}

/** What Pulumi shows of a rule. */
function information(rule: Rule): Omit<ResourceValidationPolicy, "validateResource" | "remediateResource"> {
    return {
        name: rule.name,
        displayName: `${rule.code} ${rule.name}`,
        description: rule.description,
        enforcementLevel: rule.level,
        severity: rule.severity,
        remediationSteps: rule.remediation,
        tags: ["istio", "egress", rule.code],
        configSchema: configSchema(rule.configuration),
    };
}
