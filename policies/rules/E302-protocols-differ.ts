// E302: one port of one host with two protocols, for proxies that see both.
import { isTls } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { meetings } from "../views/meetings";
import { type EntryHost, type EntryPort, entryHosts, groupBy } from "../views/service-entries";
import { who } from "../views/words";

interface HostPort extends Pick<EntryHost, "object" | "host" | "shown" | "viewers"> {
    readonly port: EntryPort;
}

export const protocolsDiffer: SetRule = {
    code: "E302",
    name: "protocols-differ",
    level: "mandatory",
    severity: "high",
    description: "A port of a host must have one protocol in all ServiceEntries that one proxy sees.",
    remediation: "Give the port the protocol that the application speaks in every ServiceEntry: TLS where it does TLS itself.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    checkSet(mesh) {
        const hostPorts = entryHosts(mesh).flatMap(({ object, host, shown, viewers, ports }): HostPort[] => ports.map((port) => ({ object, host, shown, viewers, port })));
        return [...groupBy(hostPorts, ({ host, port }) => `${host}:${port.number}`).values()].flatMap((group) => meetings(group).flatMap(({ first, second, viewers }): SetVerdict[] => {
            const theirs = first.port.protocol, ours = second.port.protocol;
            if (theirs === UNKNOWN || ours === UNKNOWN || theirs === "" || ours === "" || first.object === second.object || spoken(theirs) === spoken(ours)) return [];
            const path = [...second.port.path, "protocol"];
            return [{
                object: second.object, path,
                text: `is ${second.object.show(path, ours)} for port ${second.port.number} of ${second.shown}, but ${first.object.label} says ${first.object.show([...first.port.path, "protocol"], theirs)}, and proxies of ${who(viewers)} see both: one listener cannot do both, and one of them is dropped without a word. `
                    + "Write the protocol that the application speaks in both.",
            }];
        }));
    },
};

/** HTTPS and TLS are both routed by SNI. */
const spoken = (protocol: string): string => (isTls(protocol) ? "TLS" : protocol);
