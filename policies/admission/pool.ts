// The pool behind an object's hosts in CEL: admission knows what the annotations say, and neither catalogue nor configuration.
import { ANNOTATIONS, MAX_ADDRESSES_PER_ANSWER, Membership } from "../../model";
import { type Cel, literal, normalised } from "./cel";

/** What other variables rest on. */
export const POOL_VARIABLES: readonly (readonly [string, Cel])[] = [
    ["annotations", "object.metadata.?annotations.orValue({})"],
    ["membership", annotation(ANNOTATIONS.membership)],
    ["isDeclared", `variables.membership in [${Object.values(Membership).map(literal).join(", ")}]`],
    ["isFixed", `variables.membership == ${literal(Membership.Fixed)}`],
    ["count", annotation(ANNOTATIONS.addressesPerAnswer)],
    // 0 where it is not known.
    ["addresses", `variables.count.matches('^[1-9][0-9]{0,2}$') && int(variables.count) <= ${MAX_ADDRESSES_PER_ANSWER} ? int(variables.count) : 0`],
    ["about", normalised(annotation(ANNOTATIONS.host))],
];

/** Whether the annotations speak of a host that is written in the one spelling. */
export function speaksOf(host: Cel): Cel {
    return `(!(${literal(ANNOTATIONS.host)} in variables.annotations) || variables.about == ${host})`;
}

function annotation(name: string): Cel {
    return `(${literal(name)} in variables.annotations ? variables.annotations[${literal(name)}] : '')`;
}
