// DestinationRules of others that hide ours, or that ours would hide: rules are looked up in the client's namespace, then in the
// Service's, then in the root namespace, the first that has any wins whole, and two in one namespace merge only when exported alike.
import { ALL_CONSUMERS, GatewayConsumers, normaliseHost } from "../../../model";
import { covers, fullHost, isVisible, sameExport } from "../../../model/preflight";
import { type GatewayNeed, type Needs, gatewayOf } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { IstioObject, Snapshot } from "../snapshot";
import { type Declared, consumersOf, exportOf, foreign, hostOf, ownerOf, titleOf } from "./foreign";
import { exportDefault, maps, rootNamespace, text } from "./mesh-values";

type Seens = Pick<Snapshot, "objects" | "meshes" | "istioNamespace">;

interface Rules {
    readonly objects: Snapshot["objects"];
    readonly others: readonly IstioObject[];
    readonly meshDefault: readonly string[];
    readonly root: string;
}

export function checkRules(needs: Needs, snapshot: Seens): readonly Result[] {
    const rules: Rules = {
        objects: snapshot.objects, others: foreign("DestinationRule", needs, snapshot),
        meshDefault: exportDefault(snapshot.meshes, "defaultDestinationRuleExportTo"), root: rootNamespace(snapshot),
    };
    return [
        ...needs.gateways.flatMap((gateway) => (gateway.reference.consumers === GatewayConsumers.All ? subsetsForAll(gateway, rules) : subsetsOfConsumers(gateway, rules))),
        ...needs.declarations.flatMap((declared) => hostRule(declared, rules)),
    ];
}

/** Whether a rule counts for proxies of its own namespace. */
const countsAtHome = (rule: IstioObject): boolean => exportOf(rule).length === 0 || isVisible(exportOf(rule), rule.namespace, rule.namespace);
const shown = (exportTo: readonly string[]): string => (exportTo.length === 0 ? "no exportTo" : `exportTo ${JSON.stringify(exportTo)}`);
const isFor = (rule: IstioObject, host: string): boolean => fullHost(hostOf(rule), rule.namespace) === normaliseHost(host);

/** Each consumer's subsets are in its own namespace, exported to it alone. */
function subsetsOfConsumers({ reference: { serviceHost }, service, consumers }: GatewayNeed, { objects, others, meshDefault, root }: Rules): readonly Result[] {
    const results = new Results("subsets-hidden", Group.InTheWay), ofService = others.filter((rule) => isFor(rule, serviceHost));
    for (const rule of ofService.filter((one) => consumers.includes(one.namespace) && countsAtHome(one) && !sameExport(exportOf(one), ["."]))) {
        results.missing(titleOf(rule), `is for the gateway's Service and has ${shown(exportOf(rule))}, but the subsets of this catalogue in ${rule.namespace} have exportTo ["."]: rules merge only when exported alike, and otherwise hide one another.`,
            'Give it exportTo: ["."], or delete it.');
    }
    for (const rule of ofService.filter(({ namespace }) => (namespace === service.namespace || namespace === root) && !consumers.includes(namespace))) {
        const losing = consumers.filter((namespace) => isVisible(exportOf(rule), rule.namespace, namespace, meshDefault)
            && !objects.DestinationRule.objects.some((one) => one.namespace === namespace && isFor(one, serviceHost) && ownerOf(one) !== undefined));
        if (losing.length === 0) continue;
        const subsets = maps(rule.spec["subsets"]).flatMap((subset) => text(subset["name"]) ?? []);
        results.warning(titleOf(rule), `is for the gateway's Service, and its ${subsets.length === 0 ? "policy" : `subsets (${enumerate(subsets)})`} will no longer count for the sidecars of ${enumerate(losing)}: they take the rules of their own namespace, which up writes.`,
            `Before up, move what these namespaces use of it into each of them, with exportTo: ["."].`);
    }
    return results.list;
}

/** The subsets of a gateway for all are with its Service, exported to everybody. */
function subsetsForAll({ reference: { serviceHost }, service }: GatewayNeed, { others }: Rules): readonly Result[] {
    const results = new Results("subsets-hidden", Group.InTheWay);
    for (const rule of others.filter((one) => isFor(one, serviceHost) && (one.namespace === service.namespace || countsAtHome(one)))) {
        if (rule.namespace !== service.namespace) {
            results.missing(titleOf(rule), `is for the gateway's Service: the sidecars of ${rule.namespace} look in their own namespace first and would not see the subsets, which are in ${service.namespace}.`, "Delete it.");
        } else if (!sameExport(exportOf(rule), ["*"])) {
            results.missing(titleOf(rule), `is for the gateway's Service and has ${shown(exportOf(rule))}, but the subsets of this catalogue have exportTo ["*"]: rules merge only when exported alike, and otherwise hide one another.`, 'Give it exportTo: ["*"], or delete it.');
        }
    }
    return results.list;
}

/** The host's own rule is in the declaration's namespace, for the proxies that own its cluster. */
function hostRule({ name, declaration }: Declared, { others, root }: Rules): readonly Result[] {
    const results = new Results("host-rule-hidden", Group.InTheWay), gateway = gatewayOf(declaration), { host, namespace: home } = declaration;
    const viewers = gateway === undefined ? consumersOf(declaration) : [gateway.namespace];
    for (const rule of others) {
        const pattern = fullHost(hostOf(rule), rule.namespace), exportTo = exportOf(rule);
        if (rule.namespace === home && pattern === normaliseHost(host)) {
            const how = sameExport(exportTo, viewers) ? "the two merge, and the older one's policy counts" : `it has ${shown(exportTo)} and ours ${shown(viewers)}, so that they hide one another`;
            results.missing(titleOf(rule), `is for ${host}, as that of ${name} will be, in the same namespace: ${how}.`, "Delete it; what it sets belongs into the declaration (or manifestOverrides).");
        } else if (rule.namespace !== home && covers(pattern, host) && (viewers.includes(rule.namespace) || viewers.includes(ALL_CONSUMERS)) && countsAtHome(rule)) {
            // In the root namespace only what is private to it comes before the Service's namespace.
            if (rule.namespace === root && (exportTo.length === 0 || !exportTo.every((word) => word === "." || word === root))) continue;
            results.missing(titleOf(rule), `is for ${pattern === normaliseHost(host) ? host : `${pattern}, which covers ${host}`}: proxies of ${rule.namespace} look in their own namespace first and would not see the rule of ${name}, which is in ${home}.`,
                "Delete it, or narrow its host; what it sets belongs into the declaration (or manifestOverrides).");
        }
    }
    return results.list;
}
