// E103: outlier detection on a cluster that has one address by its discovery: LOGICAL_DNS.
import { ENVOY_DEFAULT_MAX_EJECTION_PERCENT } from "../../model/guard";
import { EJECTION_OF_LOGICAL } from "../../model/outlier";
import { noConfiguration } from "../configuration";
import { outlierBlocks } from "../outlier";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { hostRules } from "../views/destination-rules";
import { entriesMet, isLogical } from "../views/service-entries";

export const outlierOnSingleAddress: SetRule = {
    code: "E103",
    name: "outlier-on-single-address",
    level: "mandatory",
    severity: "medium",
    description: "Outlier detection must have several addresses to choose from: under LOGICAL_DNS a cluster has one.",
    remediation: "Remove outlierDetection, or give the ServiceEntry resolution DNS, without the annotation istio.io/connect-strategy, if the pool is fixed.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("ServiceEntry")) return [];
        return hostRules(mesh).flatMap(({ object, host, shown, viewers }): SetVerdict[] => {
            const entries = entriesMet(mesh, host, viewers);
            const [entry] = entries;
            // Where another view of the host has a list, the rule may be meant for that one.
            if (entry === undefined || !entries.every(isLogical)) return [];
            return outlierBlocks(object).map(({ path, maxEjectionPercent: percent, minHealthPercent: health }) => {
                const shownPercent = percent === undefined || percent === UNKNOWN || percent <= 0 ? ENVOY_DEFAULT_MAX_EJECTION_PERCENT : percent;
                const isTotal = shownPercent >= 100 && (health === undefined || (health !== UNKNOWN && health <= 0));
                return {
                    object, path, level: isTotal ? undefined : "advisory" as const,
                    text: `is set, but ${entry.object.label} makes ${shown} a LOGICAL_DNS cluster: ${EJECTION_OF_LOGICAL}. `
                        + (isTotal ? "Here it is total: after its first failures every new connection is refused. " : "Here it is inert. ")
                        + "Remove it, or set resolution: DNS there if the pool is fixed.",
                };
            });
        });
    },
};
