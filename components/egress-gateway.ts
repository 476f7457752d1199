// EgressGateway: an egress gateway, one that exists or one to deploy, and the typed reference to it.
import * as pulumi from "@pulumi/pulumi";
import { gatewayDeployment } from "../manifests";
import { type Gateway, GatewayMode, checkGateway, gatewayReference, gatewaySchema } from "../model";
import type { EgressGatewayArgs, GatewayReferenceOutput } from "./egress-gateway-args";
import { DeclarationError, describeProblems } from "./errors";
import { type ResolvedInputs, resolveInputs, unknownPaths } from "./inputs";
import { afterwards, registerSupport } from "./support-objects";
import { track } from "./tracking";

/**
 * An egress gateway. With mode `existing`, the default, it is referred to and nothing is created; with mode `deploy` it is
 * created: pods that istiod injects, a Service, a service account, a disruption budget and an autoscaler. What belongs to the
 * other mode is refused, so that nobody deploys beside a gateway, or refers to one, by accident. Several declarations share
 * one reference, so that what the gateway is, is said once.
 *
 * @example
 * const existing = new EgressGateway("platform", {
 *     namespace: "istio-egress",
 *     selector: { istio: "egressgateway" },
 *     serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local",
 *     ports: [{ number: 443, targetPort: 8443 }],
 *     istioVersion: "1.31.0",
 * });
 *
 * @example
 * const own = new EgressGateway("partners", {
 *     mode: "deploy",
 *     namespace: "istio-egress",
 *     ports: [{ number: 443 }, { number: 5432 }],
 *     istioVersion: "1.31.0",
 *     deployment: { longestConnection: "15m" },
 * });
 */
export class EgressGateway extends pulumi.ComponentResource<GatewayData> {
    /** What declarations take as `gateway`. Of a gateway to deploy it is there once the gateway is. */
    public readonly reference: pulumi.Output<GatewayReferenceOutput>;

    constructor(name: string, args: EgressGatewayArgs, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args, REFERENCE);
        if (!(inputs instanceof Promise)) check(name, inputs);
        super("istio-egress:index:EgressGateway", name, args, opts);
        this.reference = pulumi.output(this.getData().then(({ reference }) => reference));
    }

    /** Registers the gateway's objects, and publishes the reference once it is checked. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<GatewayData> {
        const inputs = await resolveInputs(args, REFERENCE);
        check(name, inputs);
        const reference = track(inputs, (value) => gatewayReference(name, parse(value))) as pulumi.Input<GatewayReferenceOutput>;
        const objects = await registerSupport({ component: this, subject: subjectOf(name), name }, inputs, (value) => {
            const gateway = parse(value);
            return gateway.mode === GatewayMode.Deploy ? gatewayDeployment(name, gateway) : [];
        });
        const data = { reference: objects.size === 0 ? reference : afterwards([...objects.values()], reference) };
        this.registerOutputs(data);
        return data;
    }
}

interface GatewayData {
    readonly reference: pulumi.Input<GatewayReferenceOutput>;
}

/** The property of a declaration that these arguments are. */
const REFERENCE = ["gateway"] as const;

const subjectOf = (name: string): string => `EgressGateway ${JSON.stringify(name)}`;
const parse = (value: unknown): Gateway => gatewaySchema.parse(value);

function check(name: string, inputs: ResolvedInputs): void {
    const unknown = unknownPaths(inputs);
    if (unknown.some(([first]) => first === "mode")) throw new DeclarationError(subjectOf(name), ["mode is not known yet: what is created depends on it, so give a plain value."]);
    const result = checkGateway(name, inputs.value, unknown);
    if (!result.ok) throw new DeclarationError(subjectOf(name), describeProblems(result.problems, inputs.leaves));
}
