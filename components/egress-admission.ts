// EgressAdmission: the rules about single objects, in the cluster's own admission.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { LABEL_PATTERN, nearest, show } from "../model";
import { type AdmissionObject, type AdmissionOptions, FailurePolicy, admissionObjects } from "../policies/admission";
import { RULES } from "../policies/rules";
import { resolveInputs } from "./inputs";
import { publish } from "./publish";

/** Arguments of EgressAdmission. */
export interface EgressAdmissionArgs {
    /**
     * Levels by the name of a rule, or `all` for every rule: `mandatory` refuses the object, `advisory` lets it pass with a
     * warning that kubectl shows, `disabled` leaves the rule out. The entry of a rule counts before that of `all`.
     * @default each rule's own level
     */
    levels?: pulumi.Input<{ [rule: string]: pulumi.Input<string> }>;
    /** Namespaces whose objects are not judged, such as one that another team's tools write. Default: none. */
    excludedNamespaces?: pulumi.Input<pulumi.Input<string>[]>;
    /**
     * What happens to an object where a policy cannot be evaluated: it is refused (`Fail`), or passes (`Ignore`).
     * @default "Fail", as Kubernetes has it
     */
    failurePolicy?: pulumi.Input<FailurePolicy>;
}

interface AdmissionData {
    readonly policies: pulumi.Input<string[]>;
}

/**
 * The rules about single objects as ValidatingAdmissionPolicies (CEL) with their bindings, so that kubectl, Helm and GitOps
 * meet the verdict of the policy pack, with its code and message. Kubernetes 1.30 or later; no webhook, nothing to run.
 *
 * Bad arguments throw one error before anything is registered. Rules about several objects, and what only a catalogue knows
 * of a pool, stay with the pack and with `istio-egress audit`.
 *
 * @example
 * new EgressAdmission("egress", { levels: { all: "advisory", "shared-mutual-server": "mandatory" } });
 */
export class EgressAdmission extends pulumi.ComponentResource<AdmissionData> {
    /** The names of the policies in the cluster. */
    public readonly policies!: pulumi.Output<string[]>;

    constructor(name: string, args: EgressAdmissionArgs = {}, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args);
        if (!(inputs instanceof Promise)) optionsOf(name, inputs.value);
        super("istio-egress:index:EgressAdmission", name, args, opts);
        const data = this.getData();
        publish(this, "policies", () => pulumi.output(data.then(({ policies }) => policies)));
    }

    /** Registers the policies; whoever depends on this component waits for them. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<AdmissionData> {
        const { value, leaves } = await resolveInputs(args);
        const [unknown] = leaves.filter((leaf) => !leaf.known);
        if (unknown !== undefined) {
            await pulumi.log.warn(`EgressAdmission ${JSON.stringify(name)}: its policies are left out of this preview, since ${unknown.path.join(".")} is not known yet; those that exist are shown as deletions.`, this);
            return { policies: unknown.output.apply(() => []) };
        }
        const policies = register(this, name, admissionObjects(optionsOf(name, value)));
        this.registerOutputs({ policies });
        return { policies };
    }
}

/** The policy of a rule before its binding, and after it when they are removed. */
function register(parent: EgressAdmission, name: string, objects: readonly AdmissionObject[]): string[] {
    const policies = new Map<string, pulumi.Resource>();
    for (const { kind, metadata, spec } of objects) {
        const short = metadata.name.replace(/^istio-egress-/, "");
        if (kind === "ValidatingAdmissionPolicy") {
            policies.set(metadata.name, new k8s.admissionregistration.v1.ValidatingAdmissionPolicy(`${name}-${short}`, { metadata, spec }, { parent }));
        } else {
            const policy = policies.get(metadata.name);
            new k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(`${name}-${short}-binding`, { metadata, spec }, { parent, dependsOn: policy === undefined ? [] : [policy] });
        }
    }
    return [...policies.keys()];
}

const LEVELS = ["mandatory", "advisory", "disabled"] as const;

/** @throws one error that lists everything that is wrong */
function optionsOf(name: string, args: unknown): AdmissionOptions {
    const { levels, excludedNamespaces, failurePolicy } = args as Readonly<Record<keyof EgressAdmissionArgs, unknown>>, problems: string[] = [];
    for (const [rule, level] of Object.entries(levels ?? {})) {
        const names = RULES.map((one) => one.name), near = nearest(rule, names);
        if (rule !== "all" && !names.includes(rule)) problems.push(`levels.${rule} is no rule${near === undefined ? "" : ` (did you mean ${near}?)`}: give a rule's name, or all.`);
        else if (!LEVELS.some((one) => one === level)) problems.push(`levels.${rule} is ${show(level)}, but must be one of ${LEVELS.map(show).join(", ")}.`);
    }
    for (const [index, namespace] of ((excludedNamespaces ?? []) as readonly unknown[]).entries()) {
        if (typeof namespace !== "string" || !LABEL_PATTERN.test(namespace)) problems.push(`excludedNamespaces[${index}] is ${show(namespace)}, which is not a namespace's name.`);
    }
    if (failurePolicy !== undefined && !Object.values(FailurePolicy).some((one) => one === failurePolicy)) problems.push(`failurePolicy is ${show(failurePolicy)}, but must be one of ${Object.values(FailurePolicy).map(show).join(", ")}.`);
    if (problems.length > 0) throw new pulumi.RunError(problems.map((problem) => `EgressAdmission ${JSON.stringify(name)}: ${problem}`).join("\n"));
    return args as AdmissionOptions;
}
