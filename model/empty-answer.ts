// What new connections do while DNS answers no address. STRICT_DNS takes such an answer for an empty list; LOGICAL_DNS goes on with the
// last address that it had. Envoy's aggregate of both has the one's list and, while that is empty, the other's address.
import { type Declaration, EnvoyFilters, OnEmptyAnswer } from "./declaration";
import type { Path, Problems } from "./problem";
import { Membership, Resolution, resolutionOf } from "./resolution";
import { usesGateway } from "./routes";
import { standbyAddresses } from "./standby";

/** The subset of the host whose cluster the gateway has as LOGICAL_DNS: all that the DestinationRule says (TLS, time-outs) counts for it too. */
export const LAST_KNOWN_SUBSET = "last-known";

/** Envoy's aggregate of the host's cluster and the last known address: the name is that of a subset, which tools and statistics can read. */
export const lastKnownAggregate = (host: string, port: number): string => `outbound|${port}|or-${LAST_KNOWN_SUBSET}|${host}`;

export type EmptyAnswer =
    /** The known addresses of the pool, or the address of the last answer that had one: at once. */
    | { readonly serves: "standby" | "last-known"; readonly reason: string }
    /** They fail. */
    | { readonly serves: "nobody"; readonly reason: string };

/** What serves new connections while DNS answers no address. */
export function decideEmptyAnswer(declaration: Declaration): EmptyAnswer {
    const { route, gateway, pool } = declaration, { resolution } = resolutionOf(declaration);
    if (resolution === Resolution.DnsRoundRobin) return { serves: "last-known", reason: "LOGICAL_DNS goes on with its last address" };
    if (resolution === Resolution.None) return { serves: "nobody", reason: "the application resolves the host by itself" };
    if (standbyAddresses(declaration) !== undefined) return { serves: "standby", reason: "the pool's standby addresses stand behind what DNS answers" };
    if (!usesGateway(route) || gateway === undefined) return { serves: "nobody", reason: `route ${route} has no gateway that could keep the last address` };
    if (pool.onEmptyAnswer === OnEmptyAnswer.Fail) return { serves: "nobody", reason: "the declaration says fail" };
    if (gateway.envoyFilters === EnvoyFilters.Forbidden) return { serves: "nobody", reason: "the gateway forbids EnvoyFilters, and Istio has no other field for a second cluster" };
    return { serves: "last-known", reason: "the gateway has the host as LOGICAL_DNS too, which serves only while the list is empty" };
}

/** Whether the gateway gets the aggregate: a host that is LOGICAL_DNS anyway needs none. */
export const keepsLastKnown = (declaration: Declaration): boolean => resolutionOf(declaration).resolution === Resolution.Dns && decideEmptyAnswer(declaration).serves === "last-known";

export function checkEmptyAnswer(problems: Problems, declaration: Declaration): void {
    const { pool, route } = declaration, at: Path = ["pool", "onEmptyAnswer"], { resolution } = resolutionOf(declaration);
    if (pool.onEmptyAnswer === undefined) return;
    if (resolution === Resolution.DnsRoundRobin) {
        const why: Path = pool.membership === Membership.Rotating ? ["pool", "membership"] : ["resolution"];
        problems.add(at, `has no effect with resolution ${resolution}: LOGICAL_DNS always goes on with its last address; remove it.`, [why]);
    } else if (!usesGateway(route) && pool.onEmptyAnswer === OnEmptyAnswer.LastKnown) {
        problems.add(at, `is "last-known", but with route ${route} there is no gateway that could keep the address: remove it, or choose route mtls-passthrough.`, [["route"]]);
    }
}
