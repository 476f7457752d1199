// AuthorizationPolicies of others at the gateway that refuse our hosts: one that denies them, or one that allows something else, since
// the first that allows makes the gateway deny the rest.
import { type Declaration, Lockdown, Protocol, gatewayPort, isMutualToGateway } from "../../../model";
import { selects } from "../../../model/preflight";
import { type GatewayNeed, type Needs, gatewayKey, gatewayOf } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { IstioObject, Snapshot } from "../snapshot";
import { type Declared, ownerOf, titleOf } from "./foreign";
import { type Values, mapOf, maps, rootNamespace, strings, text } from "./mesh-values";

type Seens = Pick<Snapshot, "policies" | "gatewayPods" | "meshes" | "istioNamespace">;

/** Whether a rule takes a connection: for some of those of a consumer, or of what is not known here, perhaps. */
type Match = "yes" | "maybe" | "no";

/** Connections of one consumer to one host, as they come to the gateway. */
interface Traffic {
    readonly host: string;
    readonly namespace: string;
    /** The accounts that they come from; undefined for any of the namespace. */
    readonly accounts: readonly string[] | undefined;
    /** Whether the gateway knows the client: with mode passthrough it does not. */
    readonly hasIdentity: boolean;
    /** Whether the gateway reads requests; fields of a request mean something there only. */
    readonly isHttp: boolean;
    /** On which the gateway's pods listen. */
    readonly ports: readonly number[];
}

export function checkAuthorization(needs: Needs, snapshot: Seens): readonly Result[] {
    const results = new Results("gateway-denies", Group.InTheWay);
    for (const gateway of needs.gateways) {
        const policies = snapshot.policies.objects.filter((policy) => isInForce(policy) && appliesTo(policy, gateway, snapshot));
        const declared = needs.declarations.filter(({ declaration }) => isOf(declaration, gateway));
        for (const policy of policies.filter((one) => actionOf(one) === "DENY" && ownerOf(one) === undefined)) denies(policy, declared, results);
        // What is locked has policies of its own, which allow it.
        const own = new Set(declared.map(({ name }) => name)), allowing = policies.filter((one) => actionOf(one) === "ALLOW" && !own.has(ownerOf(one) ?? ""));
        if (allowing.length > 0) allowsOthers(allowing, declared.filter(({ declaration }) => declaration.gateway?.lockdown === Lockdown.Off), results);
    }
    const [why] = snapshot.policies.unseen;
    if (why !== undefined) results.unseen("AuthorizationPolicy objects", why, "at the gateway are not all known");
    return results.list;
}

const isOf = (declaration: Declaration, { key }: GatewayNeed): boolean => {
    const reference = gatewayOf(declaration);
    return reference !== undefined && gatewayKey(reference) === key;
};
const actionOf = ({ spec }: IstioObject): string => text(spec["action"]) ?? "ALLOW";
const isInForce = ({ annotations }: IstioObject): boolean => annotations["istio.io/dry-run"] !== "true";

