// E501: an external host outside the organisation's allow-list.
import { z } from "zod";
import { normaliseHost } from "../../model/host";
import { covers } from "../../model/preflight";
import { poolConfiguration } from "../configuration";
import type { ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";
import { hostsAt, listed } from "../service-entry";
import { isExternal } from "../views/service-entries";

const configuration = poolConfiguration.omit({ pools: true }).extend({
    allow: z.array(z.string().regex(/^(\*\.)?[^*\s]+$/)).optional()
        .describe("The hosts that egress may lead to: names, or *.partner.example for every host below one. The hosts of the catalogue are allowed as well; [] allows them alone. Unset, the rule demands nothing."),
});

export const hostNotAllowed: ObjectRule<z.output<typeof configuration>> = {
    code: "E501",
    name: "host-not-allowed",
    level: "mandatory",
    severity: "high",
    description: "Every external host must be on the organisation's allow-list, where there is one.",
    remediation: "Ask for the host to be added to the allow-list or to the catalogue, or remove the ServiceEntry.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration,
    check(object, { settings, pools }) {
        const { allow, catalogue } = settings;
        if (allow === undefined || !isExternal(object) || object.at(["spec", "location"]) === UNKNOWN) return [];
        const outside = hostsAt(object, ["spec", "hosts"], normaliseHost).filter(({ name }) => !allow.some((pattern) => covers(pattern, name)) && pools.known(name) === undefined);
        if (outside.length === 0) return [];
        if (!pools.isComplete) return [{ path: ["spec", "hosts"], unjudged: `holds ${listed(outside)}, and the catalogue that may allow it could not be read: whether it is allowed is not judged.` }];
        const list = "on the allow-list of the policy's configuration", where = catalogue === undefined ? `not ${list}` : `neither ${list} nor in the catalogue ${catalogue}`;
        return [{
            path: ["spec", "hosts"],
            text: `holds ${listed(outside)}, which ${outside.length === 1 ? "is" : "are"} ${where}: nobody has agreed to egress there. Ask for it to be added, or remove it.`,
        }];
    },
};
