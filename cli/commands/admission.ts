// `istio-egress admission`: prints the rules as ValidatingAdmissionPolicies, for kubectl apply or a GitOps repository.
import type { FailurePolicy } from "../../policies/admission";
import { LABEL_PATTERN } from "../../model";
import { ExitCode, usageError } from "../failure";

export interface AdmissionCommandOptions {
    readonly policyConfig?: string;
    readonly excludeNamespace: readonly string[];
    readonly failurePolicy: FailurePolicy;
    /** Show which rules there are instead, and why others have no form at admission. */
    readonly listRules: boolean;
}

export async function admission({ policyConfig, excludeNamespace, failurePolicy, listRules }: AdmissionCommandOptions): Promise<ExitCode> {
    const { admissionObjects, whyNotAdmitted } = await import("../../policies/admission/index.js"), { RULES } = await import("../../policies/rules/index.js");
    if (listRules) {
        process.stdout.write(RULES.map((rule) => `${rule.code}  ${rule.name}  ${whyNotAdmitted(rule) === undefined ? "at admission" : `not at admission: ${whyNotAdmitted(rule) ?? ""}`}\n`).join(""));
        return ExitCode.Ok;
    }
    const { levelsOf } = await import("../audit/options.js"), { stringify } = await import("yaml");
    const bad = excludeNamespace.find((name) => !LABEL_PATTERN.test(name));
    if (bad !== undefined) throw usageError(`--exclude-namespace names ${JSON.stringify(bad)}, which is not a namespace's name: it has lower-case letters, digits and inner hyphens, at most 63.`);
    const objects = admissionObjects({ levels: await levelsOf(policyConfig), excludedNamespaces: excludeNamespace, failurePolicy });
    process.stdout.write(objects.map((object) => stringify(object, { lineWidth: 0 })).join("---\n"));
    return ExitCode.Ok;
}
