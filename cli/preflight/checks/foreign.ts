// Which objects are this project's own, and what the others say: the material of the checks for objects in the way.
import { ALL_CONSUMERS, ANNOTATIONS, type Declaration, type IstioKind } from "../../../model";
import { isVisible } from "../../../model/preflight";
import { type Needs, type ObjectNeed, gatewayOf } from "../needs";
import type { IstioObject, Snapshot } from "../snapshot";
import { strings, text } from "./mesh-values";

export type Declared = Needs["declarations"][number];

export const titleOf = ({ kind, namespace, name }: IstioObject): string => `${kind} ${namespace}/${name}`;

/** The declaration that an object of this project's was written for; undefined for an object of others. Labels may be overridden. */
export const ownerOf = ({ annotations }: IstioObject): string | undefined => annotations[ANNOTATIONS.declaration];

/** Objects of others, without those that stand where one of ours will: these are a finding of their own. */
export function foreign(kind: IstioKind, needs: Needs, { objects }: Pick<Snapshot, "objects">): readonly IstioObject[] {
    const places = new Set(needs.objects.map(placeOf));
    return objects[kind].objects.filter((object) => ownerOf(object) === undefined && !places.has(placeOf(object)));
}

export const placeOf = ({ kind, namespace, name }: IstioObject | ObjectNeed): string => `${kind} ${namespace}/${name}`;

export function exportOf({ spec }: IstioObject): readonly string[] {
    return strings(spec["exportTo"]);
}

export function hostOf({ spec }: IstioObject): string {
    return text(spec["host"]) ?? "";
}

/** The namespaces whose proxies have something to do with a host; `*` for all. */
export function viewersOf(declaration: Declaration): readonly string[] {
    const gateway = gatewayOf(declaration), consumers = consumersOf(declaration);
    return consumers.includes(ALL_CONSUMERS) ? [ALL_CONSUMERS] : gateway === undefined ? consumers : [gateway.namespace, ...consumers];
}

export const consumersOf = ({ consumers }: Declaration): readonly string[] => consumers.map(({ namespace }) => namespace);

/** The viewers that see an object; with all as viewers, whoever sees it. */
export function seenBy({ namespace, ...object }: IstioObject, viewers: readonly string[], meshDefault: readonly string[]): readonly string[] {
    const exportTo = exportOf({ namespace, ...object });
    if (!viewers.includes(ALL_CONSUMERS)) return [...new Set(viewers)].filter((viewer) => isVisible(exportTo, namespace, viewer, meshDefault));
    const words = exportTo.length === 0 ? meshDefault : exportTo;
    return words.includes("~") && !words.includes("*") ? [] : words.map((word) => (word === "." ? namespace : word));
}
