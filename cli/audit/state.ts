// The objects of a Pulumi state: what `pulumi stack export` prints, and the stack file of a backend of one's own.
import type { Path } from "../../model/problem";
import { MeshObject, meshObjects } from "../../policies/objects";
import { UNKNOWN, isObject, plainCopy } from "../../policies/plain";
import { isMap } from "../plain";
import type { Unpacked } from "./unpack";

/** How the engine marks a secret in a state. */
const SIGNATURE = "4dabf18193072939515e22adb298388d", SECRET = "1b47061264138c4ac30d75fd1eb44270";

export function isState(value: Record<string, unknown>): boolean {
    return resourcesOf(value) !== undefined;
}

export function stateObjects(value: Record<string, unknown>): Unpacked {
    const { path, resources } = resourcesOf(value) ?? { path: [], resources: [] };
    const objects = resources.flatMap((resource, index) => objectsOf(resource, [...path, index]));
    return { objects, total: resources.filter((resource) => isMap(resource) && /^kubernetes:/.test(String(resource["type"]))).length };
}

function resourcesOf(value: Record<string, unknown>): { readonly path: Path; readonly resources: readonly unknown[] } | undefined {
    const { deployment, checkpoint } = value;
    if (isMap(deployment) && Array.isArray(deployment["resources"])) return { path: ["deployment", "resources"], resources: deployment["resources"] };
    const latest = isMap(checkpoint) ? checkpoint["latest"] : undefined;
    if (isMap(latest) && Array.isArray(latest["resources"])) return { path: ["checkpoint", "latest", "resources"], resources: latest["resources"] };
    return undefined;
}

/** A resource whose replacement exists already is on its way out. */
function objectsOf(resource: unknown, path: Path): readonly MeshObject[] {
    if (!isMap(resource) || resource["delete"] === true) return [];
    const { type, urn, outputs, inputs } = resource;
    if (typeof type !== "string" || typeof urn !== "string") return [];
    // What the cluster answered with; a rendered stack, and a resource that is still pending, have only what was asked for.
    const side = isMap(outputs) && (isMap(outputs["metadata"]) || !isMap(inputs)) ? "outputs" : "inputs", properties = side === "outputs" ? outputs : inputs;
    if (!isMap(properties)) return [];
    const secrets: Path[] = [], props = withoutMarks(properties, [], secrets), name = urn.slice(urn.lastIndexOf("::") + 2);
    const isSecret = (at: Path): boolean => secrets.some((secret) => secret.every((key, index) => at[path.length + 1 + index] === key));
    return meshObjects({ type, urn, name, props }).flatMap(({ kind, apiVersion, position, isPatch }) => {
        const body = plainCopy(position.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], props));
        return isObject(body) ? [new MeshObject(kind, apiVersion, [...path, side, ...position], body, isPatch, `the resource ${name}`, isSecret)] : [];
    });
}

/** Encrypted values are unknown; those that the export shows count, and stay out of messages. */
function withoutMarks(value: unknown, path: Path, secrets: Path[]): unknown {
    if (Array.isArray(value)) return value.map((item, index) => withoutMarks(item, [...path, index], secrets));
    if (!isMap(value)) return value;
    if (value[SIGNATURE] === SECRET) {
        secrets.push(path);
        return typeof value["plaintext"] === "string" ? parsed(value["plaintext"]) : UNKNOWN;
    }
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutMarks(part, [...path, key], secrets)]));
}

function parsed(text: string): unknown {
    try {
        return JSON.parse(text) as unknown;
    } catch {
        return UNKNOWN;
    }
}
