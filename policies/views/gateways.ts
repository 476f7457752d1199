// Gateways as servers: one line per server, with the pods that it configures.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { covers, hasLabels } from "../../model/preflight";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN, type Unknown, isObject } from "../plain";
import { groupBy } from "./service-entries";

export interface ServerHost {
    readonly name: string;
    readonly shown: string;
    readonly path: Path;
}

export interface Server {
    readonly object: MeshObject;
    /** `namespace/name`, as VirtualServices name it. */
    readonly gateway: string;
    readonly path: Path;
    readonly port: number;
    /** In capitals. */
    readonly protocol: string | Unknown;
    /** The TLS mode; undefined without TLS. */
    readonly mode: string | undefined | Unknown;
    readonly hosts: readonly ServerHost[];
    /** The labels of the pods that it configures; undefined where they are not known. */
    readonly selector: Readonly<Record<string, string>> | undefined;
    /** What two servers of the same pods have in common; empty where the pods are not known. */
    readonly pods: string;
}

export function servers(mesh: Mesh): readonly Server[] {
    return mesh.once("servers", () => mesh.of("Gateway").flatMap((object) => serversOf(object)));
}

function serversOf(object: MeshObject): readonly Server[] {
    const { name, namespace } = object;
    if (name === UNKNOWN || namespace === UNKNOWN) return [];
    const selector = labelsAt(object, ["spec", "selector"]);
    const pods = selector === undefined ? "" : JSON.stringify(Object.entries(selector).sort(([one], [other]) => (one < other ? -1 : 1)));
    return object.indexes(["spec", "servers"]).flatMap((index): Server[] => {
        const path = ["spec", "servers", index], port = object.number([...path, "port", "number"]), protocol = object.text([...path, "port", "protocol"]);
        if (typeof port !== "number") return [];
        const tls = object.at([...path, "tls"]);
        return [{
            object, gateway: `${namespace}/${name}`, path, port, selector, pods,
            protocol: typeof protocol === "string" ? protocol.toUpperCase() : UNKNOWN,
            // PASSTHROUGH is the value of an absent mode (Istio's API: it is the enum's first).
            mode: tls === undefined ? undefined : object.text([...path, "tls", "mode"]) ?? "PASSTHROUGH",
            hosts: hostsOf(object, [...path, "hosts"]),
        }];
    });
}

/** `egress/api.partner.example`, `./api.partner.example` → `api.partner.example`. */
export function withoutNamespace(host: string): string {
    return normaliseHost(host.slice(host.indexOf("/") + 1));
}

function hostsOf(object: MeshObject, list: Path): readonly ServerHost[] {
    return object.indexes(list).flatMap((index) => {
        const path = [...list, index], host = object.text(path);
        return typeof host === "string" ? [{ name: withoutNamespace(host), shown: object.show(path, withoutNamespace(host)), path }] : [];
    });
}

/** The labels of a map; undefined where it is absent, empty, or not known. */
export function labelsAt(object: MeshObject, path: Path): Readonly<Record<string, string>> | undefined {
    const map = object.at(path);
    if (!isObject(map)) return undefined;
    const entries = Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return entries.length === 0 || entries.length < Object.keys(map).length ? undefined : Object.fromEntries(entries);
}

/** The servers of a Gateway, by `namespace/name`. */
export function serversOfGateway(mesh: Mesh, gateway: string): readonly Server[] {
    return mesh.once("servers by gateway", () => groupBy(servers(mesh), (server) => server.gateway)).get(gateway) ?? [];
}

/** The servers that take a host: by its name, or by a wildcard over it. */
export function serversFor(mesh: Mesh, host: string): readonly Server[] {
    const exact = mesh.once("servers by host", () => {
        const index = new Map<string, Server[]>();
        for (const server of servers(mesh)) for (const { name } of server.hosts) index.set(name, [...(index.get(name) ?? []), server]);
        return index;
    });
    const wild = mesh.once("wildcard servers", () => servers(mesh).filter(({ hosts }) => hosts.some(({ name }) => name.startsWith("*"))));
    const name = normaliseHost(host), named = exact.get(name) ?? [];
    return [...named, ...wild.filter((server) => !named.includes(server) && server.hosts.some((one) => covers(one.name, name)))];
}

/** The Services that stand before a server's pods, as their selectors tell. */
export function servicesOf(mesh: Mesh, { selector }: Server): readonly MeshObject[] {
    if (selector === undefined) return [];
    const key = JSON.stringify(selector);
    return mesh.once(`services of ${key}`, () => mesh.of("Service").filter((service) => {
        const labels = labelsAt(service, ["spec", "selector"]);
        return labels !== undefined && (hasLabels(labels, selector) || hasLabels(selector, labels));
    }));
}
