// EgressGateway: the typed reference to an egress gateway that exists.
import * as pulumi from "@pulumi/pulumi";
import { type GatewayConsumers, checkGatewayReference, gatewayReferenceSchema } from "../model";
import { DeclarationError, describeProblems } from "./errors";
import { type ResolvedInputs, resolveInputs, unknownPaths } from "./inputs";
import { track } from "./tracking";

/** A port of the gateway's Service. */
export interface GatewayPortArgs {
    /** The Service's port; a host's port must be one of them. */
    number: pulumi.Input<number>;
    /** The port on which the gateway's pods listen for it. */
    targetPort: pulumi.Input<number>;
}

/** An egress gateway, as declarations refer to it. */
export interface GatewayReferenceArgs {
    /** The namespace in which the gateway's pods run. */
    namespace: pulumi.Input<string>;
    /** The labels of the gateway's pods, for example `{istio: "egressgateway"}`. */
    selector: pulumi.Input<{ [label: string]: pulumi.Input<string> }>;
    /** The full name of the gateway's Service, `NAME.NAMESPACE.svc.cluster.local`. */
    serviceHost: pulumi.Input<string>;
    /** The ports of the Service that egress may use. */
    ports: pulumi.Input<pulumi.Input<GatewayPortArgs>[]>;
    /** The version of Istio that runs the gateway, `1.31.0`; what is supported depends on it. */
    istioVersion: pulumi.Input<string>;
    /**
     * Who may use the gateway's hosts: `declared` (each declaration names its consumers) or `all` (the whole mesh).
     * A mode of the whole gateway: the two hide each other's subsets when mixed (measured).
     * @default "declared"
     */
    consumers?: pulumi.Input<GatewayConsumers>;
}

/** Arguments of EgressGateway: the gateway that exists. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- component arguments must be an interface of their own name
export interface EgressGatewayArgs extends GatewayReferenceArgs {}

/** A gateway port, as published. */
export interface GatewayPort {
    number: number;
    targetPort: number;
}

/** A gateway reference, as published: pass it on as a declaration's `gateway`. */
export interface GatewayReferenceOutput {
    namespace: string;
    selector: { [label: string]: string };
    serviceHost: string;
    ports: GatewayPort[];
    istioVersion: string;
    consumers: GatewayConsumers;
}

/**
 * Refers to an egress gateway that exists; it creates nothing. Several declarations share one reference, so that what the
 * gateway is, is said once.
 *
 * @example
 * const gateway = new EgressGateway("platform", {
 *     namespace: "istio-egress",
 *     selector: { istio: "egressgateway" },
 *     serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local",
 *     ports: [{ number: 443, targetPort: 8443 }],
 *     istioVersion: "1.31.0",
 * });
 */
export class EgressGateway extends pulumi.ComponentResource<GatewayData> {
    /** What declarations take as `gateway`. */
    public readonly reference: pulumi.Output<GatewayReferenceOutput>;

    constructor(name: string, args: EgressGatewayArgs, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args, REFERENCE);
        if (!(inputs instanceof Promise)) check(name, inputs);
        super("istio-egress:index:EgressGateway", name, args, opts);
        this.reference = pulumi.output(this.getData().then(({ reference }) => reference));
    }

    /** Publishes the reference once it is checked. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<GatewayData> {
        const inputs = await resolveInputs(args, REFERENCE);
        check(name, inputs);
        const data = { reference: track(inputs, (value) => gatewayReferenceSchema.parse(value)) };
        this.registerOutputs(data);
        return data;
    }
}

interface GatewayData {
    readonly reference: pulumi.Input<GatewayReferenceOutput>;
}

/** The property of a declaration that these arguments are. */
const REFERENCE = ["gateway"] as const;

function check(name: string, inputs: ResolvedInputs): void {
    const { problems } = checkGatewayReference(inputs.value, unknownPaths(inputs));
    if (problems.length > 0) throw new DeclarationError(`EgressGateway ${JSON.stringify(name)}`, describeProblems(problems, inputs.leaves));
}
