// What the rules about ServiceEntries share.
import { ANNOTATIONS } from "../model/annotations";
import { normaliseHost } from "../model/host";
import type { Path } from "../model/problem";
import type { MeshObject } from "./objects";
import { UNKNOWN } from "./plain";

export interface Host {
    readonly name: string;
    /** As messages show it. */
    readonly shown: string;
}

/** The distinct hosts that are known, in one spelling; where none is, in a preview or a patch, the one that the object is annotated with. */
export function hostsOf(entry: MeshObject): readonly Host[] {
    const known = hostsAt(entry, ["spec", "hosts"], normaliseHost);
    if (known.length > 0) return known;
    const annotated = entry.annotation(ANNOTATIONS.host);
    if (typeof annotated !== "string") return [];
    const name = normaliseHost(annotated);
    return [{ name, shown: entry.show(["metadata", "annotations", ANNOTATIONS.host], name) }];
}

/** The distinct hosts of a list that are known. */
export function hostsAt(object: MeshObject, list: Path, nameOf: (host: string) => string): readonly Host[] {
    const hosts = new Map<string, Host>();
    for (const index of object.indexes(list)) {
        const host = object.text([...list, index]);
        if (typeof host !== "string") continue;
        const name = nameOf(host);
        if (!hosts.has(name)) hosts.set(name, { name, shown: object.show([...list, index], name) });
    }
    return [...hosts.values()];
}

/** `a`, `a and b`, `a, b and c`; long lists are cut. */
export function listed(hosts: readonly Host[]): string {
    const shown = hosts.slice(0, 5).map((host) => host.shown);
    const rest = hosts.length - shown.length;
    if (rest > 0) return `${shown.join(", ")} and ${rest} more`;
    const last = shown[shown.length - 1] ?? "";
    return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}

/** Endpoints that are all IP addresses leave nothing for DNS to answer; those that are unknown may be. */
export function mayHaveAddressesOnly(object: MeshObject): boolean {
    if (object.at(["spec", "endpoints"]) === UNKNOWN) return true;
    const indexes = object.indexes(["spec", "endpoints"]);
    return indexes.length > 0 && indexes.every((index) => {
        const address = object.text(["spec", "endpoints", index, "address"]);
        return address === UNKNOWN || (address !== undefined && /^[\d.]+$|:/.test(address));
    });
}
