// ServiceEntries as proxies see them: one line per host.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { CONNECT_STRATEGY_ANNOTATION, Resolution, isLogicalDns } from "../../model/resolution";
import { covers } from "../../model/preflight";
import { type Viewers, commonViewers, isNobody } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN, type Unknown } from "../plain";

export interface EntryPort {
    readonly number: number;
    /** In capitals; empty where it is absent, since Istio then detects it on the wire. */
    readonly protocol: string | Unknown;
    readonly path: Path;
}

export interface EntryHost {
    readonly object: MeshObject;
    /** In the one spelling. */
    readonly host: string;
    /** As messages show it. */
    readonly shown: string;
    readonly path: Path;
    /** Undefined is NONE. */
    readonly resolution: string | Unknown;
    readonly isExternal: boolean;
    readonly viewers: Viewers | Unknown;
    readonly ports: readonly EntryPort[];
}

/** Every host of every ServiceEntry, as far as it is known. */
export function entryHosts(mesh: Mesh): readonly EntryHost[] {
    return mesh.once("entry hosts", () => mesh.of("ServiceEntry").flatMap((object) => {
        const resolution = resolutionIn(object), viewers = mesh.viewers(object), ports = portsOf(object), isOutside = isExternal(object);
        return object.indexes(["spec", "hosts"]).flatMap((index): EntryHost[] => {
            const path = ["spec", "hosts", index], written = object.text(path);
            if (typeof written !== "string") return [];
            const host = normaliseHost(written);
            return [{ object, host, shown: object.show(path, host), path, resolution, isExternal: isOutside, viewers, ports }];
        });
    }));
}

/** MESH_EXTERNAL is the value of an absent location; entries for workloads of the mesh select them by label. */
export function isExternal(entry: MeshObject): boolean {
    const location = entry.text(["spec", "location"]);
    return (location === undefined || location === "MESH_EXTERNAL") && entry.at(["spec", "workloadSelector"]) === undefined;
}

/** NONE is the value of an absent resolution. */
export function resolutionIn(entry: MeshObject): string | Unknown {
    return entry.text(["spec", "resolution"]) ?? "NONE";
}

/** Whether Envoy gets LOGICAL_DNS for an entry, by its resolution or by the annotation. */
export function isLogical({ object, resolution }: Pick<EntryHost, "object" | "resolution">): boolean {
    const strategy = object.annotation(CONNECT_STRATEGY_ANNOTATION);
    return resolution !== UNKNOWN && isLogicalDns(resolution, strategy === UNKNOWN ? {} : { [CONNECT_STRATEGY_ANNOTATION]: strategy });
}

/** The entries that name a host exactly. */
export function entriesOf(mesh: Mesh, host: string): readonly EntryHost[] {
    const index = mesh.once("entries by host", () => groupBy(entryHosts(mesh), (entry) => entry.host));
    return index.get(normaliseHost(host)) ?? [];
}

/** The entries that name a host exactly or by a wildcard. */
export function entriesFor(mesh: Mesh, host: string): readonly EntryHost[] {
    const wildcards = mesh.once("wildcard entries", () => entryHosts(mesh).filter((entry) => entry.host.startsWith("*")));
    return [...entriesOf(mesh, host), ...wildcards.filter((entry) => entry.host !== normaliseHost(host) && covers(entry.host, host))];
}

/** Whether some proxy may see both; what is not known may be. */
export function mayMeet(one: Viewers | Unknown, other: Viewers | Unknown): boolean {
    return one !== UNKNOWN && other !== UNKNOWN && !isNobody(commonViewers(one, other));
}

/** The entries of a host that a proxy may see beside what these viewers see. */
export function entriesMet(mesh: Mesh, host: string, viewers: Viewers | Unknown): readonly EntryHost[] {
    return entriesOf(mesh, host).filter((entry) => mayMeet(viewers, entry.viewers));
}

/** Whether Envoy may keep a list of a host's addresses from DNS: STRICT_DNS by one of its entries, or none is at hand. */
export function mayBeDnsList(entries: readonly EntryHost[]): boolean {
    return entries.length === 0 || entries.some((entry) => entry.resolution === Resolution.Dns && !isLogical(entry));
}

export function portsOf(entry: MeshObject): readonly EntryPort[] {
    return entry.indexes(["spec", "ports"]).flatMap((index): EntryPort[] => {
        const path = ["spec", "ports", index], number = entry.number([...path, "number"]), protocol = entry.text([...path, "protocol"]);
        if (typeof number !== "number") return [];
        return [{ number, protocol: protocol === UNKNOWN ? UNKNOWN : (protocol ?? "").toUpperCase(), path }];
    });
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
    const groups = new Map<string, T[]>();
    for (const item of items) {
        const key = keyOf(item), group = groups.get(key);
        if (group === undefined) groups.set(key, [item]);
        else group.push(item);
    }
    return groups;
}
