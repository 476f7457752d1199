// E114 at admission: minHealthPercent so high that an ejection is undone by panic routing.
import { ANNOTATIONS, ENVOY_DEFAULT_MAX_EJECTION_PERCENT, Membership, OVERPROVISIONING } from "../../model";
import { ejectionUndoneByPanic } from "../rules/E114-ejection-undone-by-panic";
import type { Cel } from "./cel";
import { EXAMPLE_BLOCK, EXAMPLE_HOST, HEALTH, OUTLIER_VARIABLES, eachBlock, effective, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const N = "variables.addresses", H = HEALTH.value, fixed = (count: number): Record<string, string> => ({ [ANNOTATIONS.membership]: Membership.Fixed, [ANNOTATIONS.addressesPerAnswer]: String(count) });
/** `panics` of the model, with one address ejected. */
const panics = (count: Cel): Cel => `(${OVERPROVISIONING} * (${count} - 1) / ${count} < 100 && 100 * (${count} - 1) < ${H} * ${count})`;
const JUDGED = `variables.knowsPool && variables.isFixed && ${N} >= 2 && b.whole && ${HEALTH.isSet} && ${N} * ${effective(ENVOY_DEFAULT_MAX_EJECTION_PERCENT)} >= 100`;
const holes = { [EXAMPLE_BLOCK]: "b.path", [EXAMPLE_HOST]: "variables.host" };
const undone = findingText(ejectionUndoneByPanic, exampleOf({ maxEjectionPercent: 50, minHealthPercent: 71 }, fixed(3)), { ...holes, 71: `string(${H})`, 3: `string(${N})` });
const atThree = findingText(ejectionUndoneByPanic, exampleOf({ maxEjectionPercent: 50, minHealthPercent: 67 }, fixed(7)), { ...holes, 67: `string(${H})`, 7: `string(${N})`, 3: "\"3\"" });
const atTwo = findingText(ejectionUndoneByPanic, exampleOf({ maxEjectionPercent: 50, minHealthPercent: 57 }, fixed(7)), { ...holes, 57: `string(${H})`, 7: `string(${N})`, 2: "\"2\"" });

export const ejectionUndoneByPanicAdmission: AdmissionRule = {
    rule: ejectionUndoneByPanic,
    variables: OUTLIER_VARIABLES,
    findings: {
        own: eachBlock(`${JUDGED} && ${panics(N)} ? ${undone} : ''`),
        advisory: eachBlock(`${JUDGED} && !${panics(N)} ? (3 < ${N} && ${panics("3")} ? ${atThree} : 2 < ${N} && ${panics("2")} ? ${atTwo} : '') : ''`),
    },
};
