// Whether traffic was ever moved to what was not there: the mesh leg of a host without all the objects that it needs.
import { isDeepStrictEqual } from "node:util";
import type { KubernetesObject } from "../support/api-server";
import { declared, meshLegOf } from "./lifecycle";
import type { Objects, PlannedHost } from "./lifecycle";
import type { Entry } from "./lifecycle-journal";

interface Stage {
    readonly leg: string | undefined;
    readonly objects: Objects;
}

function stageOf(host: PlannedHost | undefined): Stage {
    return host === undefined ? { leg: undefined, objects: new Map() } : { leg: meshLegOf(host), objects: declared([host]) };
}

/**
 * The moments, as sentences, at which a mesh leg of one host stood without the others of its objects, from the state `held`
 * on. A leg that the change leaves as it is may stand on the old objects or on the new ones; one that is written, on the
 * new ones as they are to be.
 */
export function unsupported(held: Objects, entries: readonly Entry[], before: PlannedHost | undefined, after: PlannedHost | undefined): readonly string[] {
    const old = stageOf(before), next = stageOf(after);
    const present = new Map<string, KubernetesObject>(held);
    const found: string[] = [];
    const missing = (stage: Stage): string[] => [...stage.objects.keys()].filter((key) => key !== stage.leg && !present.has(key));
    const stale = (stage: Stage): string[] => [...stage.objects].filter(([key, { spec }]) => key !== stage.leg && !isDeepStrictEqual(present.get(key)?.spec, spec)).map(([key]) => key);
    const isAs = (stage: Stage): boolean => stage.leg !== undefined && isDeepStrictEqual(present.get(stage.leg)?.spec, stage.objects.get(stage.leg)?.spec);
    for (const { type, key, object, revision } of entries) {
        if (type === "DELETED") present.delete(key);
        else present.set(key, object);
        if (!old.objects.has(key) && !next.objects.has(key)) continue;
        for (const leg of new Set([old.leg, next.leg])) {
            if (leg === undefined || !present.has(leg)) continue;
            const grounds = [...(leg === old.leg && isAs(old) ? [old] : []), ...(leg === next.leg && isAs(next) ? [next] : [])];
            if (grounds.some((stage) => missing(stage).length === 0)) continue;
            found.push(`at ${String(revision)} ${leg} stands without ${grounds.map((stage) => missing(stage).join(", ")).join(" or ")}`);
        }
        const isWritten = key === next.leg && type !== "DELETED" && object.metadata?.["deletionTimestamp"] === undefined;
        if (isWritten && stale(next).length > 0) found.push(`at ${String(revision)} ${key} is written before ${stale(next).join(", ")}`);
    }
    return found;
}
