// E104: outlier detection that counts HTTP statuses on a path that carries none, with connect failures split off and left to Envoy's default.
import { DEFAULT_OUTLIER } from "../../model/outlier";
import { isL4 } from "../../model/protocol";
import { noConfiguration } from "../configuration";
import { type OutlierBlock, allOutlierBlocks } from "../outlier";
import type { MeshObject } from "../objects";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { hostRules } from "../views/destination-rules";
import { type EntryHost, entriesOf, mayMeet } from "../views/service-entries";

/** Envoy's own consecutive_local_origin_failure, which Istio leaves alone when it sends none. */
const ENVOY_DEFAULT = 5;
const COUNTERS = ["consecutive5xxErrors", "consecutiveGatewayErrors"] as const;

export const httpThresholdsOnL4: SetRule = {
    code: "E104",
    name: "http-thresholds-on-l4",
    level: "advisory",
    severity: "medium",
    description: "Outlier detection of a host that is carried as TLS or TCP must count connect failures, since no HTTP status is seen there.",
    remediation: "Set consecutiveLocalOriginFailures to the threshold that was meant, beside splitExternalLocalOriginErrors: true, and remove the HTTP counters.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("ServiceEntry")) return [];
        return hostRules(mesh).flatMap(({ object, host, shown, viewers }): SetVerdict[] => {
            const entries = entriesOf(mesh, host).filter((entry) => entry.isExternal && mayMeet(viewers, entry.viewers));
            return allOutlierBlocks(object).flatMap((block): SetVerdict[] => {
                const protocols = protocolsOf(entries, block.port), counter = deadCounter(object, block);
                if (counter === undefined || protocols.length === 0 || !protocols.every(isL4)) return [];
                const path = [...block.path, counter.name];
                return [{
                    object, path,
                    text: `is ${object.show(path, counter.value)}, but ${shown} is carried as ${protocols.join(" and ")}, where no HTTP status is seen, and with splitExternalLocalOriginErrors connect failures are counted by consecutiveLocalOriginFailures alone, `
                        + `which is unset: this threshold never acts, and Envoy's default of ${ENVOY_DEFAULT} failures ejects instead (measured on the lab, istiod 1.31, Envoy 1.39.3). Set consecutiveLocalOriginFailures, for example to ${DEFAULT_OUTLIER.consecutiveLocalOriginFailures}.`,
                }];
            });
        });
    },
};

/** The protocols of the ports that a block counts for; none where one of them is not known. */
function protocolsOf(entries: readonly EntryHost[], port: number | undefined): readonly string[] {
    const found = entries.flatMap(({ ports }) => ports.filter(({ number }) => port === undefined || number === port).map(({ protocol }) => protocol));
    const known = found.filter((protocol) => protocol !== UNKNOWN);
    return known.length < found.length ? [] : [...new Set(known)];
}

function deadCounter(rule: MeshObject, { path }: OutlierBlock): { readonly name: string; readonly value: number } | undefined {
    if (rule.flag([...path, "splitExternalLocalOriginErrors"]) !== true) return undefined;
    const local = rule.number([...path, "consecutiveLocalOriginFailures"]);
    // 0 is not sent either.
    if (local === UNKNOWN || (local !== undefined && local > 0)) return undefined;
    for (const name of COUNTERS) {
        const value = rule.number([...path, name]);
        if (typeof value === "number" && value > 0) return { name, value };
    }
    return undefined;
}
