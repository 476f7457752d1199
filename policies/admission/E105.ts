// E105 at admission: outlier detection without maxEjectionPercent.
import { ANNOTATIONS, ENVOY_DEFAULT_MAX_EJECTION_PERCENT, Membership } from "../../model";
import { ejectionGuardMissing } from "../rules/E105-ejection-guard-missing";
import { EXAMPLE_BLOCK, EXAMPLE_HOST, OUTLIER_VARIABLES, PERCENT, eachBlock, exampleOf } from "./outlier";
import type { AdmissionRule } from "./rule";
import { type Holes, findingText } from "./template";
import type { Cel } from "./cel";

const N = "variables.addresses", EJECTABLE = `${N} * ${ENVOY_DEFAULT_MAX_EJECTION_PERCENT} / 100`;
const pool = (count: number): Record<string, string> => ({ [ANNOTATIONS.membership]: Membership.Fixed, [ANNOTATIONS.addressesPerAnswer]: String(count) });

/** The two ways to say that it is missing, for one consequence. */
function texts(annotations: Record<string, string>, holes: Holes): Cel {
    const unset = findingText(ejectionGuardMissing, exampleOf({}, annotations), { [EXAMPLE_BLOCK]: "b.path", ...holes });
    const zero = findingText(ejectionGuardMissing, exampleOf({ maxEjectionPercent: -77 }, annotations), { [EXAMPLE_BLOCK]: "b.path", "-77": `string(${PERCENT.value})`, ...holes });
    return `(${PERCENT.isSet} ? ${zero} : ${unset})`;
}

const MISSING = `(!${PERCENT.isSet} || ${PERCENT.value} <= 0)`;
/** The pool as a whole is known. */
const KNOWN = `(b.whole && variables.knowsPool && ${N} > 0)`;
const anyPool = texts({}, {});
const small = texts(pool(7), { [EXAMPLE_HOST]: "variables.host", 7: `string(${N})` });
const large = texts(pool(83), { [EXAMPLE_HOST]: "variables.host", 83: `string(${N})`, 8: `string(${EJECTABLE})` });

export const ejectionGuardMissingAdmission: AdmissionRule = {
    rule: ejectionGuardMissing,
    variables: OUTLIER_VARIABLES,
    findings: {
        own: eachBlock(`${MISSING} && !${KNOWN} ? ${anyPool} : ${MISSING} && ${EJECTABLE} == 0 ? ${small} : ''`),
        advisory: eachBlock(`${MISSING} && ${KNOWN} && ${EJECTABLE} > 0 ? ${large} : ''`),
    },
};
