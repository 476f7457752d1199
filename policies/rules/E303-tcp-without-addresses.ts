// E303: TCP ports without addresses: nothing on the wire tells the hosts apart, so that the port belongs to one of them.
import { isTcp } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import type { Viewers } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import type { SetRule, SetVerdict } from "../rule";
import { UNKNOWN, type Unknown } from "../plain";
import { gatewayNamespaces } from "../views/gateway-places";
import { type Meeting, meetings } from "../views/meetings";
import { type Leg, gatewayLegsOf } from "../views/routes";
import { type EntryHost, entryHosts, groupBy } from "../views/service-entries";
import { enumerate, who } from "../views/words";

/** One port of one entry, for all the hosts of the entry that are dialled on it. */
interface BarePort {
    readonly object: MeshObject;
    readonly port: number;
    readonly hosts: readonly [EntryHost, ...EntryHost[]];
    readonly viewers: Viewers | Unknown;
}

export const tcpWithoutAddresses: SetRule = {
    code: "E303",
    name: "tcp-without-addresses",
    level: "mandatory",
    severity: "high",
    description: "A ServiceEntry with TCP ports must have the addresses that applications dial.",
    remediation: "List what applications dial under spec.addresses, or declare the port as TLS where the application begins with TLS.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return [...groupBy(barePorts(mesh), ({ port }) => String(port)).values()].flatMap((group) => {
            const pairs = new Map(meetings(group).filter(({ first, second }) => !isSameHost(first, second)).map((meeting) => [meeting.second, meeting]));
            return group.map((item) => verdictOf(item, pairs.get(item)));
        });
    },
};

function barePorts(mesh: Mesh): readonly BarePort[] {
    const found = new Map<MeshObject, Map<number, BarePort>>();
    for (const entry of entryHosts(mesh)) {
        const { object, ports, viewers } = entry;
        if (!entry.isExternal || object.at(["spec", "addresses"]) !== undefined || isForGateways(mesh, entry)) continue;
        const byPort = found.get(object) ?? new Map<number, BarePort>();
        found.set(object, byPort);
        for (const { number } of ports.filter(({ protocol }) => protocol !== UNKNOWN && isTcp(protocol))) {
            const former = byPort.get(number);
            byPort.set(number, { object, port: number, viewers, hosts: former === undefined ? [entry] : [...former.hosts, entry] });
        }
    }
    return [...found.values()].flatMap((byPort) => [...byPort.values()]);
}

function verdictOf(item: BarePort, meeting: Meeting<BarePort> | undefined): SetVerdict {
    const { object, port, hosts } = item, path = ["spec", "addresses"], name = `the TCP port ${port} of ${shown(item)}`, isOne = hosts.length === 1;
    if (meeting !== undefined) {
        const { first, viewers } = meeting;
        return {
            object, path, level: isAllocatable(item) && isAllocatable(first) ? "advisory" : undefined,
            text: `is missing for ${name}, and ${first.object.label} has the same port without addresses for ${shown(first)}, seen together by ${who(viewers)}: each listens on the whole port, and the older one gets the connections of both${hope(item)}. List the addresses that applications dial in both.`,
        };
    }
    return {
        object, path, level: isOne || isAllocatable(item) ? "advisory" : undefined,
        text: `is missing for ${name}: without them the proxy takes every connection to that port, whatever its address, for ${isOne ? "this host" : "one of them"}${hope(item)}. ${isOne ? "List the addresses that applications dial." : "Give each host an entry of its own with the addresses that applications dial."}`,
    };
}

const shown = ({ hosts }: BarePort): string => enumerate(hosts.map((host) => host.shown));

/** Two views of one host, which are no two hosts on one port. */
const isSameHost = (one: BarePort, other: BarePort): boolean => one.hosts.length === 1 && other.hosts.length === 1 && one.hosts[0].host === other.hosts[0].host;

/** Whether none but gateways that route to the host see it, as far as is known: they listen by their Gateways' servers, and nobody dials them by the host's address. */
function isForGateways(mesh: Mesh, { host, viewers }: EntryHost): boolean {
    if (viewers === UNKNOWN) return true; // Nobody can tell who sees it.
    if (viewers === "everywhere" || viewers.size === 0) return false;
    if (!mesh.isSure("VirtualService")) return true; // Nobody can tell what leads there.
    const places = new Set((legsByDestination(mesh).get(host) ?? []).flatMap((leg) => [...gatewayNamespaces(mesh, leg), ...besideGateways(leg)]));
    return [...viewers].every((viewer) => places.has(viewer));
}

/** The legs of gateways by where they lead, so that judging stays linear in the objects. */
function legsByDestination(mesh: Mesh): ReadonlyMap<string, readonly Leg[]> {
    return mesh.once("gateway legs by destination", () => {
        const led = gatewayLegsOf(mesh).flatMap((leg) => [...new Set(leg.destinations.map(({ host }) => host))].map((host) => ({ host, leg })));
        return new Map([...groupBy(led, ({ host }) => host)].map(([host, group]) => [host, group.map(({ leg }) => leg)]));
    });
}

/** Without a mesh leg nothing says which Service it is; a Gateway is usually written beside its pods. */
const besideGateways = ({ gateways }: Leg): readonly string[] => gateways.map((gateway) => gateway.slice(0, gateway.indexOf("/")));

/** Istio allocates an address for an exact host that is resolved; a proxy uses it where it also answers the application's DNS queries. */
const isAllocatable = ({ hosts }: BarePort): boolean => hosts.every(({ host, resolution }) => !host.startsWith("*") && resolution !== "NONE");

const hope = (item: BarePort): string => (isAllocatable(item) ? `, unless the proxies capture DNS and so use the ${item.hosts.length === 1 ? "address" : "addresses"} that istiod allocates` : "");
