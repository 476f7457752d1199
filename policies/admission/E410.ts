// E410 at admission: one ISTIO_MUTUAL server of a Gateway that carries several hosts.
import { sharedMutualServer } from "../rules/E410-shared-mutual-server";
import { distinct, eachPlace, listed, normalised, withName } from "./cel";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const NAMES = ["first.example.invalid", "second.example.invalid"], WILDCARD = "*.wild.example.invalid", PLACE = "spec.servers[0]";
const example = (hosts: readonly string[]): object => ({
    apiVersion: "networking.istio.io/v1", kind: "Gateway", metadata: { name: "example", namespace: "example" },
    spec: { servers: [{ port: { number: 443, name: "tls", protocol: "TLS" }, hosts, tls: { mode: "ISTIO_MUTUAL" } }] },
});
const place = { [PLACE]: "'spec.servers[' + string(i) + ']'" };
const several = findingText(sharedMutualServer, example(NAMES), { ...place, [NAMES.join(" and ")]: listed("names") });
const wildcard = findingText(sharedMutualServer, example([WILDCARD]), { ...place, [WILDCARD]: "names.filter(n, n.startsWith('*'))[0]" });

const SERVERS = "object.spec.?servers.orValue([])", SERVER = "object.spec.servers[i]";
const IS_MUTUAL = `${SERVER}.?tls.?mode.orValue('') == 'ISTIO_MUTUAL' && ${SERVER}.?port.?protocol.orValue('').upperAscii() == 'TLS'`;
/** `egress/api.partner.example` and `./api.partner.example` are the host behind the slash. */
const HOSTS = distinct(`${SERVER}.?hosts.orValue([]).map(n, ${normalised("(n.contains('/') ? n.substring(n.indexOf('/') + 1) : n)")})`);

export const sharedMutualServerAdmission: AdmissionRule = {
    rule: sharedMutualServer,
    variables: [],
    findings: {
        own: eachPlace(SERVERS, `${IS_MUTUAL} ? ${withName("names", HOSTS, `names.exists(n, n.startsWith('*')) ? ${wildcard} : size(names) > 1 ? ${several} : ''`)} : ''`),
    },
};
