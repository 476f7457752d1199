// The plan of a declaration: what was decided, why, and what it means in a failover. Plain data, for outputs and reports.
import { type ContractTerm, applicationContract } from "./contract";
import { type Declaration, Lockdown } from "./declaration";
import { formatDuration } from "./duration";
import { type EmptyAnswer, decideEmptyAnswer, keepsLastKnown } from "./empty-answer";
import { GuardVerdict, MIN_PERCENT_AT_EVERY_SIZE, judgeGuard } from "./guard";
import { MEASURED_ISTIO, compareIstio, formatIstio, parseIstioVersion } from "./istio";
import { connectTimeoutMs, decideOutlier } from "./outlier";
import { Membership, Resolution, resolutionOf } from "./resolution";
import { carriesRequestsOnly } from "./ports";
import { isMutualToGateway, usesGateway } from "./routes";
import { countedHosts, standbyAddresses, standbyConsequences } from "./standby";
import { describeTls } from "./tls";
import { type Waiting, type WaitingDecision, decideCluster, decideWaiting, decideWaitingBeside, lostWithoutFilters } from "./waiting";
import { type DrainWait, type LossWindow, drainWait, lossWindow } from "./window";

export interface OutlierPlan {
    readonly emitted: boolean;
    readonly reason: string;
    readonly maxEjectionPercent?: number;
    readonly minHealthPercent?: number;
    /** How many addresses can be ejected at once. */
    readonly ejectable?: number;
    readonly verdicts?: readonly GuardVerdict[];
}

/** What a new connection does that cannot be made. */
export interface WaitingPlan extends Partial<Waiting> {
    readonly waits: boolean;
    readonly reason: string;
}

export interface StandbyPlan {
    /** The addresses that serve when none that DNS answers does. */
    readonly addresses: readonly string[];
    readonly text: string;
}

export interface EgressPlan {
    readonly host: string;
    readonly route: string;
    readonly active: boolean;
    readonly resolution: string;
    readonly resolutionReason: string;
    readonly connectTimeout: string;
    readonly outlier: OutlierPlan;
    readonly window: LossWindow;
    /** Whether new connections wait for a failover instead of failing in the loss window; where all ports are HTTP, whether requests do. */
    readonly waiting: WaitingPlan;
    /** What requests of HTTP ports do, where other ports stand beside them. */
    readonly requestWaiting?: WaitingPlan;
    /** What serves new connections while DNS answers no address. */
    readonly emptyAnswer: EmptyAnswer;
    readonly standby?: StandbyPlan;
    readonly drain: DrainWait;
    readonly contract: readonly ContractTerm[];
    /** What an unwise override or an unknown costs; each a sentence. */
    readonly consequences: readonly string[];
    /** The overrides that were merged into manifests, by object. */
    readonly overrides: readonly string[];
    /** The lines that people read. */
    readonly summary: readonly string[];
}

/** Decides everything about a declaration that is not a manifest. */
export function planOf(declaration: Declaration): EgressPlan {
    const decision = resolutionOf(declaration), outlier = outlierPlan(declaration);
    const window = lossWindow(declaration), drain = drainWait(declaration), waiting = waitingPlan(decideWaiting(declaration)), beside = decideWaitingBeside(declaration), standby = standbyPlan(declaration);
    const requestWaiting = beside === undefined ? undefined : waitingPlan(beside);
    const consequences = consequencesOf(declaration, decision.consequence, outlier);
    const overrides = Object.keys(declaration.manifestOverrides ?? {}), tls = describeTls(declaration);
    return {
        host: declaration.host, route: declaration.route, active: declaration.active,
        resolution: decision.resolution, resolutionReason: decision.reason,
        connectTimeout: formatDuration(connectTimeoutMs(declaration)),
        outlier, window, waiting, ...(requestWaiting === undefined ? {} : { requestWaiting }), emptyAnswer: decideEmptyAnswer(declaration), ...(standby === undefined ? {} : { standby }), drain, contract: applicationContract(declaration), consequences, overrides,
        summary: [
            `resolution ${decision.resolution}: ${decision.reason}`,
            describeOutlier(outlier, declaration),
            ...(tls === undefined ? [] : [tls]),
            `loss window: ${window.text}`,
            ...(standby === undefined ? [] : [`standby: ${standby.text}`]),
            `on connect failure: ${describeWaiting(waiting, carriesRequestsOnly(declaration))}`,
            ...(requestWaiting === undefined || requestWaiting.reason === waiting.reason && !requestWaiting.waits ? [] : [`on connect failure of a request (HTTP ports): ${describeWaiting(requestWaiting, true)}`]),
            ...(keepsLastKnown(declaration) ? ["on an empty DNS answer: the address of the last answer that had one serves; an address that is withdrawn with no other in its place goes on being used"] : []),
            ...(declaration.pool.membership === Membership.Fixed ? [`drain wait: ${drain.text}`] : []),
            ...(declaration.active ? [] : ["not active: the mesh leg is absent, and traffic does not take this route"]),
            ...overrides.map((key) => `overridden: ${key}`),
            ...consequences.map((text) => `note: ${text}`),
        ],
    };
}

function waitingPlan(decision: WaitingDecision): WaitingPlan {
    return decision.waits ? { waits: true, reason: decision.reason, ...decision.waiting } : decision;
}

function describeWaiting({ waits, reason, budgetMs = 0, attempts = 0, longestHoldMs = 0, handshakeTimeoutMs }: WaitingPlan, isRequest: boolean): string {
    const ends = isRequest ? "the request is answered with 503" : handshakeTimeoutMs === undefined ? "the connection fails" : `most connections fail after ${formatDuration(handshakeTimeoutMs)}, all`;
    return waits ? `waits: the gateway tries again for ${formatDuration(budgetMs)} (${reason}; ${attempts} attempts), and ${ends} after ${formatDuration(longestHoldMs)} at the latest` : `fails: ${reason}`;
}

