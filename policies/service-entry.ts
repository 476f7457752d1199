// What the rules about ServiceEntries share.
import { ANNOTATIONS, normaliseHost } from "../model";
import type { IstioObject } from "./objects";

/** The distinct hosts that are known, in one spelling; where none is, in a preview or a patch, the one that the object is annotated with. */
export function hostsOf(entry: IstioObject): readonly string[] {
    const known = entry.indexes(["spec", "hosts"]).flatMap((index) => {
        const host = entry.text(["spec", "hosts", index]);
        return typeof host === "string" ? [normaliseHost(host)] : [];
    });
    if (known.length > 0) return [...new Set(known)];
    const annotated = entry.annotation(ANNOTATIONS.host);
    return typeof annotated === "string" ? [normaliseHost(annotated)] : [];
}

/** `a`, `a and b`, `a, b and c`; long lists are cut. */
export function listed(hosts: readonly string[]): string {
    const shown = hosts.slice(0, 5);
    const rest = hosts.length - shown.length;
    if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
    const last = shown[shown.length - 1] ?? "";
    return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}
