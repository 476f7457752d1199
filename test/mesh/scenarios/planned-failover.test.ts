// B and E: the A record moves while the old VIP is alive. How long do connections stay on it, and when may it be removed?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { OnConnectFailure, Route, drainWait, fillDefaults } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import type { LoadResult } from "../lab/agent/load";
import type { Pod } from "../lab/pods";
import { Addresses, failures } from "../runs";
import { scenario } from "../scenario";
import { declared } from "../variants";

type Path = typeof Route.Direct | typeof Route.MtlsPassthrough;
const PATHS: readonly Path[] = [Route.MtlsPassthrough, Route.Direct];
const pinnedOf = (path: Path): string => `pinned.${path}.example`;
const plannedOf = (path: Path): string => `planned.${path}.example`;
const addresses = new Addresses();

interface Request { readonly from: string | undefined; readonly localPort: number | undefined; /** upstream_cx_total since the begin. */ readonly connections: number }
interface Pinned { readonly old: string; readonly new: string; readonly requests: readonly Request[] }

/** `connection-count`: the old VIP is removed when nobody holds a connection to it. `dns`: as soon as the proxy has the new address. */
type Judge = "connection-count" | "dns";
interface Plan { readonly lifetimeSeconds: number; readonly ttl: number; readonly kept: number; readonly perSecond: number; readonly flipAt: number; readonly connections: number; readonly runs: number }
interface Failover {
    readonly old: string;
    readonly sent: number;
    /** Of the new connections, and of the requests on kept ones. */
    readonly fresh: Pick<LoadResult, "sent" | "failed" | "failedBy">;
    readonly kept: Pick<LoadResult, "sent" | "failed" | "failedBy">;
    /** From the flip until the old VIP was removed. */
    readonly removedAfterMs: number;
    /** The model's bound for that. */
    readonly drainWaitMs: number;
    readonly timeline: LoadResult["timeline"];
}

const declaration = (path: Path, { ttl, lifetimeSeconds }: Pick<Plan, "ttl" | "lifetimeSeconds">): DeclarationInput => declared(plannedOf(path), {
    route: path, failover: { detectionTime: "10s", dnsTtl: `${String(ttl)}s`, longestConnection: `${String(lifetimeSeconds)}s`, onConnectFailure: OnConnectFailure.Fail },
});

scenario("planned-failover", { title: "Planned failover", question: "The A record moves while the old VIP is alive: where do connections go, and when may the old VIP be removed?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(240_000);
        for (const path of PATHS) for (const host of [pinnedOf(path), plannedOf(path)]) await lab().dns.addresses(host, addresses.take(1), { ttl: 1 });
        const hosts = PATHS.flatMap((path) => [[`pinned-${path}`, declared(pinnedOf(path), { route: path })] as const, [`planned-${path}`, declaration(path, { ttl: 5, lifetimeSeconds: 20 })] as const]);
        expect(await lab().up(Object.fromEntries(hosts))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const path of PATHS) {
        cell<{ readonly ttl: number }, Pinned>({
            id: `keepalive-${path}`, title: `One keepalive connection across the flip, ${path}`, full: { ttl: 5 }, quick: { ttl: 1 },
            measure: (one, { ttl }) => pin(one, path, ttl),
            expect: ({ requests, old, new: later }) => {
                expect(requests.map(({ from }) => from)).to.deep.equal([old, old, old, later]);
                expect(requests.map(({ connections }) => connections)).to.deep.equal([1, 1, 1, 2]);
                const [first, second, third, fourth] = requests.map(({ localPort }) => localPort);
                expect([second, third]).to.deep.equal([first, first]);
                expect(fourth).to.not.equal(first);
            },
            shown: ({ requests, old }) => `requests 1 to 4 by the ${requests.map(({ from }) => from === old ? "old" : "new").join(", ")} VIP; upstream_cx_total +${requests.map(({ connections }) => String(connections)).join(", +")}`,
            documents: "1 old, 2 and 3 on the same connection old, 4 on a new one new; upstream_cx_total +1, +1, +1, +2 (2 runs)",
        });
    }

    for (const path of PATHS) {
        for (const judge of ["connection-count", "dns"] as const) {
            const isCount = judge === "connection-count";
            const full: Plan = { lifetimeSeconds: 20, ttl: 5, kept: 10, perSecond: 20, flipAt: 5, connections: isCount ? 1000 : 400, runs: isCount ? 3 : 1 };
            cell<Plan, { runs: readonly Failover[] }>({
                id: `${judge}-${path}`, title: `The old VIP is removed when ${isCount ? "nobody holds a connection to it" : "DNS and the proxy no longer know it"}, ${path}`, full, timeoutMs: 400_000,
                ...(path === Route.MtlsPassthrough ? { quick: { lifetimeSeconds: 4, ttl: 1, kept: 5, perSecond: 20, flipAt: 1, connections: isCount ? 220 : 120, runs: 1 } } : {}),
                measure: async (one, plan) => {
                    const runs: Failover[] = [];
                    for (let run = 0; run < plan.runs; run++) runs.push(await failOver(one, path, judge, plan));
                    return { runs };
                },
                expect: ({ runs }) => runs.forEach((run) => check(judge, run)),
                shown: ({ runs }) => `new connections ${failures(runs.map(({ fresh }) => fresh))}, requests on kept ones ${failures(runs.map(({ kept }) => kept))}; removed ${runs.map(({ removedAfterMs }) => (removedAfterMs / 1000).toFixed(1)).join(", ")} s after the flip`,
                documents: isCount ? "lossless, on conditions" : "never judge the drain by DNS", ...(isCount ? { why: `bound of the model for the drain: ${String(drainWait(fillDefaults(declaration(path, full))).ms)} ms` } : {}),
                chart: ({ runs }) => ({ title: `Planned failover, ${path}, judged by ${isCount ? "the connection count" : "DNS"}: new connections`, seconds: runs[0]?.timeline ?? [], events: [{ second: 5, text: "the record moves" }, { second: Math.round(5 + (runs[0]?.removedAfterMs ?? 0) / 1000), text: "the old VIP is removed" }] }),
            });
        }
    }
});

