// What ejection does over time: an address is admitted again and again, loses its state when DNS changes, or is the only one left.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import type { LoadResult } from "../lab/agent/load";
import type { Fault } from "../lab/faults";
import { Addresses, counting, expectShare, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { DOCUMENTED_OUTLIER, LEAST_REQUEST, MERGE_WINDOW_MS, SHORT_BACK_OFF, answering, attemptsFilter, declared } from "../variants";
import type { Attempts, Changes } from "../variants";

interface Long extends Host { readonly isRotating: boolean; readonly most: Readonly<Record<Fault, number>>; readonly least: number; readonly earlier: string; readonly why?: string }
interface Only extends Host { readonly isLost: boolean; readonly earlier: string; readonly isQuick: boolean }
interface Host { readonly id: string; readonly title: string; readonly changes: readonly Changes[]; readonly attempts?: Attempts }

const DOCUMENTED = [DOCUMENTED_OUTLIER, LEAST_REQUEST];
/** For 110 s at 20/s, one of two addresses dead: it is ejected for 30, 60 … seconds, and admitted again. */
const LONG: readonly Long[] = [
    { id: "long", title: "Outlier detection alone", changes: DOCUMENTED, isRotating: false, least: 3, most: { drop: 60, refuse: 40 }, earlier: "26 of 2,200, in bursts at each re-admission", why: "a burst is what begins within one connectTimeout of the address, and how much of it the address gets is chance" },
    {
        id: "long-rotating", title: "The same, while the dead address leaves the answer and comes back every 6 s", changes: DOCUMENTED, isRotating: true, least: 20, most: { drop: 160, refuse: 200 },
        earlier: "72 of 2,200: the ejection is lost", why: "an address that comes back is a new one, without an ejection; refused, all that turn to it fail until Envoy's update_merge_window of 1 s is over",
    },
    { id: "long-attempts-3", title: "Outlier detection + 3 attempts", changes: DOCUMENTED, attempts: { count: 3 }, isRotating: false, least: 0, most: { drop: 0, refuse: 12 }, earlier: "0", why: "three attempts without a back-off are over within milliseconds: a re-admission within update_merge_window costs a few refused ones" },
];
const BEST = { count: 5, backOff: SHORT_BACK_OFF };
const ONLY: readonly Only[] = [
    { id: "only-min-health-0", title: "minHealthPercent 0 (the documents)", changes: [DOCUMENTED_OUTLIER], isLost: true, earlier: "200 of 200", isQuick: true },
    { id: "only-min-health-0-attempts", title: "minHealthPercent 0 + 5 attempts", changes: [DOCUMENTED_OUTLIER], attempts: BEST, isLost: true, earlier: "200 of 200, in 4 ms", isQuick: false },
    { id: "only-min-health-1", title: "minHealthPercent 1 (the library)", changes: [], isLost: false, earlier: "0 of 200", isQuick: true },
    { id: "only-min-health-1-attempts", title: "minHealthPercent 1 + 5 attempts", changes: [], attempts: BEST, isLost: false, earlier: "0 of 200", isQuick: false },
];
const hostOf = ({ id }: Host, fault: Fault = "drop"): string => `${id}-${fault}.ejected.example`;
const addresses = new Addresses();

interface LongInputs { readonly seconds: number; readonly perSecond: number; readonly everySeconds: number }
interface LongFigures { readonly run: Run; readonly timeline: LoadResult["timeline"] }

scenario("ejection", { title: "Ejection over time", question: "What do new connections lose when a dead address is admitted again, leaves the answer and comes back, or when an ejected one is the only one left?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(240_000);
        const hosts = [...ONLY.filter(({ isQuick }) => isFull || isQuick).map((one) => [one, "drop"] as const), ...isFull ? LONG.flatMap((one) => [[one, "drop"], [one, "refuse"]] as const) : []];
        for (const [one, fault] of hosts) await lab().dns.addresses(hostOf(one, fault), addresses.take(2), { ttl: 1 });
        await lab().cluster.apply(hosts.flatMap(([one, fault]) => one.attempts === undefined ? [] : [attemptsFilter(hostOf(one, fault), one.attempts)]));
        expect(await lab().up(Object.fromEntries(hosts.map(([one, fault]) => [`${one.id}-${fault}`, declared(hostOf(one, fault), answering(2), ...one.changes)])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const only of ONLY) {
        cell<{ readonly connections: number; readonly runs: number }, { runs: readonly Run[] }>({
            id: only.id, title: `An ejected address, alive again, becomes the only one: ${only.title}`, full: { connections: only.isLost ? 200 : 1000, runs: only.isLost ? 1 : 3 },
            ...(only.isQuick ? { quick: { connections: 80, runs: 1 } } : {}),
            measure: async (one, { connections, runs }) => {
                const done: Run[] = [];
                for (let run = 0; run < runs; run++) done.push(await leaveAlone(one, hostOf(only), connections));
                return { runs: done };
            },
            expect: ({ runs }) => runs.forEach(({ sent, failed }) => only.isLost ? expectShare(failed, sent, 100) : expect(failed).to.equal(0)),
            shown: ({ runs }) => `${failures(runs)}${only.isLost ? `, each within ${String(runs[0]?.failedMs?.p99)} ms` : ""}`, earlier: only.earlier,
        });
    }

    // Those of one fault side by side: each has its own host and addresses.
    const running = new Map<Fault, ReadonlyMap<string, Promise<LongFigures>>>();
    for (const fault of ["drop", "refuse"] as const) {
        for (const long of LONG) {
            cell<LongInputs, LongFigures>({
                id: `${long.id}-${fault}`, title: `110 s at 20/s, ${fault}: ${long.title}`, full: { seconds: 110, perSecond: 20, everySeconds: 6 }, timeoutMs: 240_000,
                measure: (one, inputs) => {
                    const started = running.get(fault) ?? new Map(LONG.map((other) => [other.id, overTime(one, other, fault, inputs)]));
                    running.set(fault, started);
                    return started.get(long.id) ?? Promise.reject(new Error("not started"));
                },
                expect: ({ run }) => expect(run.failed).to.be.within(long.least, long.most[fault]),
                shown: ({ run }) => `${failures([run])}, ${String(run.counted["outlier_detection.ejections_enforced_total"] ?? 0)} ejections; ${slowest([run])}`,
                earlier: fault === "drop" ? long.earlier : undefined, why: long.why,
                chart: ({ timeline }) => ({ title: `${long.title}: ${fault}`, seconds: timeline }),
            });
        }
    }
});

/** One of two addresses fails until it is ejected, works again, and then DNS withdraws the other. */
async function leaveAlone(lab: Lab, host: string, connections: number): Promise<Run> {
    const [ejected = "", other = ""] = addresses.take(2), { envoy } = lab.gateways.pod(0), { payments } = lab.apps;
    await lab.dns.addresses(host, [ejected, other], { ttl: 1 });
    await lab.members(host, [ejected, other]);
    await warmUp(lab, host);
    lab.faults.vip(ejected, "refuse");
    const isEjected = async (): Promise<boolean> => (await envoy.members(clusterName(host))).some(({ address, flags }) => address === ejected && flags.includes("failed_outlier_check"));
    for (const deadline = Date.now() + 20_000; !await isEjected();) {
        if (Date.now() > deadline) throw new Error(`${ejected} was not ejected within 20 s.`);
        await payments.load(host, { count: 8, pace: { kind: "concurrency", connections: 4 } });
    }
    lab.faults.clearVip(ejected);
    await lab.dns.addresses(host, [ejected], { ttl: 1 });
    await lab.members(host, [ejected]);
    expect(await isEjected(), "still ejected when it is the only one").to.equal(true);
    return (await counting(lab, host, () => payments.load(host, { count: connections, pace: { kind: "concurrency", connections: 8 } }))).run;
}

async function overTime(lab: Lab, long: Long, fault: Fault, { seconds, perSecond, everySeconds }: LongInputs): Promise<LongFigures> {
    const host = hostOf(long, fault), [alive = "", dead = "", second = ""] = addresses.take(3);
    await lab.dns.addresses(host, [alive, dead]);
    await lab.members(host, [alive, dead]);
    await wait(MERGE_WINDOW_MS + 200);
    await warmUp(lab, host);
    lab.faults.vip(dead, fault);
    let isOver = false;
    const rotate = async (): Promise<void> => {
        for (let turn = 1; long.isRotating && !isOver; turn++) {
            await wait(everySeconds * 1000); // The GSLB's rhythm, part of the experiment.
            await lab.dns.addresses(host, [alive, turn % 2 === 0 ? dead : second]);
        }
    };
    const rotating = rotate();
    const figures = await counting(lab, host, () => lab.apps.payments.load(host, { count: seconds * perSecond, pace: { kind: "rate", perSecond }, timeoutMs: 30_000 }));
    isOver = true;
    await rotating;
    return figures;
}
