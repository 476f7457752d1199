// Servers of Gateway objects that meet on one listener: small facts that declarations and objects are judged by alike.
import { covers } from "./preflight";
import { normaliseHost } from "./host";

/** One server, as far as another one on the same listener (the same pods, the same port of theirs) can contradict it. */
export interface ListenerServer {
    /** Istio's `protocol` of the server's port. */
    readonly protocol: string;
    /** Its hosts, without the namespace that Istio allows before a slash. */
    readonly hosts: readonly string[];
    /** `tls.mode`; undefined without TLS. */
    readonly tlsMode: string | undefined;
}

export const ServerConflict = {
    /** One host in two servers: Istio drops the later server and counts it in pilot_total_rejected_configs. */
    SameHost: "same-host",
    /** TLS and plain text on one listener: a listener is one or the other. */
    TlsAndPlaintext: "tls-and-plaintext",
    /** A wildcard that passes TLS through beside a host below it that ends it: Envoy refuses the whole listener (measured, with a route for that host at both). */
    WildcardAndExact: "wildcard-and-exact-of-different-mode",
} as const;
export type ServerConflict = (typeof ServerConflict)[keyof typeof ServerConflict];

const TLS_PROTOCOLS = ["TLS", "HTTPS"];
const isTls = ({ protocol, tlsMode }: ListenerServer): boolean => TLS_PROTOCOLS.includes(protocol.toUpperCase()) || tlsMode !== undefined;
const isWildcard = (host: string): boolean => host.startsWith("*");

/** What two servers on one listener contradict each other in; undefined when they get on. */
export function serverConflict(one: ListenerServer, other: ListenerServer): ServerConflict | undefined {
    if (isTls(one) !== isTls(other)) return ServerConflict.TlsAndPlaintext;
    const [first, second] = [one.hosts.map(normaliseHost), other.hosts.map(normaliseHost)];
    if (first.some((host) => second.includes(host))) return ServerConflict.SameHost;
    if (one.tlsMode === other.tlsMode) return undefined;
    const meet = (wide: readonly string[], narrow: readonly string[]): boolean => wide.some((pattern) => isWildcard(pattern) && narrow.some((host) => !isWildcard(host) && covers(pattern, host)));
    return meet(first, second) || meet(second, first) ? ServerConflict.WildcardAndExact : undefined;
}
