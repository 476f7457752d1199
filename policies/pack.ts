// Turns the rules into the arguments of Pulumi's PolicyPack. Nothing is started here: tests and other packs use it as it is.
import type { PolicyPackArgs, ReportViolation, ResourceValidationArgs, ResourceValidationPolicy } from "@pulumi/policy";
import { readCatalogue } from "./catalogue-pools";
import { Catalogues, type ReadCatalogue } from "./catalogues";
import { configSchema } from "./configuration";
import { judge } from "./judge";
import type { Level, Rule, Severity } from "./rule";
import { RULES } from "./rules";
import { keepSecretMarks } from "./secrets";

export const PACK_NAME = "istio-egress";

export interface PackOptions {
    readonly rules?: readonly Rule[];
    readonly readCatalogue?: ReadCatalogue;
    /** Where a relative catalogue path is looked up, with all parents. Default: the working directory, then the pack's own folder. */
    readonly folders?: readonly string[];
}

/** The SDK's server also takes an object, which its type does not show: level per violation, and the message as it is. */
interface ViolationObject {
    readonly message: string;
    readonly enforcementLevel?: Level;
    readonly severity?: Severity;
}

export function policyPackArgs(options: PackOptions = {}): PolicyPackArgs {
    keepSecretMarks();
    const catalogues = new Catalogues(options.readCatalogue ?? readCatalogue, options.folders ?? [process.cwd(), __dirname]);
    const told = new Set<string>();
    return {
        description: "Refuses Istio egress configurations that cannot do what they are written for, with the measured reason and the fix.",
        enforcementLevel: "mandatory",
        policies: (options.rules ?? RULES).map((rule) => policyOf(rule, catalogues, told)),
    };
}

function policyOf(rule: Rule, catalogues: Catalogues, told: Set<string>): ResourceValidationPolicy {
    return {
        name: rule.name,
        displayName: `${rule.code} ${rule.name}`,
        description: rule.description,
        enforcementLevel: rule.level,
        severity: rule.severity,
        remediationSteps: rule.remediation,
        tags: ["istio", "egress", rule.code],
        configSchema: configSchema(rule.configuration),
        ...(rule.remediates ? { remediateResource: (args: ResourceValidationArgs) => remediate(rule, args, catalogues) } : {}),
        validateResource: (args, reportViolation) => validate(rule, args, reportViolation, catalogues, told),
    };
}

function validate(rule: Rule, args: ResourceValidationArgs, reportViolation: ReportViolation, catalogues: Catalogues, told: Set<string>): void {
    const report = reportViolation as unknown as (violation: ViolationObject) => void;
    const { violations, problems } = judge(rule, args, args.getConfig(), catalogues);
    for (const problem of problems) {
        if (told.has(problem)) continue;
        told.add(problem);
        // A pack that cannot know its pools must not pass for one that found nothing, whatever the rule's own level.
        report({ message: problem, enforcementLevel: "mandatory", severity: "high" });
    }
    for (const { message, level } of violations) report({ message, enforcementLevel: level });
}

/** Called at the enforcement level `remediate` only. Writing through the SDK's proxies keeps secrets secret. */
function remediate(rule: Rule, args: ResourceValidationArgs, catalogues: Catalogues): Record<string, unknown> | undefined {
    const { fixes } = judge(rule, args, args.getConfig(), catalogues);
    if (fixes.length === 0) return undefined;
    const properties = args.props as Record<string | number, unknown>;
    for (const { path, value } of fixes) {
        const owner = path.slice(0, -1).reduce((at, key) => at[key] as Record<string | number, unknown>, properties);
        owner[path[path.length - 1] ?? ""] = value;
    }
    return properties;
}
