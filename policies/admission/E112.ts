// E112 at admission: a fixed pool whose ejected address is refused even when it is the only one left and alive.
import { ANNOTATIONS, ENVOY_DEFAULT_MAX_EJECTION_PERCENT, Membership } from "../../model";
import { SMALLEST_WITH_ALTERNATIVE, noWayBackForEjected } from "../rules/E112-no-way-back-for-ejected";
import { EXAMPLE_BLOCK, EXAMPLE_HOST, HEALTH, OUTLIER_VARIABLES, PANIC_OFF, eachBlock, effective, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const fixed = { [ANNOTATIONS.membership]: Membership.Fixed }, holes = { [EXAMPLE_BLOCK]: "b.path", [EXAMPLE_HOST]: "variables.host" };
const unset = findingText(noWayBackForEjected, exampleOf({ maxEjectionPercent: 50 }, fixed), holes);
const set = findingText(noWayBackForEjected, exampleOf({ maxEjectionPercent: 50, minHealthPercent: -29 }, fixed), { ...holes, "-29": `string(${HEALTH.value})` });

const N = `(b.whole && variables.addresses > 0 ? variables.addresses : ${SMALLEST_WITH_ALTERNATIVE})`, PERCENT = effective(ENVOY_DEFAULT_MAX_EJECTION_PERCENT);

export const noWayBackForEjectedAdmission: AdmissionRule = {
    rule: noWayBackForEjected,
    variables: OUTLIER_VARIABLES,
    findings: { own: eachBlock(`variables.knowsPool && variables.isFixed && ${PANIC_OFF} && ${PERCENT} < 100 && ${N} >= 2 && ${N} * ${PERCENT} >= 100 ? (${HEALTH.isSet} ? ${set} : ${unset}) : ''`) },
};
