// Whether this account may write what the catalogue needs: one finding per namespace, with the rule to add.
import type { IstioKind } from "../../../model";
import { type Needs, kindsByNamespace } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { Denied, Snapshot } from "../snapshot";
import { ISTIO_GROUP } from "./crds";

/** What Pulumi does with an object: enough for an account that may do nothing else (measured, provider 4.25.0). */
export const VERBS = ["create", "get", "patch", "delete", "list", "watch"] as const;
/** Without these, up, changes and destroy still went through (measured); without list, destroy hangs. */
const SPARED_VERBS: readonly string[] = ["get", "watch"];

/** The names of kinds in URLs and RBAC rules. */
export const RESOURCES: Readonly<Record<IstioKind, string>> = {
    ServiceEntry: "serviceentries", DestinationRule: "destinationrules", Gateway: "gateways", VirtualService: "virtualservices", EnvoyFilter: "envoyfilters",
};

export function checkPermissions(needs: Needs, { denied }: Pick<Snapshot, "denied">): readonly Result[] {
    const results = new Results("permissions", Group.Permissions);
    for (const [namespace, kinds] of kindsByNamespace(needs)) {
        const seen = denied.get(namespace), object = `Namespace ${namespace}`;
        if (seen === undefined) continue;
        if (!seen.seen) results.unseen(object, seen.why, "may be closed to this account or not");
        else if (seen.value.length === 0) results.ok(object, `is open to this account: ${enumerate(kinds.map((kind) => RESOURCES[kind]))}.`);
        else {
            const groups = byVerbs(seen.value), fix = `Add to a Role of ${namespace} that is bound to it: ${groups.map(ruleOf).join(", ")}`;
            const text = `is closed to this account, which may not ${groups.map(({ verbs, resources }) => `${enumerate(verbs, 6)} ${enumerate(resources)}`).join("; nor ")}`;
            if (groups.every(({ verbs }) => verbs.every((verb) => SPARED_VERBS.includes(verb)))) results.warning(object, `${text}: up does without, pulumi refresh does not.`, fix);
            else results.missing(object, `${text}.`, fix);
        }
    }
    return results.list;
}

interface Rule {
    readonly verbs: readonly string[];
    readonly resources: readonly string[];
}

/** Kinds that lack the same verbs share a rule. */
function byVerbs(denied: readonly Denied[]): readonly Rule[] {
    const rules = new Map<string, { verbs: readonly string[]; resources: string[] }>();
    for (const { kind, verbs } of denied) {
        const key = verbs.join(), rule = rules.get(key) ?? { verbs, resources: [] };
        rule.resources.push(RESOURCES[kind]);
        rules.set(key, rule);
    }
    return [...rules.values()];
}

function ruleOf({ verbs, resources }: Rule): string {
    return `{apiGroups: [${ISTIO_GROUP}], resources: [${resources.join(", ")}], verbs: [${verbs.join(", ")}]}`;
}
