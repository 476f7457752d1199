// E206: DYNAMIC_DNS with what it does not take: exact hosts, addresses, endpoints, or protocols without a name on the wire.
import { noConfiguration } from "../configuration";
import type { Finding, ObjectRule } from "../rule";
import { hostsAt, listed } from "../service-entry";
import { normaliseHost } from "../../model/host";
import { UNKNOWN } from "../plain";
import { portsOf } from "../views/service-entries";

export const DYNAMIC_DNS = "DYNAMIC_DNS";
/** Istio's validation of DYNAMIC_DNS (1.30+). */
export const PROTOCOLS = ["HTTP", "HTTP2", "GRPC", "TLS"];

export const dynamicDnsMisused: ObjectRule = {
    code: "E206",
    name: "dynamic-dns-misused",
    level: "mandatory",
    severity: "high",
    description: "A ServiceEntry with resolution DYNAMIC_DNS may have wildcard hosts only, no addresses or endpoints, and ports of protocol HTTP, HTTP2, GRPC or TLS.",
    remediation: "Use resolution DNS or DNS_ROUND_ROBIN for exact hosts; leave out addresses and endpoints; declare HTTPS as TLS.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    check(object) {
        if (object.text(["spec", "resolution"]) !== DYNAMIC_DNS) return [];
        const findings: Finding[] = [], exact = hostsAt(object, ["spec", "hosts"], normaliseHost).filter(({ name }) => !name.startsWith("*"));
        if (exact.length > 0) {
            findings.push({ path: ["spec", "hosts"], text: `holds ${listed(exact)}, but resolution ${DYNAMIC_DNS} takes wildcards only: Istio's webhook rejects it. Set resolution DNS or DNS_ROUND_ROBIN by the kind of pool, or name the wildcard.` });
        }
        for (const field of ["addresses", "endpoints"] as const) {
            if (object.indexes(["spec", field]).length === 0) continue;
            findings.push({ path: ["spec", field], text: `is set, but resolution ${DYNAMIC_DNS} takes each address from DNS, by the name that the application asks for: Istio's webhook rejects it. Leave it out.` });
        }
        for (const { protocol, path } of portsOf(object)) {
            if (protocol === UNKNOWN || protocol === "" || PROTOCOLS.includes(protocol)) continue;
            const field = [...path, "protocol"];
            findings.push({ path: field, text: `is ${object.show(field, protocol)}, but resolution ${DYNAMIC_DNS} takes ${PROTOCOLS.join(", ")} only, which carry the host's name: Istio's webhook rejects it. ${protocol === "HTTPS" ? "Write TLS." : "Declare the host exactly, with resolution DNS."}` });
        }
        return findings;
    },
};
