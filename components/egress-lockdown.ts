// EgressLockdown: makes a gateway's hosts reachable for their consumers only, and the gateway the consumers' only way out.
import * as pulumi from "@pulumi/pulumi";
import { lockdownObjects } from "../manifests";
import { type InCluster, type Lockdown, type LockdownPlan, checkLockdown, lockdownSchema } from "../model";
import type { GatewayReferenceArgs, GatewayReferenceOutput } from "./egress-gateway-args";
import { DeclarationError, describeProblems } from "./errors";
import { type ResolvedInputs, resolveInputs, unknownPaths } from "./inputs";
import { afterwards, registerSupport } from "./support-objects";
import { track } from "./tracking";

/** A namespace behind the fence. */
export interface LockdownConsumerArgs {
    /** The namespace's name; it must exist. */
    namespace: pulumi.Input<string>;
}

/** The DNS servers that consumers may ask. */
export interface LockdownDnsArgs {
    /**
     * The namespace of their pods.
     * @default "kube-system"
     */
    namespace?: pulumi.Input<string>;
    /**
     * The labels of their pods.
     * @default {"k8s-app": "kube-dns"}
     */
    selector?: pulumi.Input<{ [label: string]: pulumi.Input<string> }>;
    /**
     * Addresses of servers that are no pods, as CIDR blocks (NodeLocal DNSCache: `169.254.20.10/32`).
     * @default []
     */
    blocks?: pulumi.Input<pulumi.Input<string>[]>;
}

/** Arguments of EgressLockdown. */
export interface EgressLockdownArgs {
    /** The gateway, as `EgressGateway` publishes it. */
    gateway: pulumi.Input<GatewayReferenceArgs>;
    /** `dry-run` counts at the gateway what would be denied and denies nothing; `enforced` denies it, and writes the rest of the fence. */
    mode: pulumi.Input<Lockdown>;
    /** Every namespace that uses the gateway (`consumersOf` of istio-egress/model lists them). */
    consumers: pulumi.Input<pulumi.Input<LockdownConsumerArgs>[]>;
    /**
     * Whether a consumer's pods may call other pods of the cluster: `allowed`, or `denied` unless a NetworkPolicy of your own
     * allows it. Required: no safe default exists.
     */
    inCluster: pulumi.Input<InCluster>;
    /**
     * Whether the consumers' sidecars refuse what is not declared: a Sidecar per namespace, of which there can be one only.
     * @default false
     */
    registryOnly?: pulumi.Input<boolean>;
    /** The DNS servers that consumers may ask. */
    dns?: pulumi.Input<LockdownDnsArgs>;
    /**
     * The namespace of istiod, which sidecars must reach.
     * @default "istio-system"
     */
    istioNamespace?: pulumi.Input<string>;
}

/**
 * The lockdown of one gateway. Give the hosts `lockdown.reference` as their `gateway`: each then has an AuthorizationPolicy at
 * the gateway, for its consumers and their service accounts. Begin with mode `dry-run`; `enforced` is then one object less, the
 * last step of an update. What it cannot stop is in docs/limits.md.
 *
 * @example
 * const lockdown = new EgressLockdown("platform", {
 *     gateway: gateway.reference,
 *     mode: "dry-run",
 *     consumers: [{ namespace: "payments" }, { namespace: "orders" }],
 *     inCluster: "allowed",
 * });
 * new ExternalEgressHost("partner-api", { gateway: lockdown.reference, consumers: [{ namespace: "payments", serviceAccounts: ["settlement"] }], ... });
 */
export class EgressLockdown extends pulumi.ComponentResource<LockdownData> {
    /** The gateway with its lockdown, which declarations take as `gateway`. */
    public readonly reference: pulumi.Output<GatewayReferenceOutput>;

    constructor(name: string, args: EgressLockdownArgs, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args, LOCKDOWN);
        if (!(inputs instanceof Promise)) check(name, inputs);
        super("istio-egress:index:EgressLockdown", name, args, opts);
        this.reference = pulumi.output(this.getData().then(({ reference }) => reference));
    }

    /** Registers the fence, and publishes the locked reference once its switch is there. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<LockdownData> {
        const inputs = await resolveInputs(args, LOCKDOWN);
        check(name, inputs);
        const objects = await registerSupport({ component: this, subject: subjectOf(name), name }, inputs, (value) => lockdownObjects(parse(value)));
        const reference = track(inputs, (value) => {
            const { gateway, mode } = parse(value);
            return { ...gateway, lockdown: mode };
        }) as pulumi.Input<GatewayReferenceOutput>;
        const first = objects.get("open") ?? objects.get("closed");
        const data = { reference: first === undefined ? reference : afterwards([first], reference) };
        this.registerOutputs(data);
        return data;
    }
}

interface LockdownData {
    readonly reference: pulumi.Input<GatewayReferenceOutput>;
}

/** Where the samples of these arguments are. */
const LOCKDOWN = ["lockdown"] as const;

const subjectOf = (name: string): string => `EgressLockdown ${JSON.stringify(name)}`;
const parse = (value: unknown): LockdownPlan => lockdownSchema.parse(value);

function check(name: string, inputs: ResolvedInputs): void {
    const unknown = unknownPaths(inputs), undecided = ["mode", "registryOnly"].filter((field) => unknown.some(([first]) => first === field));
    if (undecided.length > 0) throw new DeclarationError(subjectOf(name), undecided.map((field) => `${field} is not known yet: what is created depends on it, so give a plain value.`));
    const result = checkLockdown(inputs.value, unknown);
    if (!result.ok) throw new DeclarationError(subjectOf(name), describeProblems(result.problems, inputs.leaves));
}
