// E402 at admission: an SNI in a match that is not among the hosts of the VirtualService.
import { sniOutsideHosts } from "../rules/E402-sni-outside-hosts";
import { type Cel, eachPlace, normalised, withName } from "./cel";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const SNI = "sni.example.invalid", SHOWN = 5;
const exampleOf = (hosts: readonly string[]): object => ({
    apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata: { name: "example", namespace: "example" },
    spec: { hosts, tls: [{ match: [{ sniHosts: [SNI] }], route: [] }] },
});
const HOSTS = Array.from({ length: SHOWN + 1 }, (_, index) => `host-${index}.example.invalid`), place = { "spec.tls[0].match[0].sniHosts[0]": "'spec.tls[' + string(i) + '].match[' + string(j) + '].sniHosts[' + string(k) + ']'", [SNI]: "sni" };
const few = findingText(sniOutsideHosts, exampleOf(HOSTS.slice(0, 2)), { ...place, [HOSTS.slice(0, 2).join(", ")]: "object.spec.hosts.join(', ')" });
const many = findingText(sniOutsideHosts, exampleOf(HOSTS), { ...place, [HOSTS.slice(0, SHOWN).join(", ")]: `variables.positions.filter(p, p < ${SHOWN}).map(p, object.spec.hosts[p]).join(', ')` });

/** `isWithin` of the rule. */
function isWithin(sni: Cel, host: Cel): Cel {
    return `(${host} == '*' || ${withName("w", normalised(host), `${withName("n", normalised(sni), "w == '*' || w == n || (w.startsWith('*') && n.endsWith(w.substring(1)) && size(n) >= size(w))")}`)})`;
}

const ROUTES = "object.spec.?tls.orValue([])", MATCHES = "object.spec.tls[i].?match.orValue([])", SNIS = "object.spec.tls[i].match[j].?sniHosts.orValue([])";
const judged = withName("sni", "object.spec.tls[i].match[j].sniHosts[k]", `object.spec.hosts.exists(x, ${isWithin("sni", "x")}) ? '' : size(object.spec.hosts) > ${SHOWN} ? ${many} : ${few}`);

export const sniOutsideHostsAdmission: AdmissionRule = {
    rule: sniOutsideHosts,
    variables: [],
    findings: { own: `!has(object.spec.hosts) ? '' : ${eachPlace(ROUTES, eachPlace(MATCHES, eachPlace(SNIS, judged, "k"), "j"), "i")}` },
};
