// The one validator of a declaration: structure, then what Istio or Envoy rejects and what can have no effect.
import { checkAddresses } from "./addresses";
import { checkConsumers } from "./check-consumers";
import { checkPorts } from "./check-ports";
import { type Declaration, type GatewayReference, LABEL_PATTERN, declarationSchema } from "./declaration";
import { parseDuration } from "./duration";
import { checkEmptyAnswer } from "./empty-answer";
import { MIN_PERCENT_AT_EVERY_SIZE, ejectable, panics, safeBand } from "./guard";
import { type Gateway, checkGatewayMode, gatewayReference, gatewaySchema } from "./gateway";
import { parseHost } from "./host";
import { parseIstioVersion } from "./istio";
import { type LockdownPlan, lockdownProblems, lockdownSchema } from "./lockdown";
import { overrideProblems } from "./overrides";
import { EJECTION_OF_LOGICAL } from "./outlier";
import { type Path, type Problem, Problems, formatPath, isWithin, show } from "./problem";
import { Membership, Resolution, isWildcard, resolutionOf } from "./resolution";
import { usesGateway } from "./routes";
import { checkStandby, standbyAddresses } from "./standby";
import { checkStructure, describeIn } from "./structure";
import { checkTls } from "./tls";
import { checkWaiting } from "./waiting";

const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_KEY = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
/** The longest time.Duration of Go, in whole seconds as milliseconds: Istio and the API server read durations with it. */
const LONGEST_MS = 9_223_372_036_000;

export type CheckResult = { readonly ok: true; readonly declaration: Declaration } | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Checks a declaration as users write it and fills in its defaults. All problems are returned at once; the semantic ones
 * only once the structure is right. `unknown` lists the properties whose values are stand-ins for values that are not
 * known yet: what depends on them is not judged.
 */
export function checkDeclaration(raw: unknown, unknown: readonly Path[] = []): CheckResult {
    const structure = checkStructure(declarationSchema, raw);
    const problems = structure.ok ? semanticProblems(structure.value) : structure.problems;
    const judged = judgeable(problems, unknown);
    if (judged.length > 0) return { ok: false, problems: judged };
    if (!structure.ok) return { ok: false, problems: structure.problems };
    return { ok: true, declaration: normalise(structure.value) };
}

/** A declaration with its defaults filled in and its host normalised, not judged; the structure must be right. */
export function fillDefaults(raw: unknown): Declaration {
    return normalise(declarationSchema.parse(raw));
}

export type GatewayResult = { readonly ok: true; readonly gateway: Gateway } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks an egress gateway as users declare it, one that exists or one to deploy, and fills in its defaults. */
export function checkGateway(name: string, raw: unknown, unknown: readonly Path[] = []): GatewayResult {
    const structure = checkStructure(gatewaySchema, raw);
    if (!structure.ok) {
        const judged = judgeable(structure.problems, unknown);
        return { ok: false, problems: judged.length > 0 ? judged : structure.problems };
    }
    const problems = checkGatewayMode(name, structure.value);
    if (problems.list.length === 0) checkReference(problems, gatewayReference(name, structure.value), []);
    const judged = judgeable(problems.list, unknown);
    return judged.length > 0 ? { ok: false, problems: judged } : { ok: true, gateway: structure.value };
}

export type LockdownResult = { readonly ok: true; readonly lockdown: LockdownPlan } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks the lockdown of a gateway, and fills in its defaults. */
export function checkLockdown(raw: unknown, unknown: readonly Path[] = []): LockdownResult {
    const structure = checkStructure(lockdownSchema, raw);
    if (!structure.ok) {
        const judged = judgeable(structure.problems, unknown);
        return { ok: false, problems: judged.length > 0 ? judged : structure.problems };
    }
    const problems = lockdownProblems(structure.value);
    checkReference(problems, structure.value.gateway, ["gateway"]);
    const judged = judgeable(problems.list, unknown);
    return judged.length > 0 ? { ok: false, problems: judged } : { ok: true, lockdown: structure.value };
}

/** What a property of a declaration is, as its schema says. */
export function describeProperty(path: Path): string | undefined {
    return describeIn(declarationSchema, path);
}

/** Leaves out what depends on a value that is not known. */
function judgeable(problems: readonly Problem[], unknown: readonly Path[]): readonly Problem[] {
    return problems.filter((problem) => !problem.reads.some((read) => unknown.some((path) => isWithin(read, path) || isWithin(path, read))));
}

function normalise(declaration: Declaration): Declaration {
    const verdict = parseHost(declaration.host);
    return verdict.ok ? { ...declaration, host: verdict.host.name } : declaration;
}

