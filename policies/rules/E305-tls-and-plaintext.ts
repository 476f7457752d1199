// E305: TLS and plaintext servers on one port of one gateway.
import { noConfiguration } from "../configuration";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { type Server, servers } from "../views/gateways";
import { groupBy } from "../views/service-entries";

/** Protocols that a server speaks without a `tls` block. */
const PLAINTEXT = ["HTTP", "HTTP2", "GRPC", "GRPC-WEB", "TCP", "MONGO", "MYSQL", "REDIS"];

export const tlsAndPlaintext: SetRule = {
    code: "E305",
    name: "tls-and-plaintext",
    level: "mandatory",
    severity: "high",
    description: "A port of the gateways that configure the same pods must be TLS or plaintext, not both.",
    remediation: "Give plaintext a port of its own, on the Gateway and on the gateway's Service.",
    remediates: false,
    kinds: ["Gateway"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return [...groupBy(servers(mesh).filter(({ pods }) => pods !== ""), ({ pods, port }) => `${port} ${pods}`).values()].flatMap((group) => {
            const encrypted = group.find(({ mode }) => typeof mode === "string");
            return encrypted === undefined ? [] : group.filter(isPlaintext).map((server): SetVerdict => {
                const path = [...server.path, "port", "protocol"];
                return {
                    object: server.object, path,
                    text: `is ${server.object.show(path, String(server.protocol))}, without tls, on port ${server.port}, on which ${encrypted.object === server.object ? "this Gateway" : encrypted.object.label} has a TLS server for the same pods: a listener is one or the other, and Istio drops what came later. Give plaintext a port of its own.`,
                };
            });
        });
    },
};

const isPlaintext = ({ mode, protocol }: Server): boolean => mode === undefined && protocol !== UNKNOWN && PLAINTEXT.includes(protocol);
