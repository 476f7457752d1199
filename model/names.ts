// Names of Kubernetes objects: stable, told apart for hosts that differ, within the limits of a DNS label.
import type { Declaration } from "./declaration";

/** A Gateway is referred to as namespace/name, of which Istio's validation takes DNS labels only. */
const MAX_LABEL = 63;
const PREFIX = "egress-";
/** What tells the objects of one host apart; a host that ends in one of these words gets a hash. */
const SUFFIXES = ["client", "subset", "gateway", "mesh"] as const;
/** Room for the longest suffix, `-gateway`. */
const MAX_BASE = MAX_LABEL - "-gateway".length;

/**
 * The base name of a host's objects: `api.partner.example` → `egress-api-partner-example`. A host with a hyphen of its
 * own, a wildcard, or a long one gets a hash, since `a-b.c` and `a.b-c` would share a name.
 */
export function objectName(host: string): string {
    const plain = PREFIX + host.replace(/^\*\./, "any.").replaceAll(".", "-");
    const isFaithful = !SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`)) && !host.includes("-") && !host.startsWith("*.") && plain.length <= MAX_BASE;
    if (isFaithful) return plain;
    const suffix = `-${hash(host)}`;
    return plain.slice(0, MAX_BASE - suffix.length).replace(/-+$/, "") + suffix;
}

/** The subset of the egress Service that carries a host. */
export const subsetName = (declaration: Declaration): string => objectName(declaration.host);

/** A cluster of Envoy as istiod names it: `outbound|443||api.partner.example`, and with the subset between the bars where it is one. */
export const outboundCluster = (host: string, port: number, subset = ""): string => `outbound|${port}|${subset}|${host}`;

/** The port's name in ServiceEntry and Gateway: `tls-443`. */
export const portName = (protocol: string, number: number): string => `${protocol.toLowerCase()}-${number}`;

/** FNV-1a of 64 bits, ten digits in base 36: names need distinctness, not secrecy, and the model stays free of I/O and Node's modules. */
function hash(text: string): string {
    let value = 0xcbf29ce484222325n;
    for (let index = 0; index < text.length; index++) value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
    return (value >> 12n).toString(36).padStart(10, "0").slice(-10);
}

/** The namespace of a Service, from its full name. */
export const serviceNamespace = (serviceHost: string): string => serviceHost.split(".")[1] ?? "";
