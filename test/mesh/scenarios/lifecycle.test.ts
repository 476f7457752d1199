// A host is created, changed field by field, moved to another route, taken off and removed, by real `pulumi up`, under 50 new connections a second.
import { expect } from "chai";
import { OnConnectFailure, LoadBalancer, Membership, OnEmptyAnswer, Resolution, Route } from "../../../model";
import type { DeclarationInput } from "../../../model";
import type { Lab } from "../lab";
import type { Hosts } from "../lab/stack";
import type { LoadResult, Second } from "../lab/agent/load";
import { declare } from "../lab/declare";
import { vip } from "../lab/layout";
import { expectNone, lost, times } from "../figures";
import { scenario } from "../scenario";

const PER_SECOND = 50;
const consumers = [{ namespace: "payments" }];
/** The library's default, which other scenarios do without. */
const DEFAULT_SETTLE = "2s";
const START = declare({ host: "api.life.example", consumers, settleTime: DEFAULT_SETTLE });
const { host } = START;

interface Inputs { readonly runs: number }
/** Each run lasts as long as `pulumi up` does: about 1,000 connections and more. */
const THRICE: Inputs = { runs: 3 }, TWICE: Inputs = { runs: 2 }, ONCE: Inputs = { runs: 1 };
interface Change {
    readonly load: LoadResult;
    /** The seconds of the load between which `pulumi up` ran. */
    readonly from: number;
    readonly until: number;
}
interface Figures { readonly changes: readonly Change[] }

/** From each declaration to the next, and back. */
const FIELDS: readonly { readonly id: string; readonly title: string; readonly changes: Partial<DeclarationInput>; readonly why?: string}[] = [
    { id: "connect-timeout", title: "connectTimeout", changes: { connectTimeout: "2s" }, why: "the cluster is made anew, and warmed before it takes over" },
    { id: "idle-timeout", title: "idleTimeout", changes: { idleTimeout: "10m" } },
    { id: "outlier", title: "outlier", changes: { outlier: { consecutiveLocalOriginFailures: 5, interval: "10s", baseEjectionTime: "1m", maxEjectionPercent: 60 } } },
    { id: "load-balancer", title: "loadBalancer", changes: { loadBalancer: LoadBalancer.LeastRequest } },
    { id: "pool", title: "pool and resolution: fixed to rotating", changes: { pool: { membership: Membership.Rotating }, resolution: Resolution.DnsRoundRobin } },
    { id: "ports", title: "ports: one more", changes: { ports: [{ number: 443 }, { number: 8443 }] } },
    { id: "consumers", title: "consumers: one more", changes: { consumers: [...consumers, { namespace: "orders" }] } },
    { id: "annotations", title: "ownership, failover, addressesPerAnswer", changes: { ownership: { owner: "team-other", purpose: "to be changed" }, failover: { detectionTime: "20s", dnsTtl: "10s", onConnectFailure: OnConnectFailure.Fail }, pool: { membership: Membership.Fixed, addressesPerAnswer: 2 } }, why: "annotations only" },
    { id: "on-empty-answer", title: "pool.onEmptyAnswer: fail to last-known", changes: { pool: { ...START.pool, onEmptyAnswer: OnEmptyAnswer.LastKnown } } },
    { id: "overrides", title: "manifestOverrides", changes: { manifestOverrides: { "DestinationRule/host": { spec: { trafficPolicy: { connectionPool: { tcp: { connectTimeout: "1s", tcpKeepalive: { time: "30s" } } } } } } } } },
];

/** Each route to each other one. */
const ROUTES: readonly (readonly [from: Route, to: Route])[] = [
    [Route.MtlsPassthrough, Route.Passthrough], [Route.Passthrough, Route.Direct], [Route.Direct, Route.MtlsPassthrough],
    [Route.MtlsPassthrough, Route.Direct], [Route.Direct, Route.Passthrough], [Route.Passthrough, Route.MtlsPassthrough],
];

const CLUSTER_FIRST = "a proxy loses the client's view's cluster a moment before the listener that names it (NC in its log); the moment is as long as the proxy is busy";
const SETTLE = ["0s", "300ms", "1s"] as const;

