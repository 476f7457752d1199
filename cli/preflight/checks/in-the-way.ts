// Objects of others that stand in the way of a declaration: in its objects' places, or with its hosts.
import { type IstioKind, normaliseHost } from "../../../model";
import { covers, hasLabels } from "../../../model/preflight";
import { type Needs, gatewayOf } from "../needs";
import { Group, type Result, Results, Status, enumerate } from "../result";
import type { IstioObject, Snapshot } from "../snapshot";
import { checkAuthorization } from "./authorization";
import { checkFieldOwners } from "./field-owners";
import { type Declared, consumersOf, foreign, ownerOf, placeOf, seenBy, titleOf, viewersOf } from "./foreign";
import { type Values, exportDefault, mapOf, maps, strings, text } from "./mesh-values";
import { checkRules } from "./rules-in-the-way";
import { RESOURCES } from "./permissions";
import { checkSidecars } from "./sidecars";

type Seens = Pick<Snapshot, "objects" | "sidecars" | "policies" | "gatewayPods" | "meshes" | "istioNamespace">;

export function checkInTheWay(needs: Needs, snapshot: Seens): readonly Result[] {
    const kinds = [...new Set(needs.objects.map(({ kind }) => kind))];
    const found = [
        ...checkPlaces(needs, snapshot),
        ...checkFieldOwners(needs, snapshot),
        ...checkEntries(needs, snapshot),
        ...checkRules(needs, snapshot),
        ...checkVirtualServices(needs, snapshot),
        ...checkServers(needs, snapshot),
        ...checkSidecars(needs, snapshot),
        ...checkAuthorization(needs, snapshot),
    ];
    const isClear = found.every(({ status }) => status === Status.Unknown);
    return [...(isClear ? nothingFound(kinds, needs, snapshot) : []), ...found, ...checkSight(kinds, snapshot)];
}

function nothingFound(kinds: readonly IstioKind[], { declarations }: Needs, { objects }: Seens): readonly Result[] {
    // What EnvoyFilters of others patch is not judged, only where they stand.
    const results = new Results("in-the-way", Group.InTheWay), looked = kinds.filter((kind) => kind !== "EnvoyFilter" && objects[kind].unseen.length === 0);
    if (looked.length > 0) results.ok(`${enumerate(looked)} objects`, `of others do not stand in the way of ${enumerate(declarations.map(({ name }) => name))}.`);
    return results.list;
}

/** What could not be listed, all kinds in one finding where the reason is the same. */
function checkSight(kinds: readonly IstioKind[], { objects }: Seens): readonly Result[] {
    const results = new Results("in-the-way", Group.InTheWay), forbidden = kinds.filter((kind) => objects[kind].unseen.some((why) => why.kind === "forbidden"));
    if (forbidden.length > 0) {
        const action = `list ${enumerate(forbidden.map((kind) => RESOURCES[kind]))} in all namespaces`;
        results.unseen(`${enumerate(forbidden)} objects`, { kind: "forbidden", action }, "of others are not all known");
    }
    for (const kind of kinds) {
        const failed = objects[kind].unseen.find((why) => why.kind === "failed");
        if (failed !== undefined) results.unseen(`${kind} objects`, failed, "of others are not all known");
    }
    return results.list;
}

/** An object that stands where one of ours is to be written. */
function checkPlaces(needs: Needs, { objects }: Seens): readonly Result[] {
    const results = new Results("place-taken", Group.InTheWay), all = new Map(Object.values(objects).flatMap((listed) => listed.objects).map((object) => [placeOf(object), object]));
    for (const need of needs.objects) {
        const object = all.get(placeOf(need)), owner = object === undefined ? undefined : ownerOf(object);
        if (object === undefined || owner === need.declaration) continue;
        if (owner === undefined) {
            results.missing(titleOf(object), `exists and was not written by this library, but has the name of an object of ${need.declaration}: up would fail on it, or take it over.`, "Delete it or give it another name; to take it over, import it (pulumi import).");
        } else {
            results.warning(titleOf(object), `was written for the declaration ${owner}, and is now of ${need.declaration}: a new Pulumi name without an alias creates and then deletes the same object.`, "Alias it: docs/pulumi.md, Renames.");
        }
    }
    return results.list;
}

const hasHost = (hosts: readonly string[], host: string): boolean => hosts.some((one) => normaliseHost(one) === normaliseHost(host));

