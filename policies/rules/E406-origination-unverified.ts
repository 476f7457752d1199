// E406: TLS origination to an external host that verifies nothing, or sends no SNI.
import { isTcp } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import { trafficPolicies } from "../outlier";
import { UNKNOWN, isObject } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { hostRules } from "../views/destination-rules";
import { namespaceOfService } from "../views/routes";
import { type EntryHost, entriesOf, mayMeet } from "../views/service-entries";
import type { Path } from "../../model/problem";

/** The modes in which the proxy begins TLS of its own with the host. */
const ORIGINATES = ["SIMPLE", "MUTUAL"];

export const originationUnverified: SetRule = {
    code: "E406",
    name: "origination-unverified",
    level: "mandatory",
    severity: "critical",
    description: "TLS that a proxy begins with an external host must verify the server, and send its name as SNI.",
    remediation: "Remove insecureSkipVerify (the system's roots are used where caCertificates is unset), and set sni where the port carries no HTTP.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return hostRules(mesh).flatMap(({ object, host, shown, viewers }): SetVerdict[] => {
            if (!host.includes(".") || namespaceOfService(mesh, host) !== undefined) return [];
            const entries = entriesOf(mesh, host).filter((entry) => entry.isExternal && mayMeet(viewers, entry.viewers));
            return tlsBlocks(object).flatMap(({ path, port }) => judgeBlock(object, path, shown, mesh.isSure("ServiceEntry") && carriedAsTcp(entries, port)));
        });
    },
};

function judgeBlock(object: MeshObject, path: Path, host: string, isOnTcp: boolean): readonly SetVerdict[] {
    const mode = object.text([...path, "mode"]);
    if (typeof mode !== "string" || !ORIGINATES.includes(mode)) return [];
    const skip = [...path, "insecureSkipVerify"], sni = [...path, "sni"], verdicts: SetVerdict[] = [];
    if (object.flag(skip) === true) {
        verdicts.push({ object, path: skip, text: `is true: the proxy talks to whoever answers in place of ${host}, and nobody notices. Remove it; without caCertificates the system's roots are used, and a private CA is named by caCertificates or credentialName.` });
    }
    // For HTTP Istio takes the SNI from the request (read in its sources).
    if (isOnTcp && object.at(sni) === undefined) {
        verdicts.push({ object, path: sni, text: `is unset, and the port of ${host} is carried as TCP, where there is no request to take the name from: the ClientHello has no SNI, and the server's name is not verified. Set sni, and subjectAltNames where the certificate carries another name.` });
    }
    return verdicts;
}

function tlsBlocks(rule: MeshObject): readonly { readonly path: Path; readonly port: number | undefined }[] {
    return trafficPolicies(rule).flatMap(({ path }) => [
        { path: [...path, "tls"], port: undefined },
        ...rule.indexes([...path, "portLevelSettings"]).map((index) => {
            const entry = [...path, "portLevelSettings", index], port = rule.number([...entry, "port", "number"]);
            return { path: [...entry, "tls"], port: typeof port === "number" ? port : undefined };
        }),
    ]).filter(({ path }) => isObject(rule.at(path)));
}

/** Whether every port that a block counts for is known to be plain TCP. */
function carriedAsTcp(entries: readonly EntryHost[], port: number | undefined): boolean {
    const ports = entries.flatMap((entry) => entry.ports.filter(({ number }) => port === undefined || number === port));
    return ports.length > 0 && ports.every(({ protocol }) => protocol !== UNKNOWN && isTcp(protocol));
}
