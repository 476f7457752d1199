// The rules as Kubernetes' own admission policies: ValidatingAdmissionPolicy and its binding, so that kubectl, Helm and GitOps meet the same
// verdict with the same code and message.
import { type Levels, levelOf } from "../levels";
import { type Level, type ObjectRule, type Rule, isSetRule } from "../rule";
import { RULES } from "../rules";
import { type Cel, POSITIONS, literal } from "./cel";
import { ejectionNeverAdmission } from "./E101";
import { ejectionEmptiesPoolAdmission } from "./E102";
import { ejectionGuardMissingAdmission } from "./E105";
import { portSettingsDropOutlierAdmission } from "./E106";
import { localFailuresWithoutSplitAdmission } from "./E107";
import { noWayBackForEjectedAdmission } from "./E112";
import { ejectionUndoneByPanicAdmission } from "./E114";
import { logicalDnsOnSmallPoolAdmission } from "./E201";
import { strictDnsOnRotatingPoolAdmission } from "./E202";
import { dynamicDnsMisusedAdmission } from "./E206";
import { hostsWithTcpAdmission } from "./E306";
import { sniOutsideHostsAdmission } from "./E402";
import { sharedMutualServerAdmission } from "./E410";
import { ownershipMissingAdmission } from "./E503";
import { expiredAdmission } from "./E504";
import { outdatedApiVersionAdmission } from "./E602";
import { isExempt } from "./exemption";
import { type AdmissionRule, type FindingLevel, RESOURCES, levelFor } from "./rule";

export type { AdmissionRule } from "./rule";

/** By code. */
export const ADMISSION_RULES: readonly AdmissionRule[] = [
    ejectionNeverAdmission,
    ejectionEmptiesPoolAdmission,
    ejectionGuardMissingAdmission,
    portSettingsDropOutlierAdmission,
    localFailuresWithoutSplitAdmission,
    noWayBackForEjectedAdmission,
    ejectionUndoneByPanicAdmission,
    logicalDnsOnSmallPoolAdmission,
    strictDnsOnRotatingPoolAdmission,
    dynamicDnsMisusedAdmission,
    hostsWithTcpAdmission,
    sniOutsideHostsAdmission,
    sharedMutualServerAdmission,
    ownershipMissingAdmission,
    expiredAdmission,
    outdatedApiVersionAdmission,
];

/** Why rules about one object have no admission form, by code; rules about many objects have none, since admission sees one. */
export const NOT_ADMITTED: Readonly<Record<string, string>> = {
    E205: "Istio's own schema refuses it before any policy is asked",
    E207: "a catalogue or a configuration, which admission does not know, may declare the pool",
    E407: "it compares durations, and the mesh's own default is not known there",
    E501: "its allow-list is the pack's configuration, or the catalogue",
    E502: "its reasons come from reading a host as the model does, which CEL cannot",
    E506: "annotations have no order in CEL, and an exemption that is none exempts from nothing there either",
    E601: "it asks which environment this is, and for the settings of Pulumi's provider",
};

/** Why a rule has no admission form; undefined where it has one. */
export function whyNotAdmitted(rule: Rule): string | undefined {
    if (ADMISSION_RULES.some((one) => one.rule.code === rule.code)) return undefined;
    return isSetRule(rule) ? "it is about several objects, and admission sees one" : NOT_ADMITTED[rule.code] ?? "it has no form in CEL yet";
}

/** A Kubernetes object of admissionregistration.k8s.io/v1. */
export interface AdmissionObject {
    readonly apiVersion: "admissionregistration.k8s.io/v1";
    readonly kind: "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding";
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: Readonly<Record<string, unknown>>;
}

export const FailurePolicy = { Fail: "Fail", Ignore: "Ignore" } as const;
export type FailurePolicy = (typeof FailurePolicy)[keyof typeof FailurePolicy];

export interface AdmissionOptions {
    /** Levels by policy name or `all`: mandatory refuses the object, advisory warns, disabled leaves the rule out. Default: each rule's own. */
    readonly levels?: Levels;
    /** Namespaces whose objects are not judged. Default: none. */
    readonly excludedNamespaces?: readonly string[];
    /** Default: those that are proved. */
    readonly rules?: readonly AdmissionRule[];
    /** What happens where a policy cannot be evaluated. Default Fail, Kubernetes' own: the object is refused. */
    readonly failurePolicy?: FailurePolicy;
}

