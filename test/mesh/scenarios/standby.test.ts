// F without the GSLB: DNS leads, and the pool's known VIPs stand by with a lower priority. What is lost when the record never moves?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { EnvoyFilters, Membership, fillDefaults, standbyExpression } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import type { DnsRecord } from "../lab/agent/dns";
import { WAITING } from "../lab/declare";
import type { Fault } from "../lab/faults";
import { GATEWAY, vip } from "../lab/layout";
import { times } from "../figures";
import { counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { declared } from "../variants";

type DnsFault = Exclude<DnsRecord["kind"], "addresses">;
interface Host { readonly id: string; readonly vips: readonly [string, string]; readonly hasFilters: boolean; readonly answers: 1 | 2 }
const RUNS = isFull ? 3 : 1, TTL = 2;
const FAULTS: readonly Fault[] = ["drop", "refuse"];
const DNS_FAULTS: readonly DnsFault[] = ["empty", "nxdomain", "servfail", "silence"];
const runsOf = (id: string): readonly string[] => Array.from({ length: RUNS }, (_, run) => `${id}-${String(run)}`);
const HOSTS: readonly Host[] = [
    "fair", "withdrawn", "partner", ...FAULTS.flatMap((fault) => [...runsOf(`never-${fault}`), `without-filters-${fault}`]), ...isFull ? [...DNS_FAULTS.flatMap(runsOf), "alert"] : ["empty-0"],
].map((id, index) => ({ id, vips: [vip(2 * index + 1), vip(2 * index + 2)], hasFilters: !id.startsWith("without"), answers: id === "partner" ? 2 : 1 }));
const hostOf = ({ id }: Host): string => `${id}.standby.example`;
const named = (id: string): Host => {
    const host = HOSTS.find((one) => one.id === id);
    if (host === undefined) throw new Error(`There is no host ${id}.`);
    return host;
};
/** The GSLB's window is long, so that nothing but the standby addresses can be what serves. */
const declarationOf = (host: Host): DeclarationInput => declared(hostOf(host), {
    pool: { membership: Membership.Fixed, addressesPerAnswer: host.answers, standbyAddresses: [...host.vips] }, failover: { ...WAITING, detectionTime: "60s" },
    ...(host.hasFilters ? {} : { gateway: { ...GATEWAY, envoyFilters: EnvoyFilters.Forbidden } }),
});

/** Until the alert's expression was true after the address had died, false after it was back, and true when DNS answered nothing. */
interface Alert { readonly expression: string; readonly fair: boolean; readonly deadMs: number | undefined; readonly overMs: number | undefined; readonly emptyMs: number | undefined }
interface Load { readonly connections: number; readonly perSecond: number }
interface Fair { readonly saysA: Readonly<Record<string, number>>; readonly saysB: Readonly<Record<string, number>>; readonly a: string; readonly b: string; readonly priorities: readonly (readonly [address: string, priority: number])[]; readonly standbyUsed: number }
const at = ({ connections, perSecond }: Load): { readonly count: number; readonly pace: { readonly kind: "rate"; readonly perSecond: number }; readonly timeoutMs: number } => ({ count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 20_000 });
const THOUSAND: Load = { connections: 1000, perSecond: 20 };

scenario("standby", { title: "Standby addresses", question: "DNS leads and the pool's known VIPs stand by: what is lost when the only VIP in DNS dies and the GSLB never moves the record?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        for (const host of HOSTS) await lab().dns.addresses(hostOf(host), host.vips.slice(0, host.answers), { ttl: TTL });
        expect(await lab().up(Object.fromEntries(HOSTS.map((host) => [host.id, declarationOf(host)])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    cell<{ readonly connections: number }, Fair>({
        id: "fair", title: "Fair weather: DNS says A, then B", full: { connections: 60 }, quick: { connections: 20 }, isSideBySide: true,
        measure: (one, { connections }) => fairWeather(one, named("fair"), connections),
        expect: ({ saysA, saysB, a, b, priorities, standbyUsed }) => {
            expect([Object.keys(saysA), Object.keys(saysB)]).to.deep.equal([[a], [b]]);
            expect(priorities).to.have.deep.members([[b, 0], [a, 1], [b, 1]]);
            expect(standbyUsed).to.equal(0);
        },
        shown: ({ saysA, saysB, a, b }) => `${String(saysA[a])} to A, then ${String(saysB[b])} to B; standby unused`, earlier: "60 of 60 each, standby unused",
    });

    for (const fault of FAULTS) {
        cell<Load, { runs: readonly Run[] }>({
            id: `never-${fault}`, title: `The VIP dies, the record never moves, ${fault}`, full: THOUSAND, quick: { connections: 120, perSecond: 20 }, timeoutMs: 300_000, isSideBySide: true,
            measure: async (one, load) => ({ runs: await times(RUNS, (run) => neverMoves(one, named(`never-${fault}-${String(run)}`), fault, load)) }),
            expect: ({ runs }) => runs.forEach(({ failed, failedBy, totalMs }) => {
                expect(failed, JSON.stringify(failedBy)).to.equal(0);
                expect(totalMs?.max, "the slowest").to.be.below(isFull ? 3000 : 6000);
            }),
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, documents: "all fail", earlier: fault === "drop" ? "0 of 500, slowest 2.4 s (hand-written patches)" : "0 of 500, slowest 0.7 s (hand-written patches)",
        });
        cell<Load, { runs: readonly Run[]; readonly lastFailure: number }>({
            id: `without-filters-${fault}`, title: `The same where EnvoyFilters are forbidden, ${fault}`, full: { connections: 500, perSecond: 20 }, timeoutMs: 300_000,
            measure: async (one, load) => {
                const { timeline, ...run } = await neverMoves(one, named(`without-filters-${fault}`), fault, load);
                return { runs: [run], lastFailure: Math.max(-1, ...timeline.filter(({ failed }) => failed > 0).map(({ second }) => second)) };
            },
            expect: ({ runs: [run], lastFailure }) => {
                expect(run?.failed).to.be.within(3, 80);
                expect(lastFailure, "the last second in which one began that failed").to.be.at.most(3);
            },
            shown: ({ runs, lastFailure }) => `${failures(runs)}, the last begun in second ${String(lastFailure)}`, documents: "all fail", earlier: fault === "drop" ? "31 of 500" : "16 of 500",
            why: "3 failures eject each of the two entries of the dead address; the more begin within a time-out, the more fail",
        });
    }

    cell<Load, { readonly withdrawn: Run; readonly after: Run; readonly a: string }>({
        id: "withdrawn", title: "A is withdrawn on purpose and B serves; then B dies", full: { connections: 200, perSecond: 20 }, timeoutMs: 300_000,
        measure: (one, load) => withdrawn(one, named("withdrawn"), load),
        expect: ({ withdrawn: first, after, a }) => {
            expect([first.failed, first.by[a] ?? 0]).to.deep.equal([0, 0]);
            expect(after.failed, JSON.stringify(after.failedBy)).to.equal(0);
            expect(after.by[a]).to.be.greaterThan(100);
        },
        shown: ({ withdrawn: first, after, a }) => `${String(first.by[a] ?? 0)} of ${String(first.sent)} to A while B lives; then ${failures([after])}`,
    });

    cell<Load, { readonly run: Run; readonly standbyUsed: number }>({
        id: "partner", title: "Two addresses in the answer, one of them dies: its partner serves, and nothing stands in", full: THOUSAND, timeoutMs: 300_000,
        measure: async (one, load) => {
            const host = named("partner"), { run } = await dies(one, host, "drop", load);
            return { run, standbyUsed: (await one.gateways.pod(0).envoy.members(clusterName(hostOf(host)))).filter(({ priority }) => priority === 1).reduce((sum, { total }) => sum + total, 0) };
        },
        expect: ({ run, standbyUsed }) => expect([run.failed, standbyUsed]).to.deep.equal([0, 0]),
        shown: ({ run, standbyUsed }) => `${failures([run])}; ${String(standbyUsed)} to standby addresses`, why: "Envoy's own factor of 140 % would send 30 % of the connections there",
    });

    cell<Load, Alert>({
        id: "alert", title: "The alert of the plan: the VIP dies, is back, then the DNS answer is empty", full: { connections: 200, perSecond: 20 }, timeoutMs: 300_000,
        measure: (one, load) => alert(one, named("alert"), load),
        expect: ({ fair, deadMs, overMs, emptyMs }) => {
            expect(fair).to.equal(false);
            for (const ms of [deadMs, emptyMs]) expect(ms).to.be.below(10_000);
            expect(overMs, "an ejection of 30 s, and the next look at it").to.be.below(45_000);
        },
        shown: ({ deadMs, overMs, emptyMs }) => [["true", deadMs, "after its death"], ["false", overMs, "after its return"], ["true", emptyMs, "after the answer was empty"]].map(([is, ms, when]) => `${String(is)} ${(Number(ms) / 1000).toFixed(1)} s ${String(when)}`).join(", "),
    });

    for (const how of DNS_FAULTS) {
        cell<Load & { readonly faultSeconds: number }, { runs: readonly Run[] }>({
            id: how, title: `The DNS answer: ${how}, for 20 s`, full: { ...THOUSAND, faultSeconds: 20 }, ...(how === "empty" ? { quick: { connections: 160, perSecond: 20, faultSeconds: 5 } } : {}), timeoutMs: 300_000, isSideBySide: true,
            measure: async (one, load) => ({ runs: await Promise.all(runsOf(how).map((id) => asked(one, named(id), how, load))) }),
            expect: ({ runs }) => runs.forEach(({ failed, failedBy }) => expect(failed, JSON.stringify(failedBy)).to.equal(0)),
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, ...(how === "empty" ? { earlier: "0 of 600, served by the VIPs (88 % without standby)" } : {}),
        });
    }
});

/** Whether the alert's expression is true of what the gateway's Prometheus endpoint says now. */
async function isFiring(lab: Lab, expression: string): Promise<boolean> {
    const metrics = await lab.gateways.pod(0).envoy.metrics();
    return expression.split(" or ").some((comparison) => {
        const [, series = "", operator, limit] = /^(\S+\{.*\}) ([<>]=) (\d+)$/.exec(comparison) ?? [], value = metrics.get(series);
        if (value === undefined || operator === undefined) throw new Error(`The gateway has no metric ${series}; it has ${[...metrics.keys()].filter((name) => name.includes("membership_total")).join(", ")}.`);
        return operator === ">=" ? value >= Number(limit) : value <= Number(limit);
    });
}

async function alert(lab: Lab, host: Host, load: Load): Promise<Alert> {
    const [address, other] = host.vips, name = hostOf(host), expression = standbyExpression(fillDefaults(declarationOf(host))) ?? "", now = (): Promise<boolean> => isFiring(lab, expression);
    const until = async (is: boolean, withinMs: number): Promise<number | undefined> => {
        for (const begin = Date.now(); Date.now() - begin < withinMs; await wait(200)) if (await now() === is) return Date.now() - begin;
        return undefined;
    };
    await lab.members(name, [address, address, other]);
    await warmUp(lab, name);
    const fair = await now();
    lab.faults.vip(address, "drop");
    const [deadMs] = await Promise.all([until(true, 15_000), lab.apps.payments.load(name, at(load))]);
    lab.faults.clearVip(address);
    const overMs = await until(false, 60_000);
    await lab.dns.fails(name, "empty");
    const emptyMs = await until(true, 15_000);
    await lab.dns.addresses(name, [address], { ttl: TTL });
    return { expression, fair, deadMs, overMs, emptyMs };
}

async function fairWeather(lab: Lab, host: Host, connections: number): Promise<Fair> {
    const [a, b] = host.vips, name = hostOf(host), { envoy } = lab.gateways.pod(0);
    const load = async (): Promise<Readonly<Record<string, number>>> => (await counting(lab, name, () => lab.apps.payments.load(name, { count: connections, pace: { kind: "concurrency", connections: 4 } }))).run.by;
    await lab.members(name, [a, a, b]);
    const saysA = await load();
    await lab.dns.addresses(name, [b], { ttl: TTL });
    await lab.members(name, [b, a, b]);
    const saysB = await load(), members = await envoy.members(clusterName(name));
    return { a, b, saysA, saysB, priorities: members.map(({ address, priority }) => [address, priority] as const), standbyUsed: members.filter(({ priority }) => priority === 1).reduce((sum, { total }) => sum + total, 0) };
}

/** The first address that DNS answers dies, and DNS goes on answering it. */
async function dies(lab: Lab, host: Host, fault: Fault, load: Load): Promise<Awaited<ReturnType<typeof counting>>> {
    const [dead] = host.vips, name = hostOf(host);
    await lab.members(name, [...host.vips.slice(0, host.answers), ...host.vips]);
    await warmUp(lab, name);
    lab.faults.vip(dead, fault);
    return counting(lab, name, () => lab.apps.payments.load(name, at(load)));
}

async function neverMoves(lab: Lab, host: Host, fault: Fault, load: Load): Promise<Run & { readonly timeline: Awaited<ReturnType<typeof counting>>["timeline"] }> {
    const { run, timeline } = await dies(lab, host, fault, load);
    return { ...run, timeline: timeline.filter(({ failed }) => failed > 0) };
}

async function withdrawn(lab: Lab, host: Host, load: Load): Promise<{ readonly withdrawn: Run; readonly after: Run; readonly a: string }> {
    const [a, b] = host.vips, name = hostOf(host);
    await lab.dns.addresses(name, [b], { ttl: TTL });
    await lab.members(name, [b, a, b]);
    await warmUp(lab, name);
    const first = await counting(lab, name, () => lab.apps.payments.load(name, at(load)));
    lab.faults.vip(b, "drop");
    const second = await counting(lab, name, () => lab.apps.payments.load(name, at(load)));
    return { withdrawn: first.run, after: second.run, a };
}

async function asked(lab: Lab, host: Host, how: DnsFault, load: Load & { readonly faultSeconds: number }): Promise<Run> {
    const [address, other] = host.vips, name = hostOf(host);
    await lab.members(name, [address, address, other]);
    await warmUp(lab, name);
    const { run } = await counting(lab, name, async () => {
        const running = lab.apps.payments.load(name, { ...at(load), address });
        await lab.dns.fails(name, how);
        await wait(load.faultSeconds * 1000); // How long the GSLB answers so: the experiment.
        await lab.dns.addresses(name, [address], { ttl: TTL });
        return running;
    });
    return run;
}
