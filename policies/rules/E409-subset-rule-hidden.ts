// E409: a subset rule of an egress gateway's Service that its clients do not get: hidden by another, or where they never look.
import { commonViewers, isNobody } from "../../model/visibility";
import { sameExport } from "../../model/preflight";
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { type HostRule, countingRules, rulesOf, rulesOfSubset } from "../views/destination-rules";
import { type Hop, hops } from "../views/routes";
import { groupBy } from "../views/service-entries";
import { who } from "../views/words";

export const subsetRuleHidden: SetRule = {
    code: "E409",
    name: "subset-rule-hidden",
    level: "mandatory",
    severity: "critical",
    description: "Each client of an egress gateway must find the subsets that its routes name: in its own namespace, or else in that of the gateway's Service.",
    remediation: "Put each consumer's subset rules into its own namespace with exportTo [\".\"], or all of them beside the Service with exportTo [\"*\"], never both.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: noConfiguration,
    checkSet(mesh) {
        if (!mesh.isSure("DestinationRule")) return [];
        const all = hops(mesh), found = new Map<string, SetVerdict>();
        const add = (verdict: SetVerdict): void => {
            const key = `${verdict.object.label} ${verdict.path.join(".")}`;
            if (!found.has(key)) found.set(key, verdict);
        };
        for (const hop of all) for (const verdict of judgeHop(mesh, hop)) add(verdict);
        for (const host of new Set(all.map(({ destination }) => destination.host))) for (const verdict of unequal(mesh, host)) add(verdict);
        return [...found.values()];
    },
};

/** Within a namespace rules of one host merge only when exported to exactly the same (measured). */
function unequal(mesh: Mesh, host: string): readonly SetVerdict[] {
    return [...groupBy(rulesOf(mesh, host), ({ namespace }) => namespace).values()].flatMap(([first, ...later]) => later.flatMap(({ object, viewers, shown }): SetVerdict[] => {
        if (first === undefined) return [];
        const path = ["spec", "exportTo"], ours = exportOf(object), theirs = exportOf(first.object), common = commonViewers(first.viewers, viewers);
        if (sameExport(ours, theirs) || isNobody(common)) return [];
        return [{
            object, path,
            text: `is ${object.show(path, JSON.stringify(ours))}, but ${first.object.label} in the same namespace, also for ${shown}, has ${first.object.show(path, JSON.stringify(theirs))}: rules of one host merge only when exportTo is equal, otherwise one hides the other with all its subsets from ${who(common)} (measured on the lab, istiod 1.31). Give both the same exportTo.`,
        }];
    }));
}

function exportOf(object: HostRule["object"]): readonly string[] {
    const words = object.texts(["spec", "exportTo"]);
    return words === undefined || words === UNKNOWN ? ["*"] : words;
}

function judgeHop(mesh: Mesh, { leg, destination: { host, subset, shown }, gatewayNamespace }: Hop): readonly SetVerdict[] {
    const { viewers } = leg, rules = rulesOf(mesh, host);
    if (subset === undefined || viewers === UNKNOWN) return [];
    const definitions = rulesOfSubset(mesh, host, subset), [defining] = definitions;
    // A subset that nobody at hand defines is E403's.
    if (defining === undefined) return [];
    for (const client of clientsOf(viewers === "everywhere" ? undefined : [...viewers].sort(), rules, gatewayNamespace)) {
        const counting = countingRules(mesh, host, client, gatewayNamespace);
        if (definitions.some((rule) => counting.has(rule))) continue;
        return [hidden(defining, [...counting], { client, subset, shown, leg: leg.object.label, gatewayNamespace, root: mesh.root })];
    }
    return [];
}

/** Any other namespace, where a route is for all: no object has a name with this letter. */
const ANY_OTHER = "*";

/** The namespaces to ask for: those that the route is for; where it is for all, those with rules of their own, and any other. */
function clientsOf(named: readonly string[] | undefined, rules: readonly HostRule[], gatewayNamespace: string): readonly string[] {
    return (named ?? [ANY_OTHER, ...new Set(rules.map(({ namespace }) => namespace))]).filter((client) => client !== gatewayNamespace);
}

interface Hidden {
    readonly client: string;
    readonly subset: string;
    readonly shown: string;
    readonly leg: string;
    readonly gatewayNamespace: string;
    readonly root: string;
}

function hidden({ object, namespace }: HostRule, counting: readonly HostRule[], { client, subset, shown, leg, gatewayNamespace, root }: Hidden): SetVerdict {
    const sidecars = client === ANY_OTHER ? "the sidecars of other namespaces" : `sidecars of ${client}`, [winner] = counting;
    const order = `they look for rules of ${shown} in their own namespace, then in ${gatewayNamespace}, then in ${root}, and the first that has any wins whole`;
    const why = winner === undefined ? "and none of these has one that they see" : `which is ${winner.object.label}`;
    return {
        object, path: ["metadata", "namespace"],
        text: `is ${object.show(["metadata", "namespace"], namespace)}, and ${leg} sends ${sidecars} to its subset ${subset}, but they never get it: ${order}, ${why} (measured on the lab, istiod 1.31). `
            + "Put each consumer's subset rules into its own namespace with exportTo [\".\"], or all beside the Service with exportTo [\"*\"].",
    };
}
