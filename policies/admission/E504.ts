// E504 at admission: a host whose day has passed, or is near.
import { ANNOTATIONS } from "../../model";
import { expired } from "../rules/E504-expired";
import { type Cel, literal } from "./cel";
import { isDay } from "./exemption";
import type { AdmissionRule } from "./rule";
import { ENTRY_VARIABLES, entryOf } from "./service-entry";
import { findingText } from "./template";

const EXPIRES = literal(ANNOTATIONS.expires), OWNER = literal(ANNOTATIONS.owner);
const { warnDays } = expired.configuration.parse({});
/** The examples are judged on the first day of 1970. */
const on = (day: string, left: Readonly<Record<string, Cel>> = {}): Cel => findingText(expired, entryOf({}, { [ANNOTATIONS.expires]: day }), { [day]: "variables.expires", ...left });
const owner = { "the owner": "variables.whom" };
const noDay = on("whenever"), passed = on("1969-12-30", owner), onTheDay = on("1970-01-01", owner), oneDay = on("1970-01-02", owner), days = on("1970-01-18", { ...owner, 17: "string(variables.left)" });

const IS_SET = `${EXPIRES} in variables.annotations`;
/** Further away than a warning is given. */
const FAR = warnDays + 1;
const year = (day: Cel): Cel => `int(${day}.substring(0, 4))`;
const midnight = (day: Cel): Cel => `timestamp(${day} + 'T00:00:00Z')`;

export const expiredAdmission: AdmissionRule = {
    rule: expired,
    variables: [
        ...ENTRY_VARIABLES,
        ["expires", `${IS_SET} ? variables.annotations[${EXPIRES}] : ''`],
        ["whom", `${OWNER} in variables.annotations && variables.annotations[${OWNER}] != '' ? variables.annotations[${OWNER}] : 'the owner'`],
        ["isDay", `variables.expires.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}$') && ${isDay("variables.expires")}`],
        ["years", `variables.isDay ? ${year("variables.expires")} - ${year("variables.today")} : 0`],
        // A duration holds 292 years: other centuries are as far away as this sentence needs.
        ["left", `!variables.isDay ? 0 : variables.years < -1 ? -1 : variables.years > 1 ? ${FAR} : (${midnight("variables.expires")} - ${midnight("variables.today.substring(0, 10)")}).getHours() / 24`],
    ],
    findings: {
        own: `!(${IS_SET}) ? '' : !variables.isDay ? ${noDay} : variables.left < 0 ? ${passed} : ''`,
        advisory: `!(${IS_SET}) || !variables.isDay || variables.left < 0 || variables.left > ${warnDays} ? '' : variables.left == 0 ? ${onTheDay} : variables.left == 1 ? ${oneDay} : ${days}`,
    },
};
