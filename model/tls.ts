// TLS origination: how a proxy speaks TLS to the host for an application that speaks plain HTTP or TCP.
import { type Declaration, TlsMode } from "./declaration";
import { parseHost } from "./host";
import { originatingPorts } from "./ports";
import { type Path, type Problems, show } from "./problem";
import { usesGateway } from "./routes";

/** Istio's ClientTLSSettings, complete. */
export interface TlsSettings {
    readonly mode: TlsMode;
    readonly sni: string;
    readonly subjectAltNames: readonly string[];
    readonly credentialName?: string;
    readonly caCertificates?: string;
    readonly clientCertificate?: string;
    readonly privateKey?: string;
}

/**
 * The settings in force; undefined where no proxy speaks TLS to the host. The host's own name is the SNI, and the name that
 * its certificate must carry: without subjectAltNames Envoy accepts any certificate of a trusted authority (measured).
 */
export function decideTls(declaration: Declaration): TlsSettings | undefined {
    if (originatingPorts(declaration).length === 0) return undefined;
    const { mode = TlsMode.Simple, sni = declaration.host, subjectAltNames = [declaration.host], ...rest } = declaration.tls ?? {};
    return { mode, sni, subjectAltNames, ...rest };
}

/** `the gateway speaks TLS (SIMPLE) to it as …`, for the plan. */
export function describeTls(declaration: Declaration): string | undefined {
    const tls = decideTls(declaration);
    if (tls === undefined) return undefined;
    const roots = tls.credentialName !== undefined ? `the Secret ${tls.credentialName}` : tls.caCertificates ?? "the system's roots";
    return `TLS: the ${usesGateway(declaration.route) ? "gateway" : "sidecar"} speaks it to the host (${tls.mode}), asks for ${tls.sni}, and accepts a certificate for ${tls.subjectAltNames.join(" or ")} signed by ${roots}`;
}

const FILES = ["caCertificates", "clientCertificate", "privateKey"] as const;

export function checkTls(problems: Problems, declaration: Declaration): void {
    const { tls, route } = declaration;
    const reads: Path[] = [["route"], ["ports"]];
    if (tls === undefined) return;
    if (originatingPorts(declaration).length === 0) {
        problems.add(["tls"], `has no effect: with route ${route} no proxy speaks TLS on ${declaration.ports.map(({ number, protocol }) => `${number}/${protocol}`).join(", ")}; remove it, or choose route tls-origination with HTTP or TCP ports.`, reads);
        return;
    }
    if (tls.credentialName !== undefined) checkCredential(problems, declaration, tls.credentialName);
    const { clientCertificate, privateKey, credentialName } = tls;
    if (tls.mode === TlsMode.Mutual && credentialName === undefined) {
        for (const [name, value] of [["clientCertificate", clientCertificate], ["privateKey", privateKey]] as const) {
            if (value === undefined) problems.add(["tls", name], `is missing: MUTUAL needs a client certificate and its key: name both files${usesGateway(route) ? ", or a Secret by credentialName" : ""}.`, [["tls"], ...reads]);
        }
    }
    if (tls.mode === TlsMode.Simple) {
        for (const name of ["clientCertificate", "privateKey"] as const) {
            if (tls[name] !== undefined) problems.add(["tls", name], `is ${show(tls[name])}, but has no effect with mode SIMPLE: remove it, or choose MUTUAL.`, [["tls", "mode"]]);
        }
    }
    const verdict = tls.sni === undefined ? undefined : parseHost(tls.sni);
    if (verdict !== undefined && !verdict.ok) problems.add(["tls", "sni"], `is ${show(tls.sni)}, and ${verdict.reason}.`);
    else if (verdict?.host.wildcard === true) problems.add(["tls", "sni"], `is ${show(tls.sni)}, a wildcard, and a ClientHello asks for one name: give it.`);
    (tls.subjectAltNames ?? []).forEach((name, index) => {
        if (name.includes("*")) problems.add(["tls", "subjectAltNames", index], `is ${show(name)}, but names are compared as they are: give the host's name, which a certificate for a wildcard above it matches (measured).`);
    });
}

function checkCredential(problems: Problems, { tls, route }: Declaration, credentialName: string): void {
    const at: Path = ["tls", "credentialName"];
    if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(credentialName)) problems.add(at, `is ${show(credentialName)}, which is not the name of a Secret: write the name only, the Secret is one of the gateway's namespace.`);
    if (!usesGateway(route)) problems.add(at, `is ${show(credentialName)}, but istiod gives Secrets to gateways only: mount the files into the sidecar (annotation sidecar.istio.io/userVolume) and name them by caCertificates.`, [["route"]]);
    const beside = FILES.filter((name) => tls?.[name] !== undefined);
    if (beside.length > 0) problems.add(at, `is ${show(credentialName)}, beside ${beside.join(", ")}: Istio takes a Secret or files, not both; remove one.`, [["tls"]]);
}
