// ExternalEgressHost: one external host, from a declaration to every Istio object that it needs.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Manifest, manifestsOf, writtenBy } from "../manifests";
import { type Declaration, checkDeclaration, fillDefaults, formatPath, formerApiVersions, milliseconds, planOf } from "../model";
import { DeclarationError, describeProblems } from "./errors";
import type { ExternalEgressHostArgs } from "./external-egress-host-args";
import { type ResolvedInputs, resolveInputs, unknownPaths } from "./inputs";
import type { EgressObject, HostPlan } from "./outputs";
import { publish } from "./publish";
import { Settle } from "./settle";
import { type TrackedItem, track, trackItems } from "./tracking";

interface HostData {
    readonly host: pulumi.Input<string>;
    readonly plan: pulumi.Input<HostPlan>;
    readonly objects: pulumi.Input<EgressObject[]>;
}

/**
 * One external host: the ServiceEntry, the egress Gateway and VirtualService routing and the DestinationRules that it
 * needs, right by construction.
 *
 * Bad arguments throw one error with every problem before anything is registered. A value that is not known in a preview
 * leaves the properties that depend on it unknown; all others are shown and checked.
 *
 * @example
 * new ExternalEgressHost("partner-api", {
 *     host: "api.partner.example",
 *     namespace: "egress",
 *     pool: { membership: "fixed", addressesPerAnswer: 2 },
 *     failover: { detectionTime: "10s", dnsTtl: "5s" },
 *     route: "mtls-passthrough",
 *     gateway: gateway.reference,
 *     consumers: [{ namespace: "payments" }],
 *     ownership: { owner: "team-payments", purpose: "card settlement", expires: "2027-06-30" },
 * });
 */
export class ExternalEgressHost extends pulumi.ComponentResource<HostData> {
    /** The host's normalised name. */
    public readonly host!: pulumi.Output<string>;
    /** What was decided, why, and what it means in a failover. */
    public readonly plan!: pulumi.Output<HostPlan>;
    /** The Kubernetes objects, in the order in which they are written. */
    public readonly objects!: pulumi.Output<EgressObject[]>;

    constructor(name: string, args: ExternalEgressHostArgs, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args);
        if (!(inputs instanceof Promise)) check(name, inputs);
        super("istio-egress:index:ExternalEgressHost", name, args, opts);
        const data = this.getData();
        publish(this, "host", () => pulumi.output(data.then(({ host }) => host)));
        publish(this, "plan", () => pulumi.output(data.then(({ plan }) => plan)));
        publish(this, "objects", () => pulumi.output(data.then(({ objects }) => objects)));
    }

    /** Registers the children; whoever depends on this component waits for it. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<HostData> {
        const pending = resolveInputs(args), inputs = pending instanceof Promise ? await pending : pending;
        if (pending instanceof Promise) check(name, inputs);
        const declarationOf = parseOnce();
        const urn = await new Promise<string>((resolve) => this.urn.apply(resolve));
        const build = (value: unknown): Manifest[] => manifestsOf(name, declarationOf(value)).map((manifest) => writtenBy(urn, manifest));
        const items = trackItems(inputs, build, slotOf, (manifest) => manifest.key);
        const { shown, hidden } = split(items);
        for (const { plain, uncertainBy } of hidden) {
            await pulumi.log.warn(`${subjectOf(name)}: ${plain.role} is left out of this preview, since it depends on ${uncertainBy.map(({ path }) => formatPath(path)).join(", ")}, which is not known yet; an object that exists is shown as a deletion.`, this);
        }
        const settleTime = pulumi.output(track(inputs, (value) => milliseconds(declarationOf(value).settleTime)));
        registerObjects({ component: this, urn }, name, settleTime, shown);
        const data = {
            host: track(inputs, (value) => declarationOf(value).host),
            plan: track(inputs, (value) => planOf(declarationOf(value)) as unknown as HostPlan),
            objects: track(inputs, (value) => manifestsOf(name, declarationOf(value)).map(describe).filter((_, index) => items[index]?.uncertainBy.length === 0)),
        };
        // Here and not in the constructor: outputs of a refused declaration would report its error a second time.
        this.registerOutputs(data);
        return data;
    }
}

const subjectOf = (name: string): string => `ExternalEgressHost ${JSON.stringify(name)}`;

/** The one validator, for plain values at once and for Outputs once they have resolved. */
function check(name: string, inputs: ResolvedInputs): void {
    const result = checkDeclaration(inputs.value, unknownPaths(inputs));
    if (!result.ok) throw new DeclarationError(subjectOf(name), describeProblems(result.problems, inputs.leaves));
}

/** Reads declarations, each arguments object once for all that is built from it. */
function parseOnce(): (args: unknown) => Declaration {
    const parsed = new WeakMap<object, Declaration>();
    return (args) => {
        if (typeof args !== "object" || args === null) return fillDefaults(args);
        const declaration = parsed.get(args) ?? fillDefaults(args);
        parsed.set(args, declaration);
        return declaration;
    };
}

/** Which manifests of two builds are the same one: by part, and by their order within it. */
function slotOf(manifest: Manifest, list: readonly Manifest[]): string {
    return `${manifest.role}#${list.filter(({ role }) => role === manifest.role).indexOf(manifest)}`;
}

function split(items: readonly TrackedItem<Manifest>[]): { shown: readonly TrackedItem<Manifest>[]; hidden: readonly TrackedItem<Manifest>[] } {
    return { shown: items.filter((item) => item.uncertainBy.length === 0), hidden: items.filter((item) => item.uncertainBy.length > 0) };
}

interface Parent {
    readonly component: ExternalEgressHost;
    readonly urn: string;
}

/**
 * The URNs of an object under the API versions that it may have been created with before. As texts: an alias given by its
 * type costs the SDK a dozen promises for each.
 */
function formerUrns({ urn }: Parent, kind: string, name: string): string[] {
    const [root = "", project = "", parentType = ""] = urn.split("::");
    const stack = root.slice(root.lastIndexOf(":") + 1);
    return formerApiVersions(kind).map((version) => `urn:pulumi:${stack}::${project}::${parentType}$kubernetes:${version}:${kind}::${name}`);
}

function registerObjects(parent: Parent, name: string, settleTime: pulumi.Output<number>, items: readonly TrackedItem<Manifest>[]): void {
    const settle = new Settle(settleTime);
    const written: pulumi.Resource[] = [];
    for (const { plain, value } of items) {
        const { apiVersion, kind } = plain.object, { metadata, spec } = (value as Manifest).object;
        const resourceName = `${name}-${plain.key}`;
        const resource = new k8s.apiextensions.CustomResource(resourceName, { apiVersion, kind, metadata, spec }, {
            parent: parent.component,
            aliases: formerUrns(parent, kind, resourceName),
            hooks: plain.movesTraffic ? settle.waits : settle.changes,
            ...(plain.movesTraffic ? { dependsOn: [...written] } : {}),
        });
        written.push(resource);
    }
}

function describe({ role, object }: Manifest): EgressObject {
    return { kind: object.kind, apiVersion: object.apiVersion, namespace: object.metadata.namespace, name: object.metadata.name, role };
}
