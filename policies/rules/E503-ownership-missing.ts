// E503: an external host of which nobody says who answers for it, and why it is needed.
import { z } from "zod";
import { ANNOTATIONS } from "../../model/annotations";
import type { Finding, ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";
import { isExternal } from "../views/service-entries";

const configuration = z.strictObject({
    entries: z.enum(["declared", "all"]).default("declared")
        .describe("Which ServiceEntries must say it: declared, those with an annotation of a declaration (istio-egress/declaration, owner, purpose or expires; all that this library writes have them), or all external ones."),
    expiry: z.enum(["optional", "required"]).default("optional").describe("Whether they must also say until when they are needed."),
});

export const DECLARED = [ANNOTATIONS.declaration, ANNOTATIONS.owner, ANNOTATIONS.purpose, ANNOTATIONS.expires];

export const ownershipMissing: ObjectRule<z.output<typeof configuration>> = {
    code: "E503",
    name: "ownership-missing",
    level: "mandatory",
    severity: "medium",
    description: "An external host must have an owner and a purpose, and where it is required a day of expiry.",
    remediation: "Declare ownership (owner, purpose, expires), or annotate the ServiceEntry with istio-egress/owner, istio-egress/purpose and istio-egress/expires.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration,
    check(object, { settings }) {
        if (object.isPatch || object.at(["spec", "location"]) === UNKNOWN || !isExternal(object)) return [];
        // What only says what the pool is, for the other rules, is no declaration.
        const isDeclared = DECLARED.some((name) => object.annotation(name) !== undefined);
        if (settings.entries === "declared" && !isDeclared) return [];
        const wanted = [
            ["owner", "nobody answers for the host"], ["purpose", "nobody can tell whether it is still needed"],
            ...(settings.expiry === "required" ? [["expires", "nobody is asked again whether it is still needed"] as const] : []),
        ] as const;
        return wanted.flatMap(([name, consequence]): Finding[] => {
            const path = ["metadata", "annotations", ANNOTATIONS[name]], value = object.annotation(ANNOTATIONS[name]);
            // What is unknown may hold it; annotations that are unknown as a whole too.
            if (value === UNKNOWN || object.at(["metadata", "annotations"]) === UNKNOWN || (value !== undefined && value.trim() !== "")) return [];
            return [{ path, text: `is ${value === undefined ? "missing" : "empty"}, so that ${consequence}. Declare it under ownership, or write the annotation.` }];
        });
    },
};
