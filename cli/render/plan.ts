// The plan that a component registers as an output, as far as this command reads it.
import type { JsonObject, Resource } from "../embedded/types";
import { isMap } from "../plain";

/** The whole plan of a component, if it has one. */
export function planOf(resource: Resource): JsonObject | undefined {
    const plan = resource.outputs["plan"];
    return !resource.custom && isMap(plan) && Array.isArray(plan["summary"]) ? (plan) : undefined;
}

/** The plan's lines for people. */
export function summaryOf(resource: Resource): string[] {
    const summary = planOf(resource)?.["summary"];
    return Array.isArray(summary) ? summary.map(String) : [];
}