scenario("lifecycle", {
    title: "Create, change, remove", question: "A host's declaration is created, changed and removed by pulumi up, under 50 new connections a second. What is lost?",
}, ({ lab, cell }) => {
    before(async () => {
        await lab().dns.addresses(host, [vip(1)]);
        declared = JSON.stringify({});
    });

    cell({
        id: "create", title: "Create (settleTime 2 s, the default); before, the application reaches the host past the gateway", full: THRICE, quick: ONCE, timeoutMs: 600_000,
        measure: async (one, { runs }) => (await cycle(one, runs)).create,
        expect: expectLossless, shown, chart: chartOf("Create"),
        earlier: "0 of 1,000 in the order Gateway, DestinationRule, VirtualService; 1 all at once, 234 or 470 in wrong orders",
    });

    cell({
        id: "inactive", title: "active: false", full: THRICE, quick: ONCE, timeoutMs: 600_000,
        measure: async (one, { runs }) => (await cycle(one, runs)).inactive,
        expect: expectLossless, shown, chart: chartOf("active: false"), why: "the application reaches the host past the gateway again, as a mesh allows that lets unknown hosts out",
    });
    cell({
        id: "remove-inactive", title: "Removal after active: false", full: THRICE, quick: ONCE, timeoutMs: 600_000,
        measure: async (one, { runs }) => (await cycle(one, runs)).remove,
        expect: expectBrief, shown, why: CLUSTER_FIRST, chart: chartOf("Removal after active: false"),
    });

    cell({
        id: "destroy", title: "pulumi destroy, in one step", full: THRICE, timeoutMs: 600_000,
        measure: async (one, { runs }) => ({
            changes: await times(runs, async () => {
                await bring(one, { life: START });
                return under(one, {}, () => one.destroy());
            }),
        }),
        expect: expectBrief,
        shown, chart: chartOf("Destroy"), earlier: "0 of 1,000 with 2 s between the removals",
        why: `the mesh leg goes first, but nothing waits for the proxies before the rest goes; and ${CLUSTER_FIRST}`,
    });
    for (const settleTime of SETTLE) {
        cell({
            id: `create-settle-${settleTime}`, title: `Create with settleTime ${settleTime}`, full: ONCE, timeoutMs: 600_000,
            measure: (one, { runs }) => changes(one, runs, {}, { life: { ...START, settleTime } }),
            expect: ({ changes: [first] }) => expect(first?.load.sent ?? 0).to.be.greaterThan(PER_SECOND * 5),
            shown, chart: chartOf(`Create with settleTime ${settleTime}`),
        });
    }

    for (const { id, title, changes: more, why } of FIELDS) {
        cell({
            id: `change-${id}`, title: `Change of ${title}`, full: TWICE, timeoutMs: 600_000,
            measure: (one, { runs }) => backAndForth(one, runs, START, { ...START, ...more }),
            expect: expectLossless, shown, why, chart: chartOf(`Change of ${title}`),
        });
    }

    for (const [from, to] of ROUTES) {
        cell({
            id: `route-${from}-to-${to}`, title: `Route ${from} to ${to}`, full: ONCE, timeoutMs: 600_000,
            measure: (one, { runs }) => changes(one, runs, { life: on(from) }, { life: on(to) }),
            expect: ({ changes: all }) => {
                for (const { load } of all) expect(load.failed, lost(load)).to.be.lessThan(PER_SECOND);
            },
            shown, chart: chartOf(`Route ${from} to ${to}`),
        });
    }
});

function on(route: Route): DeclarationInput {
    return declare({ host, consumers, route, settleTime: DEFAULT_SETTLE });
}

/** What is declared now; undefined when nobody knows. */
let declared: string | undefined;

/** Without load, and only when something else is declared now. */
async function bring(lab: Lab, hosts: Hosts): Promise<void> {
    if (declared === JSON.stringify(hosts)) return;
    await lab.up(hosts);
    declared = JSON.stringify(hosts);
}

/** The same change several times; what was before it is brought back without load. */
async function changes(lab: Lab, runs: number, before: Hosts, after: Hosts): Promise<Figures> {
    return {
        changes: await times(runs, async () => {
            await bring(lab, before);
            return under(lab, after, () => lab.upOnly(after));
        }),
    };
}

/** To another declaration, back, and so on, all under load. */
async function backAndForth(lab: Lab, runs: number, one: DeclarationInput, other: DeclarationInput): Promise<Figures> {
    await bring(lab, { life: one });
    return {
        changes: await times(runs, (run) => {
            const hosts = { life: run % 2 === 0 ? other : one };
            return under(lab, hosts, () => lab.upOnly(hosts));
        }),
    };
}

type Stage = "create" | "inactive" | "remove";
const cycles = new Map<number, Promise<Readonly<Record<Stage, Figures>>>>();

/** Nothing, the host, `active: false`, nothing, and again: three cells are measured together, since each begins where the one before has ended. */
function cycle(lab: Lab, runs: number): Promise<Readonly<Record<Stage, Figures>>> {
    const known = cycles.get(runs) ?? (async () => {
        const all = await times(runs, async () => {
            await bring(lab, {});
            const stages: readonly (readonly [Stage, Hosts])[] = [["create", { life: START }], ["inactive", { life: { ...START, active: false } }], ["remove", {}]];
            const done: [Stage, Change][] = [];
            for (const [stage, hosts] of stages) done.push([stage, await under(lab, hosts, () => lab.upOnly(hosts))]);
            return Object.fromEntries(done) as Record<Stage, Change>;
        });
        const of = (stage: Stage): Figures => ({ changes: all.map((one) => one[stage]) });
        return { create: of("create"), inactive: of("inactive"), remove: of("remove") };
    })();
    cycles.set(runs, known);
    return known;
}

async function under(lab: Lab, hosts: Hosts, action: () => Promise<void>): Promise<Change> {
    declared = undefined;
    const { load, from, until } = await lab.apps.payments.during(host, { pace: { kind: "rate", perSecond: PER_SECOND }, address: vip(1), timeoutMs: 30_000 }, action);
    await lab.settled();
    declared = JSON.stringify(hosts);
    return { load, from, until };
}

/** A moment's connections, of one second at most, in which a proxy's old listener names a cluster that has gone. */
function expectBrief({ changes: all }: Figures): void {
    for (const { load } of all) expect(load.failed, lost(load)).to.be.lessThan(PER_SECOND);
}

function expectLossless({ changes: all }: Figures): void {
    expectNone(...all.map(({ load }) => load));
}

function shown({ changes: all }: Figures): string {
    const loads = all.map(({ load }) => load), seconds = all.flatMap(({ load }) => load.timeline.filter(({ failed }: Second) => failed > 0)).length;
    return `${lost(...loads)}${seconds === 0 ? "" : `; in ${String(seconds)} seconds`}`;
}

function chartOf(title: string): (figures: Figures) => { readonly title: string; readonly seconds: readonly Second[]; readonly events: readonly { readonly second: number; readonly text: string }[] } {
    return ({ changes: [first] }) => ({
        title, seconds: first?.load.timeline ?? [],
        events: first === undefined ? [] : [{ second: Math.round(first.from), text: "pulumi up begins" }, { second: Math.round(first.until), text: "it ends" }],
    });
}