function semanticProblems(declaration: Declaration): readonly Problem[] {
    const problems = new Problems();
    checkHost(problems, declaration);
    checkPool(problems, declaration);
    checkPorts(problems, declaration);
    checkAddresses(problems, declaration);
    checkUseOfGateway(problems, declaration);
    checkConsumers(problems, declaration);
    checkDurations(problems, declaration);
    checkNoEffect(problems, declaration);
    checkStandby(problems, declaration);
    checkEmptyAnswer(problems, declaration);
    checkWaiting(problems, declaration);
    checkTls(problems, declaration);
    checkOutlier(problems, declaration);
    checkOwnership(problems, declaration);
    problems.list.push(...overrideProblems(declaration));
    return problems.list;
}

function checkHost(problems: Problems, { host }: Declaration): void {
    const verdict = parseHost(host);
    if (!verdict.ok) problems.add(["host"], `is ${show(host)}, and ${verdict.reason}.`);
}

function checkPool(problems: Problems, declaration: Declaration): void {
    const { pool } = declaration;
    if (pool.membership === Membership.Fixed && pool.addressesPerAnswer === undefined) {
        problems.add(["pool", "addressesPerAnswer"], "is missing: a fixed pool must say how many addresses one DNS answer holds (dig +short HOST | wc -l), since the ejection guard and the loss window depend on it.", [["pool", "membership"]]);
    }
    if (declaration.resolution !== undefined && isWildcard(declaration.host)) {
        problems.add(["resolution"], `is ${show(declaration.resolution)}, but ${show(declaration.host)} is a wildcard, which no DNS answer resolves: leave it out.`, [["host"]]);
    }
}

function checkUseOfGateway(problems: Problems, { route, gateway, active }: Declaration): void {
    const reads: Path[] = [["route"], ["gateway"]];
    if (usesGateway(route) && gateway === undefined) problems.add(["gateway"], `is missing: route ${route} needs the reference of an egress gateway.`, reads);
    if (!usesGateway(route) && gateway !== undefined) problems.add(["gateway"], `has no effect with route ${route}: remove it, or choose route mtls-passthrough.`, reads);
    if (!usesGateway(route) && !active) problems.add(["active"], `is false, but has no effect with route ${route}, which has no mesh leg to take away: remove the declaration instead.`, [["route"]]);
    if (gateway !== undefined) checkReference(problems, gateway, ["gateway"]);
}

function checkReference(problems: Problems, gateway: GatewayReference, at: Path): void {
    const host = gateway.serviceHost, [, service, domain] = host.split(/\.([^.]+)\.svc\./);
    if (host.length > 253 || service === undefined || domain === undefined || !host.split(".").every((label) => LABEL_PATTERN.test(label))) {
        problems.add([...at, "serviceHost"], `is ${show(host)}, which is not the full name of a Service: write it as NAME.NAMESPACE.svc.cluster.local.`);
    } else if (service !== gateway.namespace) {
        problems.add([...at, "serviceHost"], `is ${show(host)}, a Service of namespace ${service}, but the gateway's pods run in ${gateway.namespace}: a Service selects pods of its own namespace only, so name the Service there.`, [[...at, "namespace"]]);
    }
    for (const [label, value] of Object.entries(gateway.selector)) {
        if (LABEL_KEY.test(label) && LABEL_VALUE.test(value)) continue;
        problems.add([...at, "selector", label], `is ${show(value)}, and ${show(label)}: ${show(value)} is not a label that Kubernetes accepts on a pod: copy it from the gateway's pods.`);
    }
    if (parseIstioVersion(gateway.istioVersion) === undefined) {
        problems.add([...at, "istioVersion"], `is ${show(gateway.istioVersion)}, which is not an Istio version: write it as 1.31 or 1.31.0.`);
    }
    const numbers = gateway.ports.map((port) => port.number);
    numbers.forEach((number, index) => {
        const first = numbers.indexOf(number);
        if (first !== index) problems.add([...at, "ports", index, "number"], `is ${number}, which ${formatPath([...at, "ports", first])} declares already: remove one of them.`, [[...at, "ports", first]]);
    });
}