function checkEntries(needs: Needs, snapshot: Seens): readonly Result[] {
    const results = new Results("host-taken", Group.InTheWay), meshDefault = exportDefault(snapshot.meshes, "defaultServiceExportTo");
    for (const object of foreign("ServiceEntry", needs, snapshot)) {
        for (const { name, declaration } of needs.declarations.filter(({ declaration: { host } }) => hasHost(strings(object.spec["hosts"]), host))) {
            const viewers = seenBy(object, viewersOf(declaration), meshDefault);
            if (viewers.length === 0) continue;
            results.missing(titleOf(object), `declares ${declaration.host} too and is seen by ${enumerate(viewers.map(viewer))}, as that of ${name} is: two ServiceEntries of one host break or shadow each other.`,
                "Delete it, or take the host out of it; else limit its exportTo to namespaces that the declaration does not name.");
        }
    }
    return results.list;
}

const viewer = (namespace: string): string => (namespace === "*" ? "all namespaces" : namespace);

/** Sidecars take one VirtualService for a host. */
function checkVirtualServices(needs: Needs, snapshot: Seens): readonly Result[] {
    const results = new Results("route-taken", Group.InTheWay), meshDefault = exportDefault(snapshot.meshes, "defaultVirtualServiceExportTo");
    const routed = needs.declarations.filter(({ declaration }) => gatewayOf(declaration) !== undefined && declaration.active);
    for (const object of foreign("VirtualService", needs, snapshot)) {
        const gateways = strings(object.spec["gateways"]);
        if (gateways.length > 0 && !gateways.includes("mesh")) continue;
        for (const { name, declaration } of routed.filter(({ declaration: { host } }) => hasHost(strings(object.spec["hosts"]), host))) {
            const viewers = seenBy(object, consumersOf(declaration), meshDefault);
            if (viewers.length === 0) continue;
            results.missing(titleOf(object), `routes ${declaration.host} for the sidecars of ${enumerate(viewers.map(viewer))}, as the mesh leg of ${name} will: sidecars take one of the two.`,
                "Delete it, or take the host out of it; while it must stay, declare active: false.");
        }
    }
    return results.list;
}

/** Servers that others put on the same port of the same gateway. */
function checkServers(needs: Needs, snapshot: Seens): readonly Result[] {
    const results = new Results("server-taken", Group.InTheWay);
    for (const object of foreign("Gateway", needs, snapshot)) {
        for (const server of maps(object.spec["servers"])) {
            for (const declared of needs.declarations) judgeServer(object, server, declared, results);
        }
    }
    return results.list.filter(({ object, text: found }, index, all) => all.findIndex((other) => other.object === object && other.text === found) === index);
}

function judgeServer(object: IstioObject, server: Values, { name, declaration }: Declared, results: Results): void {
    const gateway = gatewayOf(declaration), port = mapOf(server["port"]), number = port["number"];
    if (gateway === undefined || !declaration.ports.some((one) => one.number === number) || !sharesPods(object, gateway.selector)) return;
    const protocol = (text(port["protocol"]) ?? "").toUpperCase(), where = `port ${String(number)} of the gateway's pods`;
    if (protocol !== "TLS" && protocol !== "HTTPS") {
        results.missing(titleOf(object), `has a server of protocol ${protocol === "" ? "unknown" : protocol} on ${where}, on which hosts of this catalogue speak TLS: the two do not share a port.`, "Move its server to another port of the gateway.");
        return;
    }
    const hosts = strings(server["hosts"]).map((host) => host.slice(host.indexOf("/") + 1));
    if (hasHost(hosts, declaration.host)) {
        results.missing(titleOf(object), `has a server for ${declaration.host} on ${where}, as ${name} will: istiod drops the later server without a word.`, "Delete its server, or take the host out of it.");
    } else if (hosts.some((host) => covers(host, declaration.host))) {
        const wildcard = hosts.find((host) => covers(host, declaration.host)) ?? "";
        results.warning(titleOf(object), `has a server for ${wildcard} on ${where}, which covers ${declaration.host} of ${name}: with a VirtualService for that host Envoy refuses the whole listener.`, "Narrow its hosts to names that are not declared here.");
    }
}

/** Whether a Gateway's selector takes the pods with these labels; an empty one takes all. */
function sharesPods({ spec }: IstioObject, labels: Readonly<Record<string, string>>): boolean {
    const selector = Object.fromEntries(Object.entries(mapOf(spec["selector"])).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
    return Object.keys(selector).length === 0 || hasLabels(labels, selector);
}
