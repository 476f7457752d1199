// What new connections do while DNS answers no address. STRICT_DNS takes such an answer for an empty list; LOGICAL_DNS goes on with the
// last address that it had. Envoy's aggregate of both has the one's list and, while nothing of that serves, the other's address.
import { type Declaration, EnvoyFilters, OnEmptyAnswer } from "./declaration";
import { outboundCluster } from "./names";
import { decideOutlier } from "./outlier";
import { type ObjectRole, isMap, patchesFor, valueAt } from "./patches";
import type { Path, Problems } from "./problem";
import { MAX_ADDRESSES_PER_ANSWER, Resolution, resolutionOf } from "./resolution";
import { usesGateway } from "./routes";
import { standbyAddresses } from "./standby";

/** The subset of the host whose cluster the gateway has as LOGICAL_DNS: all that the DestinationRule says (TLS, time-outs) counts for it too. */
export const LAST_KNOWN_SUBSET = "last-known";

/** Envoy's aggregate of the host's cluster and the last known address: the name is that of a subset, which tools and statistics can read. */
export const lastKnownAggregate = (host: string, port: number): string => outboundCluster(host, port, `or-${LAST_KNOWN_SUBSET}`);

/**
 * Envoy's factor of available hosts for the host's cluster: so large that one address that serves, of as many as an answer may hold, keeps the
 * last known one out. At Envoy's own 140 % one of two ejected would send 30 % there.
 */
export const LAST_KNOWN_OVERPROVISIONING = 100 * MAX_ADDRESSES_PER_ANSWER;

/** What the aggregate builds on, in the spec of each object; what an override makes of it is of another shape. */
const BUILT_ON: readonly (readonly [role: ObjectRole, paths: readonly (readonly string[])[]])[] = [
    ["ServiceEntry/host", [["resolution"], ["endpoints"], ["workloadSelector"]]],
    ["DestinationRule/host", [["host"], ["subsets"], ["trafficPolicy", "tls"]]],
    ["VirtualService/gateway-leg", [["http"], ["tls"], ["tcp"]]],
];

/** The first override of what the aggregate builds on: `VirtualService/gateway-leg spec.http`. */
function overriddenBasis({ manifestOverrides }: Declaration): string | undefined {
    for (const [role, paths] of BUILT_ON) {
        for (const patch of patchesFor(role, manifestOverrides)) {
            if ("spec" in patch && !isMap(patch["spec"])) return `${role} spec`;
            const found = paths.find((path) => valueAt(patch["spec"], path) !== undefined);
            if (found !== undefined) return `${role} spec.${found.join(".")}`;
        }
    }
    return undefined;
}

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
    const overridden = overriddenBasis(declaration);
    if (overridden !== undefined) return { serves: "nobody", reason: `manifestOverrides change ${overridden}, on which the last known address would build` };
    return { serves: "last-known", reason: "the gateway has the host as LOGICAL_DNS too, which serves only while no address that DNS answers does" };
}

/** Whether the gateway gets the aggregate: a host that is LOGICAL_DNS anyway needs none. */
export const keepsLastKnown = (declaration: Declaration): boolean => resolutionOf(declaration).resolution === Resolution.Dns && decideEmptyAnswer(declaration).serves === "last-known";

/** Whether the last known address would be ejected too: LOGICAL_DNS has one host, and 100 % of one is one. */
export function ejectsLastKnown(declaration: Declaration): boolean {
    const outlier = decideOutlier(declaration);
    return keepsLastKnown(declaration) && outlier.emitted && outlier.settings.maxEjectionPercent >= 100;
}

export function checkEmptyAnswer(problems: Problems, declaration: Declaration): void {
    const { pool, route } = declaration, at: Path = ["pool", "onEmptyAnswer"], { resolution } = resolutionOf(declaration);
    if (pool.onEmptyAnswer === undefined) return;
    if (resolution === Resolution.DnsRoundRobin) {
        problems.add(at, `has no effect with resolution ${resolution}: LOGICAL_DNS always goes on with its last address; remove it.`, [["pool", "membership"], ["resolution"], ["host"]]);
    } else if (resolution === Resolution.None) {
        problems.add(at, "has no effect with a wildcard: each application connects to what its own resolver answers; remove it.", [["host"]]);
    } else if (standbyAddresses(declaration) !== undefined) {
        problems.add(at, "has no effect beside standby addresses, which serve while DNS answers none; remove it.", [["pool", "standbyAddresses"]]);
    } else if (!usesGateway(route) && pool.onEmptyAnswer === OnEmptyAnswer.LastKnown) {
        problems.add(at, `is "last-known", but with route ${route} there is no gateway that could keep the address: remove it, or take a route with a gateway.`, [["route"]]);
    }
}
