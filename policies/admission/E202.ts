// E202 at admission: STRICT_DNS on a pool of which each answer is a sample.
import { ANNOTATIONS, CONNECT_STRATEGY_ANNOTATION, Membership, RACE_FIRST_TCP_CONNECT, Resolution } from "../../model";
import { strictDnsOnRotatingPool } from "../rules/E202-strict-dns-on-rotating-pool";
import { listed, literal } from "./cel";
import { speaksOf } from "./pool";
import type { AdmissionRule } from "./rule";
import { ENTRY_VARIABLES, EXAMPLE_HOST, entryOf } from "./service-entry";
import { findingText } from "./template";

const STRATEGY = literal(CONNECT_STRATEGY_ANNOTATION);
const text = findingText(strictDnsOnRotatingPool, entryOf({ resolution: Resolution.Dns }, { [ANNOTATIONS.membership]: Membership.Rotating }), { [EXAMPLE_HOST]: listed("variables.rotatingHosts") });
const IS_RACE = `(${STRATEGY} in variables.annotations && variables.annotations[${STRATEGY}] == ${literal(RACE_FIRST_TCP_CONNECT)})`;
/** `mayHaveAddressesOnly` of the rules. */
const ADDRESSES_ONLY = "(size(variables.endpoints) > 0 && variables.endpoints.all(e, has(e.address) && e.address.matches('^[0-9.]+$|:')))";

export const strictDnsOnRotatingPoolAdmission: AdmissionRule = {
    rule: strictDnsOnRotatingPool,
    variables: [...ENTRY_VARIABLES, ["rotatingHosts", `variables.membership == ${literal(Membership.Rotating)} ? variables.hosts.filter(n, ${speaksOf("n")}) : []`]],
    findings: { own: `variables.resolution == ${literal(Resolution.Dns)} && !${IS_RACE} && !${ADDRESSES_ONLY} && size(variables.rotatingHosts) > 0 ? ${text} : ''` },
};
