// What waiting costs: both VIPs dead for 30 s under many connections, the gateway's memory and sockets, the host beside it, and fair weather.
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { OnConnectFailure } from "../../../model";
import type { Lab } from "../lab";
import { WAITING } from "../lab/declare";
import type { LoadResult, Quantiles } from "../lab/agent/load";
import { namespaceOf, processesIn } from "../lab/network";
import { Addresses, counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { scenario } from "../scenario";
import { answering, declared } from "../variants";

const HOSTS = { both: "both.limits.example", many: "many.limits.example", beside: "beside.limits.example", fail: "fail.limits.example", control: "control.limits.example", waits: "waits.limits.example", capped: "capped.limits.example" };
const FAILS = { ...WAITING, onConnectFailure: OnConnectFailure.Fail };
const addresses = new Addresses(), TTL = 2;

interface BothInputs { readonly deadSeconds: number; readonly perSecond: number; readonly restSeconds: number }
interface Both { readonly run: Run; readonly deadSeconds: number; /** From the moment at which both were reachable until the first that had waited was answered. */ readonly lastSecond: number }
interface Usage { readonly memoryMb: number; readonly sockets: number }
interface Many { readonly waiting: number; readonly before: Usage; readonly during: Usage; readonly after: Usage; readonly run: Run; readonly besideAlone: Quantiles; readonly beside: Quantiles; readonly besideFailed: number }
interface Capped { readonly limit: number; readonly before: Usage; readonly during: Usage; readonly run: Run; /** New connections to the other host meanwhile, and after those that waited have ended. */ readonly beside: Outcome; readonly besideAfter: Outcome }
interface Outcome { readonly sent: number; readonly failed: number; readonly slowestMs: number }
interface Speed { readonly connectMs: Quantiles; readonly perSecond: number }
/** Each round on three hosts: without, without once more (what two equal hosts differ by), and with. */
interface Fair { readonly rounds: readonly (readonly [without: Speed, control: Speed, waits: Speed])[] }

const FAIR = [HOSTS.fail, HOSTS.control, HOSTS.waits];
interface Ratios { readonly p50: number; readonly p99: number; readonly throughput: number }
const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
function ratios({ rounds }: Fair, index: 1 | 2): Ratios {
    return {
        // Times are whole milliseconds: of all rounds together they tell more than the middle one's.
        p50: sum(rounds.map((round) => round[index].connectMs.p50)) / sum(rounds.map(([without]) => without.connectMs.p50)),
        p99: middle(rounds.map((round) => round[index].connectMs.p99 / round[0].connectMs.p99)), throughput: middle(rounds.map((round) => round[index].perSecond / round[0].perSecond)),
    };
}
const shownRatios = ({ p50, p99, throughput }: Ratios): string => `p50 ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}, throughput ${throughput.toFixed(3)}`;

scenario("waiting-limits", { title: "What waiting costs", question: "Both VIPs die under many connections: how soon is it over, what does the gateway hold meanwhile, and what do other hosts and fair weather notice?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(240_000);
        for (const host of Object.values(HOSTS)) await lab().dns.addresses(host, addresses.take(2), { ttl: TTL });
        expect(await lab().up(Object.fromEntries(Object.entries(HOSTS).map(([name, host]) => [name, declared(host, answering(2), { failover: name === "fail" || name === "control" ? FAILS : { ...WAITING, detectionTime: "40s" } })])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    cell<BothInputs, Both>({
        id: "both-dead", title: "Both VIPs dead, 30 s, then back", full: { deadSeconds: 30, perSecond: 20, restSeconds: 15 }, quick: { deadSeconds: 4, perSecond: 20, restSeconds: 4 },
        measure: bothDead,
        expect: ({ run, deadSeconds, lastSecond }) => {
            expect(run.failed, JSON.stringify(run.failedBy)).to.equal(0);
            // What waited is answered within 2 s of the return: an attempt that is on its way, and the longest pause.
            expect(run.totalMs?.max).to.be.at.most(deadSeconds * 1000 + 2500);
            expect(lastSecond).to.be.at.least(deadSeconds - 1);
        },
        shown: ({ run, deadSeconds }) => `${failures([run])}; ${slowest([run])}, ${String(Math.max(0, Math.round((run.totalMs?.max ?? 0) / 100) / 10 - deadSeconds).toFixed(1))} s after the return`,
    });

    cell<{ readonly connections: number; readonly perSecond: number }, Many>({
        id: "many-waiting", title: "2,000 connections wait; another host on the same gateway", full: { connections: 2000, perSecond: 100 }, timeoutMs: 300_000,
        measure: (one, { connections, perSecond }) => manyWaiting(one, connections, perSecond),
        expect: ({ waiting, before, during, after, run, besideAlone, beside, besideFailed }) => {
            expect(run.failed, JSON.stringify(run.failedBy)).to.equal(0);
            // A connection that waits has the application's side, and the attempt's while one runs.
            expect(during.sockets - before.sockets).to.be.at.most(2 * waiting + 200);
            expect(after.sockets, "sockets that stay").to.be.at.most(before.sockets + 200);
            expect(during.memoryMb - before.memoryMb).to.be.at.most(300);
            expect(besideFailed).to.equal(0);
            expect(beside.p50).to.be.at.most(besideAlone.p50 * 2 + 5);
        },
        shown: ({ waiting, before, during, after, run, besideAlone, beside }) => `${failures([run])}; for ${waiting.toLocaleString("en")} that wait ${String(Math.round((during.memoryMb - before.memoryMb) * 1024 / waiting))} KiB and ${((during.sockets - before.sockets) / waiting).toFixed(1)} sockets each (${String(Math.round(before.memoryMb))}, ${String(Math.round(during.memoryMb))}, then ${String(Math.round(after.memoryMb))} MB); the other host ${String(besideAlone.p50)} ms alone, ${String(beside.p50)} ms beside it (median)`,
    });

    cell<{ readonly rounds: number; readonly connections: number }, Fair>({
        id: "fair-weather", title: "Nothing fails: with and without", full: { rounds: 15, connections: 500 }, timeoutMs: 900_000,
        measure: async (one, { rounds, connections }) => {
            const done: Fair["rounds"][number][] = [];
            for (let round = 0; round < rounds; round++) {
                // In turns, so that what the machine does meanwhile meets all.
                const speeds: Speed[] = [];
                for (let turn = 0; turn < 3; turn++) speeds[(round + turn) % 3] = await fairWeather(one, FAIR[(round + turn) % 3] ?? "", connections);
                done.push(speeds as unknown as Fair["rounds"][number]);
            }
            return { rounds: done };
        },
        expect: (fair) => {
            const { throughput } = ratios(fair, 2), control = ratios(fair, 1);
            // The aim is 1.02, and two equal hosts differ by as much as the control says.
            expect(1 / throughput, "time for a connection").to.be.at.most(Math.max(1, 1 / control.throughput) + 0.02);
        },
        shown: (fair) => `${shownRatios(ratios(fair, 2))}; two equal hosts: ${shownRatios(ratios(fair, 1))} (${String(fair.rounds.length)} rounds)`,
        why: "nothing of it acts before an attempt fails",
    });

    cell<{ readonly connections: number; readonly perSecond: number; readonly limit: number }, Capped>({
        id: "limited", title: "1,000 connections at a pod that takes 500 (EgressGateway's maxConnections)", full: { connections: 1000, perSecond: 100, limit: 500 }, timeoutMs: 300_000,
        measure: async (one, inputs) => {
            const restart = async (proxyMetadata: Readonly<Record<string, string>>): Promise<void> => {
                await one.gateways.scale(0);
                await one.gateways.scale(1, { proxyMetadata });
                await one.settled();
                await one.endpoints();
            };
            await restart({ ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: String(inputs.limit) });
            try {
                return await capped(one, inputs);
            } finally {
                await restart({});
            }
        },
        expect: ({ limit, before, during, run, beside, besideAfter }) => {
            // Those that it took were served when the host was back, those beyond were told at once.
            expect(run.sent - run.failed).to.be.within(limit * 0.98, limit);
            expect(run.failedMs?.max).to.be.at.most(5_000);
            expect(during.sockets - before.sockets).to.be.at.most(2 * limit + 100);
            expect(beside.failed).to.equal(beside.sent);
            expect(beside.slowestMs).to.be.at.most(5_000);
            expect(besideAfter.failed).to.equal(0);
        },
        shown: ({ limit, before, during, run, beside, besideAfter }) => `${String(run.sent - run.failed)} waited and were served; ${String(run.failed)} beyond the limit of ${String(limit)} failed within ${((run.failedMs?.max ?? 0) / 1000).toFixed(1)} s; ${String(during.sockets - before.sockets)} sockets and ${String(Math.round(during.memoryMb - before.memoryMb))} MB more; meanwhile ${String(beside.failed)} of ${String(beside.sent)} new ones to another host failed, afterwards ${String(besideAfter.failed)} of ${String(besideAfter.sent)}`,
        why: "the limit is the pod's, for all hosts together: it keeps the pod alive, and other pods of the gateway take what it refuses",
    });
});

async function fairWeather(lab: Lab, host: string, count: number): Promise<Speed> {
    const { connectMs, failed, durationMs } = await lab.apps.payments.load(host, { count, pace: { kind: "concurrency", connections: 4 } });
    expect(failed).to.equal(0);
    if (connectMs === undefined) throw new Error("No connection succeeded.");
    return { connectMs, perSecond: 1000 * count / durationMs };
}

async function die(lab: Lab, host: string): Promise<readonly string[]> {
    const vips = addresses.take(2);
    await lab.dns.addresses(host, vips, { ttl: TTL });
    await lab.members(host, vips);
    await warmUp(lab, host);
    for (const vip of vips) lab.faults.vip(vip, "drop", "new");
    return vips;
}

async function bothDead(lab: Lab, { deadSeconds, perSecond, restSeconds }: BothInputs): Promise<Both> {
    const host = HOSTS.both, vips = await die(lab, host);
    const { run, timeline } = await counting(lab, host, async () => {
        const [load] = await Promise.all([
            lab.apps.payments.load(host, { count: perSecond * (deadSeconds + restSeconds), pace: { kind: "rate", perSecond }, timeoutMs: 90_000 }),
            wait(deadSeconds * 1000).then(() => vips.forEach((vip) => lab.faults.clearVip(vip))), // How long both are dead: the experiment.
        ]);
        return load;
    });
    return { run, deadSeconds, lastSecond: Math.max(...timeline.map(({ second }) => second)) };
}

/** The Envoys of a network namespace together: one. */
function usage(lab: Lab): Usage {
    const pids = processesIn(namespaceOf(lab.name, lab.gateways.pod(0).name)).filter((pid) => readFileSync(`/proc/${String(pid)}/comm`, "utf8").trim() === "envoy");
    return {
        memoryMb: pids.reduce((sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1] ?? 0) / 1024, 0),
        sockets: pids.reduce((sum, pid) => sum + readdirSync(`/proc/${String(pid)}/fd`).length, 0),
    };
}

async function capped(lab: Lab, { connections, perSecond, limit }: { readonly connections: number; readonly perSecond: number; readonly limit: number }): Promise<Capped> {
    const before = usage(lab), vips = await die(lab, HOSTS.capped);
    const other = async (): Promise<Outcome> => {
        const { sent, failed, failedMs, totalMs } = await lab.apps.payments.load(HOSTS.beside, { count: 40, pace: { kind: "rate", perSecond: 20 }, timeoutMs: 10_000 });
        return { sent, failed, slowestMs: Math.max(failedMs?.max ?? 0, totalMs?.max ?? 0) };
    };
    const meanwhile = async (): Promise<{ readonly during: Usage; readonly beside: Outcome }> => {
        await wait(1000 * connections / perSecond + 2000); // Until all have begun.
        const during = usage(lab), beside = await other();
        for (const vip of vips) lab.faults.clearVip(vip);
        return { during, beside };
    };
    const watched = meanwhile(), { run } = await counting(lab, HOSTS.capped, () => lab.apps.payments.load(HOSTS.capped, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 90_000 }));
    const { during, beside } = await watched;
    await wait(2_000); // For the gateway to close what has ended.
    return { limit, before, during, run, beside, besideAfter: await other() };
}

async function manyWaiting(lab: Lab, connections: number, perSecond: number): Promise<Many> {
    const host = HOSTS.many, { connectMs: besideAlone } = await fairWeather(lab, HOSTS.beside, 300), before = usage(lab);
    const vips = await die(lab, host);
    const meanwhile = async (): Promise<{ readonly during: Usage; readonly other: LoadResult }> => {
        await wait(1000 * connections / perSecond + 2000); // Until all have begun.
        const during = usage(lab), other = await lab.apps.payments.load(HOSTS.beside, { count: 200, pace: { kind: "rate", perSecond: 20 } });
        for (const vip of vips) lab.faults.clearVip(vip);
        return { during, other };
    };
    const watched = meanwhile(), { run } = await counting(lab, host, () => lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 90_000 }));
    const { during, other } = await watched;
    await wait(10_000); // For the gateway to close what has ended.
    if (other.connectMs === undefined) throw new Error("No connection to the other host succeeded.");
    return { waiting: connections, before, during, after: usage(lab), run, besideAlone, beside: other.connectMs, besideFailed: other.failed };
}