const ownerOf = (lab: Lab, path: Path): Pod => path === Route.Direct ? lab.sidecars.payments : lab.gateways.pod(0);

async function pin(lab: Lab, path: Path, ttl: number): Promise<Pinned> {
    const host = pinnedOf(path), pod = ownerOf(lab, path), [old = "", later = ""] = addresses.take(2), requests: Request[] = [];
    await lab.dns.addresses(host, [old], { ttl });
    await lab.members(host, [old], { pod });
    const total = async (): Promise<number> => (await pod.envoy.cluster(clusterName(host)))["upstream_cx_total"] ?? 0;
    const before = await total();
    const ask = async (connection: Awaited<ReturnType<Lab["apps"]["payments"]["connect"]>>): Promise<void> => {
        const { reply, localPort } = await connection.ask();
        requests.push({ from: reply?.who?.vip, localPort, connections: await total() - before });
    };
    const kept = await lab.apps.payments.connect(host);
    await ask(kept);
    await lab.dns.addresses(host, [later], { ttl });
    await lab.members(host, [later], { pod });
    await ask(kept);
    await ask(kept);
    await kept.close();
    const fresh = await lab.apps.payments.connect(host);
    await ask(fresh);
    await fresh.close();
    return { old, new: later, requests };
}

/** New connections all the time, and kept ones that live a bounded time; the record moves, and the old VIP goes when the judge says so. */
async function failOver(lab: Lab, path: Path, judge: Judge, plan: Plan): Promise<Failover> {
    const host = plannedOf(path), pod = ownerOf(lab, path), { payments } = lab.apps, [old = "", later = ""] = addresses.take(2);
    const { connections, perSecond, lifetimeSeconds, ttl } = plan, maxMs = connections / perSecond * 1000;
    await lab.dns.addresses(host, [old], { ttl });
    await lab.members(host, [old], { pod });
    const fresh = payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 5_000 });
    const kept = payments.load(host, { count: 50_000, maxMs, pace: { kind: "keepalive", connections: plan.kept, pauseMs: 200, lifetimeMs: lifetimeSeconds * 1000 }, timeoutMs: 5_000 });
    await wait(plan.flipAt * 1000); // So long the traffic runs in fair weather.
    await lab.dns.addresses(host, [later], { ttl });
    const flipped = Date.now();
    await lab.members(host, [later], { pod });
    if (judge === "connection-count") await drained(lab, old, flipped + maxMs);
    const removedAfterMs = Date.now() - flipped;
    lab.faults.vip(old, "drop");
    const [freshResult, keptResult] = await Promise.all([fresh, kept]);
    lab.faults.clearVip(old);
    return {
        old, sent: freshResult.sent + keptResult.sent, fresh: picked(freshResult), kept: picked(keptResult), removedAfterMs, timeline: freshResult.timeline,
        drainWaitMs: drainWait(fillDefaults(declaration(path, plan))).ms ?? 0,
    };
}

const picked = ({ sent, failed, failedBy }: LoadResult): Failover["kept"] => ({ sent, failed, failedBy });

async function drained(lab: Lab, address: string, deadline: number): Promise<void> {
    for (;; await wait(100)) {
        const open = (await lab.vips.open())[address] ?? 0;
        if (open === 0) return;
        if (Date.now() > deadline) throw new Error(`${address} still holds ${String(open)} connections.`);
    }
}

function check(judge: Judge, { fresh, kept, removedAfterMs, drainWaitMs }: Failover): void {
    expect(fresh.failed, "new connections").to.equal(0);
    if (judge === "dns") return void expect(kept.failed, "requests on kept connections").to.be.greaterThan(0);
    expect(kept.failed, "requests on kept connections").to.equal(0);
    expect(removedAfterMs).to.be.at.most(drainWaitMs);
}
