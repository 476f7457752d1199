// VirtualServices as legs: one line per match of a route, with who it is bound to, what it takes and where it leads.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { fullHost } from "../../model/preflight";
import type { Viewers } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN, type Unknown } from "../plain";
import { groupBy } from "./service-entries";
import { serversFor } from "./gateways";

/** The name by which a VirtualService is bound to all sidecars. */
const SIDECARS = "mesh";

export type RouteKind = "http" | "tls" | "tcp";

export interface Destination {
    /** The full name. */
    readonly host: string;
    readonly shown: string;
    readonly subset: string | undefined;
    readonly port: number | undefined;
    readonly path: Path;
}

export interface Leg {
    readonly object: MeshObject;
    readonly kind: RouteKind;
    /** The route: `spec.tls[0]`. */
    readonly path: Path;
    readonly forSidecars: boolean;
    /** `namespace/name` of each Gateway that it is bound to. */
    readonly gateways: readonly string[];
    /** What it takes: the SNI names of a tls match, the hosts of the object otherwise. */
    readonly hosts: readonly { readonly name: string; readonly shown: string; readonly path: Path }[];
    readonly port: number | undefined;
    readonly destinations: readonly Destination[];
    readonly viewers: Viewers | Unknown;
}

/** Every leg that is known: one whose gateways a preview does not know yet is left out. */
export function legs(mesh: Mesh): readonly Leg[] {
    return mesh.once("legs", () => mesh.of("VirtualService").flatMap((object) => legsOf(mesh, object)));
}

function legsOf(mesh: Mesh, object: MeshObject): readonly Leg[] {
    const { namespace } = object;
    if (namespace === UNKNOWN) return [];
    const own = object.texts(["spec", "gateways"]), hosts = namesAt(object, ["spec", "hosts"]), viewers = mesh.viewers(object);
    return (["http", "tls", "tcp"] as const).flatMap((kind) => object.indexes(["spec", kind]).flatMap((index): Leg[] => {
        const path = ["spec", kind, index], matches = object.indexes([...path, "match"]);
        if (object.at([...path, "match"]) === UNKNOWN) return [];
        const destinations = destinationsOf(mesh, object, path, namespace);
        const make = (match: Path | undefined): Leg[] => {
            const bound = (match === undefined ? undefined : object.texts([...match, "gateways"])) ?? own ?? [SIDECARS];
            const port = match === undefined ? undefined : object.number([...match, "port"]);
            if (bound === UNKNOWN || port === UNKNOWN) return [];
            const sni = match === undefined || kind !== "tls" ? [] : namesAt(object, [...match, "sniHosts"]);
            return [{
                object, kind, path, viewers, destinations, hosts: kind === "tls" && match !== undefined ? sni : hosts,
                forSidecars: bound.includes(SIDECARS), gateways: bound.filter((name) => name !== SIDECARS).map((name) => qualified(name, namespace)),
                port,
            }];
        };
        return matches.length === 0 ? make(undefined) : matches.flatMap((match) => make([...path, "match", match]));
    }));
}

/** `gateway` in its own namespace, `./gateway`, `namespace/gateway`. */
function qualified(name: string, namespace: string): string {
    const [first = "", second] = name.split("/");
    return second === undefined ? `${namespace}/${first}` : `${first === "." ? namespace : first}/${second}`;
}

function namesAt(object: MeshObject, list: Path): Leg["hosts"] {
    return object.indexes(list).flatMap((index) => {
        const path = [...list, index], name = object.text(path);
        return typeof name === "string" ? [{ name: normaliseHost(name), shown: object.show(path, normaliseHost(name)), path }] : [];
    });
}

function destinationsOf(mesh: Mesh, object: MeshObject, route: Path, namespace: string): readonly Destination[] {
    return object.indexes([...route, "route"]).flatMap((index): Destination[] => {
        const path = [...route, "route", index, "destination"], host = object.text([...path, "host"]);
        if (typeof host !== "string") return [];
        const subset = object.text([...path, "subset"]), port = object.number([...path, "port", "number"]), name = fullHost(host, namespace, mesh.domain);
        return subset === UNKNOWN || port === UNKNOWN ? [] : [{ host: name, shown: object.show([...path, "host"], name), subset, port, path }];
    });
}

/** A leg of the sidecars that leads an external host to the Service of an egress gateway. */
export interface Hop {
    readonly leg: Leg;
    readonly host: Leg["hosts"][number];
    readonly destination: Destination;
    /** The namespace of the gateway's Service, and so of its pods. */
    readonly gatewayNamespace: string;
}

/** Every hop to an egress gateway: the gateway, or a leg that is bound to one, must take the same host. */
export function hops(mesh: Mesh): readonly Hop[] {
    return mesh.once("hops", () => {
        const taken = new Set(legs(mesh).filter(({ gateways }) => gateways.length > 0).flatMap(({ hosts }) => hosts.map(({ name }) => name)));
        return legs(mesh).filter(({ forSidecars }) => forSidecars).flatMap((leg) => leg.destinations.flatMap((destination) => {
            const gatewayNamespace = namespaceOfService(mesh, destination.host);
            if (gatewayNamespace === undefined) return [];
            return leg.hosts.filter(({ name }) => namespaceOfService(mesh, name) === undefined && (taken.has(name) || serversFor(mesh, name).length > 0))
                .map((host) => ({ leg, host, destination, gatewayNamespace }));
        }));
    });
}

/** `egress.istio-egress.svc.cluster.local` → `istio-egress`; undefined for a name that is no Service's. */
export function namespaceOfService(mesh: Mesh, host: string): string | undefined {
    const suffix = `.svc.${mesh.domain}`;
    if (!host.endsWith(suffix)) return undefined;
    const [, namespace, ...rest] = host.slice(0, -suffix.length).split(".");
    return rest.length === 0 ? namespace : undefined;
}

/** The legs of gateways that lead to a host, and the namespaces of these gateways, where a hop, or a Service, tells them. */
export function gatewayLegsOf(mesh: Mesh): readonly Leg[] {
    return mesh.once("gateway legs", () => legs(mesh).filter(({ gateways }) => gateways.length > 0));
}

/** The hops of a host. */
export function hopsOf(mesh: Mesh, host: string): readonly Hop[] {
    return mesh.once("hops by host", () => groupBy(hops(mesh), (hop) => hop.host.name)).get(normaliseHost(host)) ?? [];
}