function checkDurations(problems: Problems, { failover, connectTimeout, idleTimeout, outlier }: Declaration): void {
    const fields: readonly (readonly [path: Path, text: string | undefined, zero: string | undefined])[] = [
        [["connectTimeout"], connectTimeout, "Istio rejects a connect timeout below 1ms: raise it, or leave it out"],
        // 0 switches Envoy's idle timeout off.
        [["idleTimeout"], idleTimeout, undefined],
        [["outlier", "interval"], outlier?.interval, "Istio rejects a duration below 1ms: raise it, or leave it out"],
        [["outlier", "baseEjectionTime"], outlier?.baseEjectionTime, "Istio rejects a duration below 1ms: raise it, or leave it out"],
        [["failover", "dnsTtl"], failover?.dnsTtl, "a TTL of 0 makes Envoy ask at its dnsRefreshRate (60 s) instead: give the TTL that the resolver answers, or 60s"],
        [["failover", "detectionTime"], failover?.detectionTime, undefined],
        [["failover", "envoyRefresh"], failover?.envoyRefresh, undefined],
        [["failover", "longestConnection"], failover?.longestConnection, undefined],
    ];
    for (const [path, text, zero] of fields) {
        if (text === undefined) continue;
        const ms = parseDuration(text) ?? 0;
        if (ms === 0 && zero !== undefined) problems.add(path, `is ${show(text)}, but ${zero}.`);
        else if (!Number.isInteger(ms)) problems.add(path, `is ${show(text)}, but Istio takes whole milliseconds only: round it.`);
        else if (ms > LONGEST_MS) problems.add(path, `is ${show(text)}, but the longest time that Istio's fields carry is 2562047h: lower it.`);
    }
}

/** What is accepted by Istio and changes nothing, since a wildcard or LOGICAL_DNS has no list to spread over. */
function checkNoEffect(problems: Problems, declaration: Declaration): void {
    const { resolution } = resolutionOf(declaration), reads: Path[] = [["resolution"], ["pool", "membership"], ["host"]];
    if (declaration.loadBalancer !== undefined && resolution !== Resolution.Dns) {
        const why = resolution === Resolution.None ? "the application chooses the address" : "LOGICAL_DNS has one host";
        problems.add(["loadBalancer"], `is ${show(declaration.loadBalancer)}, but has no effect with resolution ${resolution}: ${why}; remove it.`, reads);
    }
}

function checkOutlier(problems: Problems, declaration: Declaration): void {
    const { outlier, pool } = declaration;
    if (outlier === undefined) return;
    const { resolution } = resolutionOf(declaration);
    const reads: Path[] = [["resolution"], ["pool", "membership"], ["host"]];
    if (resolution !== Resolution.Dns) {
        const why = resolution === Resolution.None ? "the sidecar has no address list to eject from" : EJECTION_OF_LOGICAL;
        problems.add(["outlier"], `has no effect with resolution ${resolution}: ${why}; remove it.`, reads);
        return;
    }
    const path: Path = ["outlier", "maxEjectionPercent"], max = outlier.maxEjectionPercent, addresses = pool.addressesPerAnswer;
    const health = outlier.minHealthPercent, hasStandby = standbyAddresses(declaration) !== undefined;
    if (addresses !== undefined && addresses > 1 && !hasStandby && panics(addresses, 1, health)) {
        const ceiling = Math.floor((100 * (addresses - 1)) / addresses);
        problems.add(["outlier", "minHealthPercent"], `is ${health}, but with one of ${addresses} addresses ejected the healthy share is below that, and Envoy then uses the ejected one again (panic routing): leave it unset (1), or take at most ${ceiling}.`, [["pool", "addressesPerAnswer"], ...reads]);
    }
    if (max === undefined) return;
    if (max === 0) {
        problems.add(path, `is 0, which Istio does not send, so that Envoy's own 10 % acts and nothing is ejected in a pool of fewer than 10: leave it unset (${MIN_PERCENT_AT_EVERY_SIZE}) or raise it.`);
        return;
    }
    // With standby addresses the guard counts both priorities, which checkStandby judges.
    const band = addresses === undefined || hasStandby ? undefined : safeBand(addresses);
    if (addresses === undefined || band === undefined || ejectable(addresses, max) > 0) return;
    problems.add(path, `is ${max}, but a pool of ${addresses} addresses ejects one only at ${band.min}..${band.max}: leave it unset (${MIN_PERCENT_AT_EVERY_SIZE}) or raise it.`, [["pool", "addressesPerAnswer"], ...reads]);
}

function checkOwnership(problems: Problems, { ownership }: Declaration): void {
    const { expires } = ownership;
    if (expires === undefined) return;
    const date = new Date(`${expires}T00:00:00Z`);
    if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== expires) {
        problems.add(["ownership", "expires"], `is ${show(expires)}, which is not a day of the calendar: write it as YYYY-MM-DD.`);
    }
}
