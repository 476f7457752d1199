// F without the GSLB: DNS leads, and the pool's known VIPs stand by with a lower priority. What is lost when the record never moves?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import type { Fault } from "../lab/faults";
import { vip } from "../lab/layout";
import { counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { SHORT_BACK_OFF, attemptsFilter, declared } from "../variants";
import type { Changes } from "../variants";

interface Host { readonly id: string; readonly vips: readonly [string, string]; readonly hasAttempts: boolean }
const RUNS = isFull ? 3 : 1;
const HOSTS: readonly Host[] = [
    "fair", ...isFull ? ["empty-0", "empty-1", "empty-2"] : [],
    ...(["drop", "refuse"] as const).flatMap((fault) => isFull || fault === "drop" ? [...isFull ? [`never-${fault}`] : [], ...Array.from({ length: RUNS }, (_, run) => `never-${fault}-attempts-${String(run)}`)] : []),
].map((id, index) => ({ id, vips: [vip(2 * index + 1), vip(2 * index + 2)], hasAttempts: id.includes("attempts") }));
const hostOf = ({ id }: Host): string => `${id}.standby.example`;
const named = (id: string): Host => {
    const host = HOSTS.find((one) => one.id === id);
    if (host === undefined) throw new Error(`There is no host ${id}.`);
    return host;
};

/** The host's own name leads; its VIPs stand by (Istio 1.30: failoverPriority for DNS clusters). Three endpoints, of which 67 % is two. */
const standby = (host: Host): Changes => ({
    manifestOverrides: {
        "ServiceEntry/host": { spec: { endpoints: [{ address: hostOf(host), labels: { tier: "primary" } }, ...host.vips.map((address) => ({ address, labels: { tier: "standby" } }))] } },
        "DestinationRule/host": { spec: { trafficPolicy: { loadBalancer: { simple: "ROUND_ROBIN", localityLbSetting: { enabled: true, failoverPriority: ["tier=primary"] } }, outlierDetection: { maxEjectionPercent: 67 } } } },
    },
});

interface Load { readonly connections: number; readonly perSecond: number }
interface Fair { readonly saysA: Readonly<Record<string, number>>; readonly saysB: Readonly<Record<string, number>>; readonly a: string; readonly b: string; readonly priorities: readonly (readonly [address: string, priority: number])[]; readonly standbyUsed: number }

scenario("standby", { title: "Standby addresses", question: "DNS leads and the pool's known VIPs stand by: what is lost when the only VIP in DNS dies and the GSLB never moves the record?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(240_000);
        for (const host of HOSTS) await lab().dns.addresses(hostOf(host), [host.vips[0]]);
        await lab().cluster.apply(HOSTS.filter(({ hasAttempts }) => hasAttempts).map((host) => attemptsFilter(hostOf(host), { count: 5, backOff: SHORT_BACK_OFF })));
        expect(await lab().up(Object.fromEntries(HOSTS.map((host) => [host.id, declared(hostOf(host), standby(host))])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    cell<{ readonly connections: number }, Fair>({
        id: "fair", title: "Fair weather: DNS says A, then B", full: { connections: 60 }, quick: { connections: 20 },
        measure: (one, { connections }) => fairWeather(one, named("fair"), connections),
        expect: ({ saysA, saysB, a, b, priorities, standbyUsed }) => {
            expect([Object.keys(saysA), Object.keys(saysB)]).to.deep.equal([[a], [b]]);
            expect(priorities).to.have.deep.members([[b, 0], [a, 1], [b, 1]]);
            expect(standbyUsed).to.equal(0);
        },
        shown: ({ saysA, saysB, a, b }) => `${String(saysA[a])} to A, then ${String(saysB[b])} to B; standby unused`, earlier: "60 of 60 each, standby unused",
    });

    for (const fault of ["drop", "refuse"] as const) {
        cell<Load, { runs: readonly Run[] }>({
            id: `never-${fault}`, title: `The VIP dies, the record never moves, ${fault}: no attempts`, full: { connections: 500, perSecond: 20 },
            measure: async (one, load) => ({ runs: [await neverMoves(one, named(`never-${fault}`), fault, load)] }),
            expect: ({ runs }) => runs.forEach(({ failed }) => expect(failed).to.be.within(3, 45)),
            shown: ({ runs }) => `${failures(runs)}, until the ejection; ${slowest(runs)}`, documents: "all fail", earlier: fault === "drop" ? "31 of 500" : "16 of 500",
            why: "3 failures eject each of the two entries of the dead address; the more begin within a time-out, the more fail",
        });
        cell<Load, { runs: readonly Run[] }>({
            id: `never-${fault}-attempts`, title: `The same, ${fault}: 5 attempts with back-off 50–500 ms`, full: { connections: 1000, perSecond: 20 }, ...(fault === "drop" ? { quick: { connections: 120, perSecond: 20 } } : {}),
            measure: async (one, load) => ({ runs: await Promise.all(Array.from({ length: RUNS }, (_, run) => neverMoves(one, named(`never-${fault}-attempts-${String(run)}`), fault, load))) }),
            expect: ({ runs }) => runs.forEach(({ failed }) => expect(failed).to.equal(0)),
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, documents: "all fail", earlier: fault === "drop" ? "0 of 500, slowest 2.4 s" : "0 of 500, slowest 0.7 s",
        });
    }

    cell<Load & { readonly faultSeconds: number }, { runs: readonly Run[] }>({
        id: "empty", title: "An empty answer for 20 s", full: { connections: 1000, perSecond: 20, faultSeconds: 20 },
        measure: async (one, load) => ({ runs: await Promise.all([0, 1, 2].map((run) => emptied(one, named(`empty-${String(run)}`), load))) }),
        expect: ({ runs }) => runs.forEach(({ failed }) => expect(failed).to.equal(0)),
        shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, earlier: "0 of 600, served by the VIPs (88 % without standby)",
    });
});

async function fairWeather(lab: Lab, host: Host, connections: number): Promise<Fair> {
    const [a, b] = host.vips, name = hostOf(host), { envoy } = lab.gateways.pod(0);
    const load = async (): Promise<Readonly<Record<string, number>>> => (await counting(lab, name, () => lab.apps.payments.load(name, { count: connections, pace: { kind: "concurrency", connections: 4 } }))).run.by;
    await lab.members(name, [a, a, b]);
    const saysA = await load();
    await lab.dns.addresses(name, [b]);
    await lab.members(name, [b, a, b]);
    const saysB = await load(), members = await envoy.members(clusterName(name));
    return { a, b, saysA, saysB, priorities: members.map(({ address, priority }) => [address, priority] as const), standbyUsed: members.filter(({ priority }) => priority === 1).reduce((sum, { total }) => sum + total, 0) };
}

async function neverMoves(lab: Lab, host: Host, fault: Fault, { connections, perSecond }: Load): Promise<Run> {
    const [dead, alive] = host.vips, name = hostOf(host);
    await lab.members(name, [dead, dead, alive]);
    await warmUp(lab, name);
    lab.faults.vip(dead, fault);
    const { run } = await counting(lab, name, () => lab.apps.payments.load(name, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 20_000 }));
    return run;
}

async function emptied(lab: Lab, host: Host, { connections, perSecond, faultSeconds }: Load & { readonly faultSeconds: number }): Promise<Run> {
    const [address, other] = host.vips, name = hostOf(host);
    await lab.members(name, [address, address, other]);
    await warmUp(lab, name);
    const { run } = await counting(lab, name, async () => {
        const load = lab.apps.payments.load(name, { count: connections, pace: { kind: "rate", perSecond }, address });
        await lab.dns.fails(name, "empty");
        await wait(faultSeconds * 1000); // How long the GSLB answers so: the experiment.
        await lab.dns.addresses(name, [address]);
        return load;
    });
    return run;
}