function standbyPlan(declaration: Declaration): StandbyPlan | undefined {
    const addresses = standbyAddresses(declaration);
    if (addresses === undefined) return undefined;
    return { addresses, text: `${addresses.join(", ")} ${addresses.length === 1 ? "serves" : "serve"} once no address that DNS answers does; fair weather follows DNS alone` };
}

function describeOutlier({ emitted, reason, ejectable, verdicts }: OutlierPlan, declaration: Declaration): string {
    const { addressesPerAnswer: addresses } = declaration.pool, standby = standbyAddresses(declaration);
    if (!emitted) return `no outlier detection: ${reason}`;
    if (addresses === undefined) return "outlier detection: how many addresses it may eject is unknown, since pool.addressesPerAnswer is";
    if (standby !== undefined) return `outlier detection: ejects up to ${ejectable ?? 0} of ${countedHosts(declaration) ?? 0} hosts, ${addresses} that DNS answers and ${standby.length} that stand by (${verdicts?.join(", ") ?? ""})`;
    if (addresses === 1) return `outlier detection: ${reason}`;
    return `outlier detection: ejects up to ${ejectable ?? 0} of ${addresses} addresses (${verdicts?.join(", ") ?? ""})`;
}

function outlierPlan(declaration: Declaration): OutlierPlan {
    const decision = decideOutlier(declaration);
    if (!decision.emitted) return decision;
    const { maxEjectionPercent, minHealthPercent } = decision.settings, addresses = countedHosts(declaration);
    if (addresses === undefined) return { emitted: true, reason: decision.reason, maxEjectionPercent, minHealthPercent };
    const guard = judgeGuard(addresses, maxEjectionPercent, minHealthPercent);
    return {
        emitted: true, maxEjectionPercent, minHealthPercent, ejectable: guard.ejectable, verdicts: guard.verdicts,
        reason: addresses === 1 ? "inert by arithmetic with one address; it works as soon as a second record appears" : decision.reason,
    };
}

/** What an answer without addresses costs where nothing serves meanwhile. */
function emptyAnswerCost(declaration: Declaration): string {
    const cluster = decideCluster(declaration), { reason } = decideEmptyAnswer(declaration);
    return cluster === undefined
        ? `an empty or NXDOMAIN answer empties the address list until Envoy asks again after dnsRefreshRate (60 s; measured: 88 % of new connections failed in a 20 s fault), and nothing serves meanwhile: ${reason}.`
        : `an empty or NXDOMAIN answer empties the address list while it lasts (the gateway asks again every ${formatDuration(cluster.dnsRetryMs)}; measured: 36 % of new connections failed, those that began in a 20 s fault), and nothing serves meanwhile: ${reason}.`;
}

function consequencesOf(declaration: Declaration, forced: string | undefined, outlier: OutlierPlan): readonly string[] {
    const texts = forced === undefined ? [] : [`resolution ${resolutionOf(declaration).resolution} is forced on a ${declaration.pool.membership} pool: ${forced}.`];
    const addresses = countedHosts(declaration) ?? 1;
    for (const verdict of outlier.verdicts ?? []) {
        if (verdict === GuardVerdict.InertAfterWithdrawal) texts.push(`maxEjectionPercent ${outlier.maxEjectionPercent} ejects nothing once an answer of ${addresses} has shrunk to 2: use ${MIN_PERCENT_AT_EVERY_SIZE} or more.`);
        if (verdict === GuardVerdict.CanEmptyThePool && !keepsLastKnown(declaration)) texts.push("maxEjectionPercent 100 with minHealthPercent 0 can eject every address, and nothing serves then.");
        if (verdict === GuardVerdict.CanLeaveEjectedOnly && !keepsLastKnown(declaration)) texts.push("minHealthPercent 0 refuses an ejected address that becomes the only one, although it may be alive (measured: 200 of 200 failed, 0 with 1).");
    }
    if (resolutionOf(declaration).resolution === Resolution.Dns && decideEmptyAnswer(declaration).serves === "nobody") texts.push(emptyAnswerCost(declaration));
    texts.push(...standbyConsequences(declaration), ...lostWithoutFilters(declaration));
    if (outlier.verdicts?.includes(GuardVerdict.UndoneByPanic) === true) texts.push(`minHealthPercent ${outlier.minHealthPercent} starts panic routing at the first ejection, in which the ejected address is used again.`);
    const { gateway, route } = declaration;
    if (gateway?.lockdown === Lockdown.DryRun) texts.push("the gateway's lockdown is a dry run: what it would deny is counted and goes through; serviceAccounts are not enforced yet.");
    if (gateway?.lockdown === Lockdown.Enforced && !isMutualToGateway(route)) texts.push(`route ${route}: the gateway does not know who the client is, so whoever reaches it may use this host.`);
    if (!usesGateway(declaration.route) && resolutionOf(declaration).resolution !== Resolution.None) texts.push("route direct: every consumer's sidecar resolves the host by itself, and no gateway governs the traffic.");
    const version = parseIstioVersion(declaration.gateway?.istioVersion ?? "");
    if (version !== undefined && compareIstio(version, MEASURED_ISTIO) !== 0) {
        texts.push(`the figures were measured on Istio ${formatIstio(MEASURED_ISTIO)} and are not proven on ${formatIstio(version)}.`);
    }
    if (declaration.manifestOverrides !== undefined) texts.push("manifests are overridden: the plan says what the declaration gives, not what the overrides make of it.");
    return texts;
}
