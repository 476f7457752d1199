// E306 at admission: several hosts with a port on which no connection carries a name.
import { HTTP_PROTOCOLS, TLS_PROTOCOLS } from "../../model/protocol";
import { hostsWithTcp } from "../rules/E306-hosts-with-tcp";
import { eachPlace, listed, literal } from "./cel";
import type { AdmissionRule } from "./rule";
import { ENTRY_VARIABLES, entryOf } from "./service-entry";
import { findingText } from "./template";

const HOSTS = ["first.example.invalid", "second.example.invalid"], PROTOCOL = "variables.ports[i].protocol.upperAscii()", NAMED = [...HTTP_PROTOCOLS, ...TLS_PROTOCOLS];
const text = findingText(hostsWithTcp, entryOf({ hosts: HOSTS, resolution: "DNS", ports: [{ number: 1, name: "a", protocol: "OTHER-PROTOCOL" }] }),
    { "spec.ports[0]": "'spec.ports[' + string(i) + ']'", "OTHER-PROTOCOL": PROTOCOL, [HOSTS.join(" and ")]: listed("variables.hosts") });

export const hostsWithTcpAdmission: AdmissionRule = {
    rule: hostsWithTcp,
    variables: ENTRY_VARIABLES,
    findings: { own: `variables.resolution in ['', 'NONE'] || size(variables.hosts) < 2 ? '' : ${eachPlace("variables.ports", `!has(variables.ports[i].protocol) || ${PROTOCOL} in [${NAMED.map(literal).join(", ")}] ? '' : ${text}`)}` },
};
