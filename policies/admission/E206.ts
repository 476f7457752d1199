// E206 at admission: DYNAMIC_DNS with what it does not take.
import { DYNAMIC_DNS, PROTOCOLS, dynamicDnsMisused } from "../rules/E206-dynamic-dns-misused";
import { eachPlace, lines, listed, literal } from "./cel";
import type { AdmissionRule } from "./rule";
import { ENTRY_VARIABLES, EXAMPLE_HOST, entryOf } from "./service-entry";
import { findingText } from "./template";

const WILDCARD = ["*.wild.example.invalid"], of = (spec: object): object => entryOf({ hosts: WILDCARD, resolution: DYNAMIC_DNS, ...spec });
const exact = findingText(dynamicDnsMisused, of({ hosts: [EXAMPLE_HOST] }), { [EXAMPLE_HOST]: listed("variables.hosts.filter(n, !n.startsWith('*'))") });
const addresses = findingText(dynamicDnsMisused, of({ addresses: ["192.0.2.1"] }), {});
const endpoints = findingText(dynamicDnsMisused, of({ endpoints: [{ address: "192.0.2.1" }] }), {});
const port = (protocol: string): object => of({ ports: [{ number: 1, name: "a", protocol }] }), place = { "spec.ports[0]": "'spec.ports[' + string(i) + ']'" };
const https = findingText(dynamicDnsMisused, port("HTTPS"), place);
const other = findingText(dynamicDnsMisused, port("OTHER-PROTOCOL"), { ...place, "OTHER-PROTOCOL": "variables.ports[i].protocol.upperAscii()" });
const PROTOCOL = "variables.ports[i].protocol.upperAscii()";

export const dynamicDnsMisusedAdmission: AdmissionRule = {
    rule: dynamicDnsMisused,
    variables: ENTRY_VARIABLES,
    findings: {
        own: `variables.resolution != ${literal(DYNAMIC_DNS)} ? '' : ${lines([
            `variables.hosts.exists(n, !n.startsWith('*')) ? ${exact} : ''`, `size(object.spec.?addresses.orValue([])) > 0 ? ${addresses} : ''`, `size(variables.endpoints) > 0 ? ${endpoints} : ''`,
            eachPlace("variables.ports", `!has(variables.ports[i].protocol) || ${PROTOCOL} in [${PROTOCOLS.map(literal).join(", ")}] ? '' : ${PROTOCOL} == 'HTTPS' ? ${https} : ${other}`),
        ])}`,
    },
};
