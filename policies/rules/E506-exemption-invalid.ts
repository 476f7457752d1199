// E506: an exemption that exempts from nothing: without an end or a reason, or expired.
import { EXEMPTION_PREFIX } from "../../model/annotations";
import { EXEMPTION_FORM, exemptedCodes, readExemption } from "../exemptions";
import { noConfiguration } from "../configuration";
import type { Finding, ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";

export const exemptionInvalid: ObjectRule = {
    code: "E506",
    name: "exemption-invalid",
    level: "mandatory",
    severity: "medium",
    description: "An exemption must have a reason and a last day that has not passed.",
    remediation: "Write the annotation as \"until YYYY-MM-DD: reason\", prolong it, or remove it and correct what it was for.",
    remediates: false,
    kinds: ["*"],
    configuration: noConfiguration,
    check(object, { now }) {
        return exemptedCodes(object).flatMap((code): Finding[] => {
            const path = ["metadata", "annotations", EXEMPTION_PREFIX + code], value = object.at(path);
            if (value === UNKNOWN) return [];
            const exemption = typeof value === "string" ? readExemption(value, now) : { state: "unreadable" as const };
            if (exemption.state === "valid") return [];
            const shown = object.isSecret(path) ? "[secret]" : JSON.stringify(value);
            return [{
                path,
                text: exemption.state === "expired"
                    ? `has expired on ${object.show(path, exemption.until)}: what it let pass is a finding again. Correct the object, or prolong the exemption with its reason.`
                    : `is ${shown}, which exempts from nothing: an exemption has a last day and a reason. Write it as "${EXEMPTION_FORM}".`,
            }];
        });
    },
};
