// The organisation's own pack: the rules of istio-egress, one at another level, and one rule that only this organisation has.
import { PolicyPack, type ResourceValidationPolicy } from "@pulumi/policy";
import { ANNOTATIONS } from "istio-egress/model";
import { RULES, UNKNOWN, meshObjects, policyPackArgs, withLevels } from "istio-egress/policies";

const ownerKnown: ResourceValidationPolicy = {
    name: "owner-known",
    displayName: "ACME1 owner-known",
    description: "Every ServiceEntry names an owner that is a team of the organisation.",
    enforcementLevel: "mandatory",
    configSchema: { properties: { teams: { type: "array", items: { type: "string" }, minItems: 1 } }, required: ["teams"] },
    validateResource(args, report) {
        const { teams } = args.getConfig<{ teams: string[] }>();
        for (const entry of meshObjects(args).filter(({ kind }) => kind === "ServiceEntry")) {
            const owner = entry.annotation(ANNOTATIONS.owner);
            // What a preview does not know yet, the update judges.
            if (owner === UNKNOWN || (owner !== undefined && teams.includes(owner))) continue;
            report(`ACME1 ${entry.label}: the annotation ${ANNOTATIONS.owner} is ${owner ?? "missing"}, which is no team of ours, so nobody answers for the host: name one of ${teams.join(", ")}.`);
        }
    },
};

const base = policyPackArgs({ rules: withLevels(RULES, { "pool-undeclared": "mandatory" }) });

new PolicyPack("acme-egress", { ...base, policies: [...base.policies, ownerKnown] });
