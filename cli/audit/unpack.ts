// The value of a document → the objects in it that rules read: itself, those of a list, or those of a Pulumi state.
import { type MeshObject, objectsIn, objectsInPlain } from "../../policies/objects";
import type { PlainObject } from "../../policies/plain";
import { isMap } from "../plain";
import { isState, stateObjects } from "./state";

export interface Unpacked {
    /** Each with its position within the document. */
    readonly objects: readonly MeshObject[];
    /** Kubernetes objects of any kind. */
    readonly total: number;
}

const NOTHING: Unpacked = { objects: [], total: 0 };

/**
 * @param origin what tells of an object that has no name: `deploy/hosts.yaml:12`
 * @param isPlain whether the value is plain data that nothing else refers to, and all of it is known
 */
export function unpack(value: unknown, origin: string, isPlain = false): Unpacked {
    if (!isMap(value)) return NOTHING;
    if (isState(value)) return stateObjects(value);
    if (typeof value["kind"] !== "string" || typeof value["apiVersion"] !== "string") return NOTHING;
    return { objects: isPlain ? objectsInPlain(value as PlainObject, origin, true) : objectsIn(value, origin), total: count(value) };
}

function count(value: unknown): number {
    if (!isMap(value)) return 0;
    const { kind, items } = value;
    return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items) ? items.reduce<number>((sum, item) => sum + count(item), 0) : 1;
}
