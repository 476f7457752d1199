// E301: two ServiceEntries of one host that some proxy sees together and that do not merge.
import { Resolution } from "../../model/resolution";
import { sameExport } from "../../model/preflight";
import { isNobody } from "../../model/visibility";
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { type Meeting, meetings } from "../views/meetings";
import { type EntryHost, entryHosts, groupBy } from "../views/service-entries";
import { importing } from "../views/sidecars";
import { who } from "../views/words";

export const hostTwice: SetRule = {
    code: "E301",
    name: "host-twice",
    level: "mandatory",
    severity: "high",
    description: "A host must have one ServiceEntry among those that one proxy sees; two merge only when resolution, labels, selector and exportTo are equal.",
    remediation: "Make them one object with the ports of both, or export each to namespaces of its own.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return [...groupBy(entryHosts(mesh), ({ host }) => host).values()].flatMap((entries) => meetings(entries).flatMap((meeting): SetVerdict[] => {
            const { first, second } = meeting;
            if (first.object === second.object) return [];
            const places = [first.object.namespace, second.object.namespace].filter((place): place is string => place !== UNKNOWN);
            const viewers = importing(mesh, meeting.viewers, first.host, places);
            if (isNobody(viewers)) return [];
            const why = conflict(meeting);
            if (why === undefined) return [];
            return [{
                object: second.object, path: second.path,
                text: `is ${second.shown}, which ${first.object.label} names too, and proxies of ${who(viewers)} see both: ${why}. Make them one object with the ports of both, or export each to namespaces of its own.`,
            }];
        }));
    },
};

/** A protocol that is not written is detected, and so may be the other's. */
function mayBeAlike(one: string | typeof UNKNOWN, other: string | typeof UNKNOWN): boolean {
    return one !== UNKNOWN && other !== UNKNOWN && (one === other || one === "" || other === "");
}

/** Why two entries of one host do not live side by side; undefined where they do, or where that is not known. */
function conflict({ first, second }: Meeting<EntryHost>): string | undefined {
    if (first.resolution === UNKNOWN || second.resolution === UNKNOWN) return undefined;
    if (first.resolution !== second.resolution) return `with resolution ${String(first.resolution)} there and ${String(second.resolution)} here they do not merge, and one shadows the other`;
    if (first.resolution === Resolution.DnsRoundRobin) return `under ${Resolution.DnsRoundRobin} two entries of one host break or shadow each other`;
    const shared = first.ports.filter((port) => second.ports.some((other) => other.number === port.number));
    // A port whose protocols differ is E302's; twice the same under NONE changes nothing.
    const alike = shared.filter((port) => second.ports.some((other) => other.number === port.number && mayBeAlike(port.protocol, other.protocol)));
    const [port] = alike;
    if (port !== undefined && first.resolution !== Resolution.None) return `both hold port ${port.number}, which is then served by the addresses of one of them, or of both`;
    const exports = [first, second].map(({ object }) => object.texts(["spec", "exportTo"]));
    const [one, other] = exports;
    if (shared.length === 0 && one !== UNKNOWN && other !== UNKNOWN && !sameExport(one ?? ["*"], other ?? ["*"])) return "their exportTo differ, so that they do not merge, and the ports of one are missing where the other wins";
    return undefined;
}
