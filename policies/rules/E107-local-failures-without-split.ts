// E107: consecutiveLocalOriginFailures without splitExternalLocalOriginErrors, which Istio refuses.
import { noConfiguration } from "../configuration";
import { allOutlierBlocks } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

export const localFailuresWithoutSplit: ObjectRule = {
    code: "E107",
    name: "local-failures-without-split",
    level: "mandatory",
    severity: "medium",
    description: "Outlier detection with consecutiveLocalOriginFailures must have splitExternalLocalOriginErrors: true beside it.",
    remediation: "Set splitExternalLocalOriginErrors: true: connect failures are then counted by consecutiveLocalOriginFailures, and by nothing else.",
    remediates: true,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    check(object) {
        return allOutlierBlocks(object).flatMap(({ path }): Finding[] => {
            const field = [...path, "consecutiveLocalOriginFailures"], failures = object.number(field), split = object.flag([...path, "splitExternalLocalOriginErrors"]);
            if (typeof failures !== "number" || failures <= 0 || split === UNKNOWN || split === true) return [];
            return [{
                path: field,
                text: `is ${object.show(field, failures)}, but splitExternalLocalOriginErrors is ${split === undefined ? "unset" : "false"}: Istio's validation refuses that, and without it Envoy has no such counter. Set splitExternalLocalOriginErrors: true.`,
                fix: { path: [...path, "splitExternalLocalOriginErrors"], value: true },
            }];
        });
    },
};
