// E303: TCP ports without addresses: nothing on the wire tells the hosts apart, so that the port belongs to one of them.
import { isTcp } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { SetRule, SetVerdict } from "../rule";
import { UNKNOWN } from "../plain";
import { gatewayNamespaces } from "../views/gateway-places";
import { meetings } from "../views/meetings";
import { type Leg, gatewayLegsOf } from "../views/routes";
import { type EntryHost, type EntryPort, entryHosts, groupBy } from "../views/service-entries";
import { who } from "../views/words";

interface HostPort extends EntryHost {
    readonly port: EntryPort;
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
        const bare = entryHosts(mesh).filter(({ object, isExternal }) => isExternal && object.at(["spec", "addresses"]) === undefined)
            .flatMap((entry): HostPort[] => entry.ports.filter(({ protocol }) => protocol !== UNKNOWN && isTcp(protocol)).map((port) => ({ ...entry, port })))
            .filter((entry) => !isForGateways(mesh, entry));
        return [...groupBy(bare, ({ port }) => String(port.number)).values()].flatMap((group) => {
            const pairs = new Map(meetings(group).filter(({ first, second }) => first.host !== second.host).map((meeting) => [meeting.second, meeting]));
            return group.map((item): SetVerdict => {
                const { object, shown, port } = item, path = ["spec", "addresses"], meeting = pairs.get(item);
                const name = `the TCP port ${port.number} of ${shown}`;
                if (meeting !== undefined) {
                    return {
                        object, path, level: allocatable(item) && allocatable(meeting.first) ? "advisory" : undefined,
                        text: `is missing for ${name}, and ${meeting.first.object.label} has the same port without addresses for ${meeting.first.shown}, seen together by ${who(meeting.viewers)}: each listens on the whole port, and the older one gets the connections of both${hope(item)}. List the addresses that applications dial in both.`,
                    };
                }
                return {
                    object, path, level: "advisory",
                    text: `is missing for ${name}: without them the proxy takes every connection to that port, whatever its address, for this host${hope(item)}. List the addresses that applications dial.`,
                };
            });
        });
    },
};

/** Whether none but gateways that route to the host see it, as far as is known: they listen by their Gateways' servers, and nobody dials them by the host's address. */
function isForGateways(mesh: Mesh, { host, viewers }: EntryHost): boolean {
    if (viewers === UNKNOWN) return true; // Nobody can tell who sees it.
    if (viewers === "everywhere" || viewers.size === 0) return false;
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
const allocatable = ({ host, resolution }: EntryHost): boolean => !host.startsWith("*") && resolution !== "NONE";

const hope = (entry: EntryHost): string => (allocatable(entry) ? ", unless the proxies capture DNS and so use the address that istiod allocates" : "");
