// E107 at admission: consecutiveLocalOriginFailures without the split that it needs.
import { localFailuresWithoutSplit } from "../rules/E107-local-failures-without-split";
import { has } from "./cel";
import { EXAMPLE_BLOCK, OUTLIER_VARIABLES, everyBlock, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const FAILURES = "b.at.consecutiveLocalOriginFailures", SPLIT = has("b.at", "splitExternalLocalOriginErrors");
const holes = { [EXAMPLE_BLOCK]: "b.path", 37: `string(${FAILURES})` };
const unset = findingText(localFailuresWithoutSplit, exampleOf({ consecutiveLocalOriginFailures: 37 }), holes);
const off = findingText(localFailuresWithoutSplit, exampleOf({ consecutiveLocalOriginFailures: 37, splitExternalLocalOriginErrors: false }), holes);

export const localFailuresWithoutSplitAdmission: AdmissionRule = {
    rule: localFailuresWithoutSplit,
    variables: OUTLIER_VARIABLES,
    findings: { own: everyBlock(`${has("b.at", "consecutiveLocalOriginFailures")} && ${FAILURES} > 0 && !(${SPLIT} && b.at.splitExternalLocalOriginErrors) ? (${SPLIT} ? ${off} : ${unset}) : ''`) },
};
