// E410: one ISTIO_MUTUAL server of a Gateway that carries several hosts, so that one host reaches another's server.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { noConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";
import { hostsAt, listed } from "../service-entry";

export const sharedMutualServer: ObjectRule = {
    code: "E410",
    name: "shared-mutual-server",
    level: "mandatory",
    severity: "critical",
    description: "A Gateway server of protocol TLS and mode ISTIO_MUTUAL must carry exactly one host.",
    remediation: "Give each host a server of its own, with its own tcp route in the VirtualService, or use mode PASSTHROUGH, which routes by the application's own SNI.",
    remediates: false,
    kinds: ["Gateway"],
    configuration: noConfiguration,
    check(object) {
        return object.indexes(["spec", "servers"]).flatMap((index) => judgeServer(object, ["spec", "servers", index]));
    },
};

function judgeServer(object: MeshObject, server: Path): readonly Finding[] {
    const protocol = object.text([...server, "port", "protocol"]), mode = object.text([...server, "tls", "mode"]);
    // Under HTTPS the gateway reads the requests and routes each by its own host.
    if (mode !== "ISTIO_MUTUAL" || protocol === UNKNOWN || protocol?.toUpperCase() !== "TLS") return [];
    const field = [...server, "hosts"], hosts = hostsAt(object, field, withoutNamespace);
    const wildcard = hosts.find(({ name }) => name.startsWith("*"));
    if (wildcard === undefined && hosts.length < 2) return [];
    const what = wildcard === undefined ? `lists ${listed(hosts)}` : `holds ${wildcard.shown}, which covers many hosts,`;
    return [{
        path: field,
        text: `${what} under ISTIO_MUTUAL: the mutual TLS ends at the gateway, where nothing tells the hosts apart any more, and all of them go to the server behind the first route `
            + "(measured on the lab with two hosts, istiod 1.31, Envoy 1.39.3: a client of one was connected to the other's server). Give each host a server of its own, each with its tcp route.",
    }];
}

/** `egress/api.partner.example`, `./api.partner.example` → `api.partner.example`. */
function withoutNamespace(host: string): string {
    return normaliseHost(host.slice(host.indexOf("/") + 1));
}
