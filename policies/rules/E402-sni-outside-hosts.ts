// E402: a tls match whose SNI is not among the hosts of its VirtualService, which Istio rejects.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { covers } from "../../model/preflight";
import { noConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import type { Finding, ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";

export const sniOutsideHosts: ObjectRule = {
    code: "E402",
    name: "sni-outside-hosts",
    level: "mandatory",
    severity: "high",
    description: "Every name under sniHosts must be among the hosts of its VirtualService, or below a wildcard of them.",
    remediation: "Add the name to spec.hosts, or move the match into a VirtualService of that host.",
    remediates: false,
    kinds: ["VirtualService"],
    configuration: noConfiguration,
    check(object) {
        const hosts = object.texts(["spec", "hosts"]);
        if (hosts === undefined || hosts === UNKNOWN) return [];
        return object.indexes(["spec", "tls"]).flatMap((route) => object.indexes(["spec", "tls", route, "match"])
            .flatMap((match) => judgeMatch(object, hosts, ["spec", "tls", route, "match", match, "sniHosts"])));
    },
};

function judgeMatch(object: MeshObject, hosts: readonly string[], list: Path): readonly Finding[] {
    return object.indexes(list).flatMap((index): Finding[] => {
        const path = [...list, index], sni = object.text(path);
        if (typeof sni !== "string" || hosts.some((host) => isWithin(sni, host))) return [];
        const shown = hosts.map((host, at) => object.show(["spec", "hosts", at], host));
        return [{
            path,
            text: `is ${object.show(path, sni)}, which is not among spec.hosts (${shown.slice(0, 5).join(", ")}${shown.length > 5 ? " and more" : ""}): Istio's webhook rejects the object, and applied without it the match takes nothing. Add it to spec.hosts, or give that host a VirtualService of its own.`,
        }];
    });
}

/** `*.a.example` is within `*.example`, and so is `b.a.example`; spelling is E208's. */
function isWithin(sni: string, host: string): boolean {
    return host === "*" || normaliseHost(sni) === normaliseHost(host) || covers(host, sni);
}
