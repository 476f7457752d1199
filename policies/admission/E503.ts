// E503 at admission: an external host of which nobody says who answers for it, and why it is needed; for declared entries, as by default.
import { ANNOTATIONS } from "../../model";
import { DECLARED, ownershipMissing } from "../rules/E503-ownership-missing";
import { type Cel, lines, literal } from "./cel";
import type { AdmissionRule } from "./rule";
import { ENTRY_VARIABLES, entryOf } from "./service-entry";
import { findingText } from "./template";

const WANTED = [ANNOTATIONS.owner, ANNOTATIONS.purpose] as const;

function judged(name: string): Cel {
    const others = Object.fromEntries(WANTED.filter((other) => other !== name).map((other) => [other, "somebody"]));
    const missing = findingText(ownershipMissing, entryOf({}, others), {}), empty = findingText(ownershipMissing, entryOf({}, { ...others, [name]: "" }), {});
    return `!(${literal(name)} in variables.annotations) ? ${missing} : variables.annotations[${literal(name)}].trim() == '' ? ${empty} : ''`;
}

export const ownershipMissingAdmission: AdmissionRule = {
    rule: ownershipMissing,
    variables: ENTRY_VARIABLES,
    findings: { own: `variables.isExternal && [${DECLARED.map(literal).join(", ")}].exists(a, a in variables.annotations) ? ${lines(WANTED.map(judged))} : ''` },
};
