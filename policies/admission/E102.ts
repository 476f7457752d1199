// E102 at admission: a guard that lets all addresses be ejected, with panic routing off.
import { ejectionEmptiesPool } from "../rules/E102-ejection-empties-pool";
import { EXAMPLE_BLOCK, HEALTH, OUTLIER_VARIABLES, PANIC_OFF, PERCENT, eachBlock, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const unset = findingText(ejectionEmptiesPool, exampleOf({ maxEjectionPercent: 137 }), { [EXAMPLE_BLOCK]: "b.path", 137: `string(${PERCENT.value})` });
const set = findingText(ejectionEmptiesPool, exampleOf({ maxEjectionPercent: 137, minHealthPercent: -29 }), { [EXAMPLE_BLOCK]: "b.path", 137: `string(${PERCENT.value})`, "-29": `string(${HEALTH.value})` });

export const ejectionEmptiesPoolAdmission: AdmissionRule = {
    rule: ejectionEmptiesPool,
    variables: OUTLIER_VARIABLES,
    findings: { own: eachBlock(`${PERCENT.isSet} && ${PERCENT.value} >= 100 && ${PANIC_OFF} ? (${HEALTH.isSet} ? ${set} : ${unset}) : ''`) },
};
