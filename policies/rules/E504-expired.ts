// E504: a host whose day of expiry has passed, or comes soon.
import { z } from "zod";
import { ANNOTATIONS } from "../../model/annotations";
import { dayOf, isDay } from "../exemptions";
import type { ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";
import { plural } from "../views/words";

const configuration = z.strictObject({
    warnDays: z.int().min(0).max(366).default(30).describe("How many days before it expires a host is reported, as advisory."),
});
const DAY_MS = 86_400_000;

export const expired: ObjectRule<z.output<typeof configuration>> = {
    code: "E504",
    name: "expired",
    level: "mandatory",
    severity: "medium",
    description: "A host must be reviewed before its day of expiry, and removed or prolonged.",
    remediation: "Ask the owner whether the host is still needed: prolong ownership.expires, or remove the declaration.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration,
    check(object, { settings, now }) {
        const path = ["metadata", "annotations", ANNOTATIONS.expires], value = object.annotation(ANNOTATIONS.expires), owner = object.annotation(ANNOTATIONS.owner);
        if (value === undefined || value === UNKNOWN) return [];
        const shown = object.show(path, value);
        if (!isDay(value)) return [{ path, text: `is ${shown}, which is not a day of the calendar, so that it never expires. Write it as YYYY-MM-DD.` }];
        const whom = typeof owner === "string" && owner !== "" ? object.show(["metadata", "annotations", ANNOTATIONS.owner], owner) : "the owner";
        const way = `Ask ${whom} whether the host is still needed: prolong it, or remove it.`;
        // The day itself still counts.
        const left = Math.round((Date.parse(value) - Date.parse(dayOf(now))) / DAY_MS);
        if (left < 0) return [{ path, text: `is ${shown}, which has passed. ${way}` }];
        return left > settings.warnDays ? [] : [{ path, level: "advisory", text: `is ${shown}, ${left === 0 ? "today" : `in ${object.isSecret(path) ? "a few days" : plural(left, "day")}`}. ${way}` }];
    },
};