/** In the gateway's namespace or the mesh's root, for its pods; without a selector for all. */
function appliesTo({ namespace, spec }: IstioObject, { key, reference }: GatewayNeed, snapshot: Seens): boolean {
    if (namespace !== reference.namespace && namespace !== rootNamespace(snapshot)) return false;
    if (spec["targetRef"] !== undefined || spec["targetRefs"] !== undefined) return false; // Of the Gateway API.
    const selector = Object.fromEntries(Object.entries(mapOf(mapOf(spec["selector"])["matchLabels"])).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
    const pods = snapshot.gatewayPods.get(key), labels = [reference.selector, ...(pods?.seen === true ? pods.value.map((pod) => pod.labels) : [])];
    return labels.some((one) => selects({ matchLabels: selector }, one) === true);
}

function trafficOf({ host, route, gateway, ports, consumers }: Declaration): readonly Traffic[] {
    const listened = ports.flatMap((port) => gateway?.ports.filter(({ number }) => number === gatewayPort(port, route)).map(({ targetPort }) => targetPort) ?? []);
    return consumers.map(({ namespace, serviceAccounts }) => ({
        host, namespace, accounts: serviceAccounts, hasIdentity: isMutualToGateway(route), isHttp: ports.some(({ protocol }) => protocol === Protocol.Http), ports: listened,
    }));
}

function denies(policy: IstioObject, declared: readonly Declared[], results: Results): void {
    const found: Record<Match, string[]> = { yes: [], maybe: [], no: [] };
    for (const { name, declaration } of declared) for (const traffic of trafficOf(declaration)) found[rulesMatch(policy, traffic)].push(`${name} for ${traffic.namespace}`);
    const fix = "Except the host from it (when: connection.sni, notValues), or delete it.";
    if (found.yes.length > 0) results.missing(titleOf(policy), `denies at the gateway ${enumerate(found.yes)}.`, fix);
    if (found.maybe.length > 0) results.warning(titleOf(policy), `may deny at the gateway ${enumerate(found.maybe)}: it depends on what a catalogue does not say.`, fix);
}

function allowsOthers(policies: readonly IstioObject[], declared: readonly Declared[], results: Results): void {
    const found: Record<Match, string[]> = { yes: [], maybe: [], no: [] };
    for (const { name, declaration } of declared) {
        for (const traffic of trafficOf(declaration)) found[any(policies.map((policy) => rulesMatch(policy, traffic)))].push(`${name} for ${traffic.namespace}`);
    }
    const [first] = policies, title = first === undefined ? "" : titleOf(first), others = policies.length === 1 ? "" : ` (and ${enumerate(policies.slice(1).map(titleOf))})`;
    const fix = "Allow them too, by their connection.sni, or lock the gateway with EgressLockdown, which allows each host.";
    if (found.no.length > 0) results.missing(title, `allows some connections at the gateway${others}, which so denies all others, among them ${enumerate(found.no)}.`, fix);
    if (found.maybe.length > 0) results.warning(title, `allows some connections at the gateway${others}, which so denies all others, perhaps ${enumerate(found.maybe)}: it depends on what a catalogue does not say.`, fix);
}

const any = (matches: readonly Match[]): Match => (matches.includes("yes") ? "yes" : matches.includes("maybe") ? "maybe" : "no");
const all = (matches: readonly Match[]): Match => (matches.includes("no") ? "no" : matches.includes("maybe") ? "maybe" : "yes");
const not = (match: Match): Match => (match === "yes" ? "no" : match === "no" ? "yes" : "maybe");

/** A policy without rules takes nothing, a rule without fields everything. */
function rulesMatch(policy: IstioObject, traffic: Traffic): Match {
    const isDeny = actionOf(policy) === "DENY";
    return any(maps(policy.spec["rules"]).map((rule) => all([
        ...alternatives(rule["from"], "source", (field, values) => sourceMatches(field, values, traffic, isDeny)),
        ...alternatives(rule["to"], "operation", (field, values) => operationMatches(field, values, traffic, isDeny)),
        ...maps(rule["when"]).map((condition) => conditionMatches(condition, traffic, isDeny)),
    ])));
}

/** Entries of `from` or `to`, one of which must match, with all of its fields; none where there is no list. */
function alternatives(list: unknown, name: string, matches: (field: string, values: readonly string[]) => Match): readonly Match[] {
    const entries = maps(list);
    return entries.length === 0 ? [] : [any(entries.map((entry) => all(fieldsOf(mapOf(entry[name]), matches))))];
}

function fieldsOf(fields: Values, matches: (field: string, values: readonly string[]) => Match): readonly Match[] {
    return Object.entries(fields).map(([field, value]) => {
        const negated = /^not([A-Z])(.*)$/.exec(field);
        return negated === null ? matches(field, strings(value)) : not(matches(`${negated[1]?.toLowerCase() ?? ""}${negated[2] ?? ""}`, strings(value)));
    });
}

/** A field of a request, where the gateway reads none: left out of a rule that denies; a rule that allows takes nothing (istio.io, AuthorizationPolicy). */
const ofRequest = (isHttp: boolean, isDeny: boolean): Match => (isHttp ? "maybe" : isDeny ? "yes" : "no");

function sourceMatches(field: string, values: readonly string[], traffic: Traffic, isDeny: boolean): Match {
    switch (field) {
        case "principals": return any(values.map((value) => principalMatches(value, traffic)));
        case "namespaces": return traffic.hasIdentity ? some(values, traffic.namespace) : "no";
        case "requestPrincipals": return ofRequest(traffic.isHttp, isDeny);
        default: return "maybe";
    }
}

/** `cluster.local/ns/NAMESPACE/sa/ACCOUNT`, exact or with a `*` at either end. */
function principalMatches(pattern: string, { namespace, accounts, hasIdentity }: Traffic): Match {
    if (!hasIdentity) return "no";
    if (pattern === "*") return "yes";
    if (accounts !== undefined) {
        const matches = accounts.map((account) => some([pattern], `cluster.local/ns/${namespace}/sa/${account}`));
        return matches.every((one) => one === "yes") ? "yes" : matches.every((one) => one === "no") ? "no" : "maybe";
    }
    const whole = `cluster.local/ns/${namespace}/sa/`;
    if (pattern.endsWith("*")) return whole.startsWith(pattern.slice(0, -1)) ? "yes" : pattern.startsWith(whole) ? "maybe" : "no";
    return pattern.startsWith("*") || pattern.startsWith(whole) ? "maybe" : "no";
}

function operationMatches(field: string, values: readonly string[], { ports, isHttp }: Traffic, isDeny: boolean): Match {
    if (field !== "ports") return ofRequest(isHttp, isDeny);
    const taken = ports.filter((port) => values.includes(String(port))).length;
    return taken === 0 ? "no" : taken === ports.length ? "yes" : "maybe";
}

function conditionMatches(condition: Values, traffic: Traffic, isDeny: boolean): Match {
    const key = text(condition["key"]) ?? "", values = strings(condition["values"]), notValues = strings(condition["notValues"]);
    const matches = (given: readonly string[]): Match => {
        switch (key) {
            case "connection.sni": return some(given, traffic.host);
            case "source.principal": return any(given.map((value) => principalMatches(value, traffic)));
            case "source.namespace": return traffic.hasIdentity ? some(given, traffic.namespace) : "no";
            case "destination.port": return operationMatches("ports", given, traffic, isDeny);
            default: return key.startsWith("request.") ? ofRequest(traffic.isHttp, isDeny) : "maybe";
        }
    };
    return all([...(values.length === 0 ? [] : [matches(values)]), ...(notValues.length === 0 ? [] : [not(matches(notValues))])]);
}

/** Istio's patterns: exact, a prefix or a suffix with `*`, or `*` for anything. */
function some(patterns: readonly string[], value: string): Match {
    return patterns.some((pattern) => pattern === "*" || pattern === value || (pattern.endsWith("*") && value.startsWith(pattern.slice(0, -1))) || (pattern.startsWith("*") && value.endsWith(pattern.slice(1)))) ? "yes" : "no";
}
