// E101 at admission: an ejection guard that never ejects, or not after a withdrawal.
import { ANNOTATIONS, MIN_PERCENT_AT_EVERY_SIZE, Membership, safeBand } from "../../model";
import { ejectionNever } from "../rules/E101-ejection-never";
import { EXAMPLE_BLOCK, EXAMPLE_HOST, OUTLIER_VARIABLES, PERCENT, eachBlock, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { findingText } from "./template";

const fixed = (count: number): Record<string, string> => ({ [ANNOTATIONS.membership]: Membership.Fixed, [ANNOTATIONS.addressesPerAnswer]: String(count) });
const P = PERCENT.value, N = "variables.addresses", PLACE = { [EXAMPLE_BLOCK]: "b.path", [EXAMPLE_HOST]: "variables.host" };

/** 100 / N, rounded up. */
const MIN = `string((100 + ${N} - 1) / ${N})`;
const EJECTABLE = `${N} * (${P} > 100 ? 100 : ${P}) / 100`;
/** The largest answer of which nothing is ejected. */
const LAST_INERT = `99 / ${P}`;

const JUDGED = `variables.knowsPool && variables.isFixed && ${N} >= 2 && ${PERCENT.isSet} && ${P} > 0`;
const never = findingText(ejectionNever, exampleOf({ maxEjectionPercent: 17 }, fixed(3)), { ...PLACE, 17: `string(${P})`, 3: `string(${N})`, [String(safeBand(3)?.min)]: MIN });
const oneSize = findingText(ejectionNever, exampleOf({ maxEjectionPercent: 37 }, fixed(9)), { ...PLACE, 37: `string(${P})`, 9: `string(${N})`, 3: `string(${EJECTABLE})` });
const sizes = findingText(ejectionNever, exampleOf({ maxEjectionPercent: 21 }, fixed(33)), { ...PLACE, 21: `string(${P})`, 33: `string(${N})`, 6: `string(${EJECTABLE})`, "2..4": `"2.." + string(${LAST_INERT})` });

export const ejectionNeverAdmission: AdmissionRule = {
    rule: ejectionNever,
    variables: OUTLIER_VARIABLES,
    findings: {
        own: eachBlock(`${JUDGED} && ${EJECTABLE} == 0 ? ${never} : ''`),
        advisory: eachBlock(`${JUDGED} && ${EJECTABLE} > 0 && b.whole && ${P} < ${MIN_PERCENT_AT_EVERY_SIZE} ? (${LAST_INERT} == 2 ? ${oneSize} : ${sizes}) : ''`),
    },
};
