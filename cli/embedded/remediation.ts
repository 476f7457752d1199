// Applies what policies of level `remediate` changed to the resources that a preview shows and writes.
import type { Remediation, Resource } from "./types";
import { maskedObject } from "./values";

/** The real engine does the same before it deploys: the last remediation of a resource gives its inputs. */
export function remediated(resources: readonly Resource[], remediations: readonly Remediation[]): readonly Resource[] {
    if (remediations.length === 0) return resources;
    const inputs = new Map(remediations.map((remediation) => [remediation.urn, remediation.inputs]));
    return resources.map((resource) => {
        const changed = inputs.get(resource.urn);
        if (changed === undefined) return resource;
        const outputs = resource.custom ? changed : resource.wire.outputs;
        return { ...resource, inputs: maskedObject(changed), outputs: maskedObject(outputs), wire: { inputs: changed, outputs } };
    });
}