/** How many findings a refusal tells in full: the API server cuts messages at 5 kB. */
export const SHOWN_FINDINGS = 3;

/** A message of several findings, as the policies write it. */
export function admissionMessage(messages: readonly string[]): string {
    const more = messages.length - SHOWN_FINDINGS;
    return messages.slice(0, SHOWN_FINDINGS).join(" ") + (more > 0 ? ` And ${more} more.` : "");
}

/** A policy and a binding for each rule; two of each where findings of a rule have different levels. */
export function admissionObjects(options: AdmissionOptions = {}): readonly AdmissionObject[] {
    return (options.rules ?? ADMISSION_RULES).flatMap((admission) => {
        const level = levelOf(admission.rule, options.levels);
        if (level === "disabled") return [];
        return (Object.entries(admission.findings) as [FindingLevel, Cel][]).flatMap(([findings, expression]) => {
            const name = `istio-egress-${admission.rule.code.toLowerCase()}${findings === "own" ? "" : `-${findings}`}`;
            return [policyOf(name, admission, expression, options), bindingOf(name, levelFor(findings, level))];
        });
    });
}

function policyOf(name: string, { rule, variables }: AdmissionRule, findings: Cel, { failurePolicy = FailurePolicy.Fail, excludedNamespaces = [] }: AdmissionOptions): AdmissionObject {
    // The page is the pack's own to add.
    const page = RULES.find(({ code }) => code === rule.code)?.page, resources = (rule.kinds.includes("*") ? Object.keys(RESOURCES) : rule.kinds).flatMap((kind) => RESOURCES[kind] ?? []);
    return {
        apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy",
        metadata: { name, annotations: { "istio-egress/rule": `${rule.code} ${rule.name}`, "istio-egress/description": rule.description } },
        spec: {
            failurePolicy,
            matchConstraints: {
                // The version that was asked for is the one that is judged, and rules hold for all of them.
                matchPolicy: "Exact",
                resourceRules: [...new Set(resources.map(({ group }) => group))].map((group) => ({
                    apiGroups: [group], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: resources.filter((one) => one.group === group).map(({ resource }) => resource),
                })),
                ...(excludedNamespaces.length === 0 ? {} : { namespaceSelector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: [...excludedNamespaces] }] } }),
            },
            matchConditions: [
                // What is there already stays writable for controllers and deletions: only a change is judged.
                { name: "changed", expression: "request.operation == 'CREATE' || object.spec != oldObject.spec || object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({})" },
                { name: "stays", expression: "!has(object.metadata.deletionTimestamp)" },
            ],
            variables: [["positions", POSITIONS] as const, ...isExempt(rule.code), ...variables, ["findings", findings] as const].map(([variable, expression]) => ({ name: variable, expression })),
            validations: [{
                expression: "variables.isExempt || variables.findings == ''",
                messageExpression: messageOf({ code: rule.code, page }),
                message: `${rule.code} ${rule.name}: ${rule.description} See ${page ?? `docs/rules/${rule.code}.md`}`,
            }],
        },
    };
}

/** `formatFinding` of the rules, for each of the findings, joined as `admissionMessage` does. */
function messageOf({ code, page }: Pick<ObjectRule, "code" | "page">): Cel {
    const label = "object.kind + ' ' + object.metadata.namespace + '/' + object.metadata.name";
    const shown = `variables.positions.filter(i, i < ${SHOWN_FINDINGS} && i < size(f)).map(i, ${literal(`${code} `)} + ${label} + ': ' + f[i] + ${literal(page === undefined ? "" : ` See ${page}`)}).join(' ')`;
    return `[variables.findings.split('\\n')].map(f, ${shown} + (size(f) > ${SHOWN_FINDINGS} ? ' And ' + string(size(f) - ${SHOWN_FINDINGS}) + ' more.' : ''))[0]`;
}

function bindingOf(name: string, level: Level): AdmissionObject {
    return {
        apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding", metadata: { name },
        spec: { policyName: name, validationActions: level === "mandatory" ? ["Deny", "Audit"] : ["Warn", "Audit"] },
    };
}
