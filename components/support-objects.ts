// Registers the objects that belong to no single host: those of a deployed gateway, and those of a lockdown.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type SupportManifest, writtenBy } from "../manifests";
import { formatPath } from "../model";
import type { ResolvedInputs } from "./inputs";
import { trackItems } from "./tracking";

interface Owner {
    readonly component: pulumi.ComponentResource;
    /** `EgressGateway "platform"`, for messages. */
    readonly subject: string;
    readonly name: string;
}

/** The resources by key. What cannot be named yet is left out of a preview, and said so. */
export async function registerSupport({ component, subject, name }: Owner, inputs: ResolvedInputs, build: (args: unknown) => readonly SupportManifest[]): Promise<ReadonlyMap<string, pulumi.Resource>> {
    const made = new Map<string, pulumi.Resource>();
    const urn = await new Promise<string>((resolve) => component.urn.apply(resolve));
    const ours = (args: unknown): readonly SupportManifest[] => build(args).map((manifest) => writtenBy(urn, manifest));
    for (const { plain, value, uncertainBy } of trackItems(inputs, ours, ({ key }) => key, ({ key, object }) => `${key} ${object.metadata.namespace}`)) {
        if (uncertainBy.length > 0) {
            await pulumi.log.warn(`${subject}: the ${plain.object.kind} of ${plain.key} is left out of this preview, since it depends on ${uncertainBy.map(({ path }) => formatPath(path)).join(", ")}, which is not known yet; an object that exists is shown as a deletion.`, component);
            continue;
        }
        const { apiVersion, kind, metadata, ...fields } = (value as SupportManifest).object;
        const dependsOn = (plain.after ?? []).flatMap((key) => made.get(key) ?? []);
        made.set(plain.key, newObject(`${name}-${plain.key}`, { apiVersion, kind, metadata, ...fields }, { parent: component, dependsOn }));
    }
    return made;
}

interface ObjectArgs {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: pulumi.Input<object>;
    readonly [field: string]: unknown;
}

/** The provider knows the core group as core/v1, which the generic class cannot say. */
function newObject(name: string, args: ObjectArgs, options: pulumi.CustomResourceOptions): pulumi.Resource {
    if (args.apiVersion !== "v1") return new k8s.apiextensions.CustomResource(name, args, options);
    return args.kind === "Service" ? new k8s.core.v1.Service(name, args as k8s.core.v1.ServiceArgs, options) : new k8s.core.v1.ServiceAccount(name, args as k8s.core.v1.ServiceAccountArgs, options);
}

/** The same value, known as early, which waits for resources and depends on them: hosts come after these, and go before them. */
export function afterwards<T>(resources: readonly pulumi.Resource[], value: pulumi.Input<T>): pulumi.Output<T> {
    return pulumi.all(resources.map(({ urn }) => urn)).apply(() => value) as pulumi.Output<T>;
}
