// E306: several hosts in one ServiceEntry with a port on which nothing tells them apart.
import { isHttp, isTls } from "../../model/protocol";
import { normaliseHost } from "../../model/host";
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { ObjectRule } from "../rule";
import { hostsAt, listed } from "../service-entry";
import { portsOf } from "../views/service-entries";

export const hostsWithTcp: ObjectRule = {
    code: "E306",
    name: "hosts-with-tcp",
    level: "mandatory",
    severity: "high",
    description: "A ServiceEntry with several hosts may carry HTTP and TLS ports only, unless its resolution is NONE.",
    remediation: "Give each host with a TCP port a ServiceEntry of its own, with the addresses that applications dial.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    check(object) {
        const resolution = object.text(["spec", "resolution"]), hosts = hostsAt(object, ["spec", "hosts"], normaliseHost);
        if (resolution === UNKNOWN || resolution === undefined || resolution === "NONE" || hosts.length < 2) return [];
        return portsOf(object).filter(({ protocol }) => protocol !== UNKNOWN && protocol !== "" && !isHttp(protocol) && !isTls(protocol)).map(({ protocol, path }) => {
            const field = [...path, "protocol"];
            return {
                path: field,
                text: `is ${object.show(field, String(protocol))}, and the object names ${listed(hosts)}: such a connection carries no name by which the proxy could choose, and Istio's webhook rejects it. Give each host a ServiceEntry of its own, with addresses, or declare the port as TLS if the application begins with TLS.`,
            };
        });
    },
};
