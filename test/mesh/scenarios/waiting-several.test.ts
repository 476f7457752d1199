// D as the library writes it: several A records, one of them dead, and new connections that go on to the next address.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Lab } from "../lab";
import { WAITING } from "../lab/declare";
import type { Fault } from "../lab/faults";
import { Addresses, counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isDue, isFull, scenario } from "../scenario";
import { answering, declared } from "../variants";
import type { Changes } from "../variants";

interface Inputs { readonly runs: number; readonly connections: number; readonly perSecond: readonly number[] }
interface Figures { readonly runs: readonly Run[] }
const FULL: Inputs = { runs: 3, connections: 1000, perSecond: [20, 50] }, QUICK: Inputs = { runs: 1, connections: 160, perSecond: [20] };
const FAULTS: readonly Fault[] = ["drop", "refuse"];
const ROTATES_EVERY_MS = 6000, TTL = 2;

/** A host for each run and rate: what Envoy knows of its addresses is new. */
const hostOf = (cell: string, run: number, perSecond: number): string => `${cell}-${String(run)}-${String(perSecond)}.several.example`;
const hosts = (cell: string, { runs, perSecond }: Inputs): readonly string[] => Array.from({ length: runs }, (_, run) => perSecond.map((rate) => hostOf(cell, run, rate))).flat();
const CELLS = [...FAULTS.flatMap((fault) => [`dead-${fault}`, `rotating-${fault}`, `back-${fault}`]), "ejected-then-only", "ejected-then-only-without-panic"];
/** Nothing is kept from ejection, and what is ejected is not used: where the last known address serves, that costs nothing. */
const WITHOUT_PANIC: Changes = { outlier: { maxEjectionPercent: 100, minHealthPercent: 0 } };
const addresses = new Addresses();
const shown = ({ runs }: Figures): string => `${failures(runs)}; ${slowest(runs)}`;

scenario("waiting-several", { title: "Waiting instead of failing: several A records", question: "One of several VIPs dies and stays in the DNS answer: what do new connections lose?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        const all = (isFull ? CELLS.filter((id) => isDue("waiting-several", id)) : ["dead-refuse", "dead-drop"]).flatMap((id) => hosts(id, isFull ? FULL : QUICK).map((host) => ({ id, host })));
        for (const { host } of all) await lab().dns.addresses(host, addresses.take(2));
        expect(await lab().up(Object.fromEntries(all.map(({ id, host }) => [host.replaceAll(".", "-"), declared(host, answering(2), { failover: WAITING }, id.endsWith("without-panic") ? WITHOUT_PANIC : {})])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    const each = async (id: string, inputs: Inputs, measure: (host: string, perSecond: number) => Promise<Run>): Promise<Figures> => {
        const runs: Run[] = [];
        for (let run = 0; run < inputs.runs; run++) runs.push(...await Promise.all(inputs.perSecond.map((rate) => measure(hostOf(id, run, rate), rate))));
        return { runs };
    };
    for (const fault of FAULTS) {
        cell<Inputs, Figures>({
            id: `dead-${fault}`, title: `Two addresses, one dead, ${fault}`, full: FULL, quick: QUICK, timeoutMs: 600_000, isSideBySide: true,
            measure: (one, inputs) => each(`dead-${fault}`, inputs, (host, rate) => dead(one, host, fault, inputs.connections, rate)),
            expect: expectNothingLost, shown, documents: "0.21 %", earlier: fault === "drop" ? "26 of 2,200 with outlier detection alone" : "4 of 600 with outlier detection alone",
        });
        cell<Inputs, Figures>({
            id: `rotating-${fault}`, title: `The answer takes turns between two pairs, each with the dead address, ${fault}`, full: FULL, timeoutMs: 600_000,
            measure: (one, inputs) => each(`rotating-${fault}`, inputs, (host, rate) => rotating(one, host, fault, inputs.connections, rate)),
            expect: expectNothingLost, shown, earlier: "72 of 2,200 with outlier detection alone", why: "an address that leaves the answer and comes back has lost its ejection: the attempts find the other one",
        });
        cell<Inputs, Figures>({
            id: `back-${fault}`, title: `The dead address comes back after 15 s, ${fault}`, full: { ...FULL, connections: 1600, perSecond: [20] }, timeoutMs: 600_000,
            measure: (one, inputs) => each(`back-${fault}`, inputs, (host, rate) => back(one, host, fault, inputs.connections, rate)),
            expect: ({ runs }) => {
                expectNothingLost({ runs });
                // Used again: it is ejected for 30 s, and load goes on for 80.
                for (const { by } of runs) for (const count of Object.values(by)) expect(count).to.be.greaterThan(200);
            },
            shown: ({ runs }) => `${shown({ runs })}; by address ${runs.map(({ by }) => Object.values(by).join("/")).join(", ")}`,
        });
    }
    for (const id of ["ejected-then-only", "ejected-then-only-without-panic"]) cell<Inputs, Figures>({
        id, title: `A fails for a moment and is ejected, then the GSLB withdraws B${id.endsWith("panic") ? " (maxEjectionPercent 100, minHealthPercent 0)" : ""}`, full: { ...FULL, perSecond: [20] }, timeoutMs: 600_000,
        measure: (one, inputs) => each(id, inputs, (host, rate) => ejectedThenOnly(one, host, inputs.connections, rate)),
        expect: ({ runs }) => {
            expectNothingLost({ runs });
            for (const { counted } of runs) expect(counted["outlier_detection.ejections_enforced_total"]).to.be.at.least(1);
        },
        shown, documents: "all fail, until A is let in again", ...(id.endsWith("panic") ? { earlier: "200 of 200", why: "the last known address is a host of its own, which is not ejected" } : { earlier: "200 of 200 with minHealthPercent 0, 0 with 1" }),
    });
});

function expectNothingLost({ runs }: Figures): void {
    for (const { failed, failedBy, totalMs } of runs) {
        expect(failed, JSON.stringify(failedBy)).to.equal(0);
        expect(totalMs?.max, "the slowest").to.be.at.most(6000);
    }
}

async function start(lab: Lab, host: string, fault: Fault): Promise<readonly [dead: string, alive: string]> {
    const [one = "", two = ""] = addresses.take(2);
    await lab.dns.addresses(host, [one, two], { ttl: TTL });
    await lab.members(host, [one, two]);
    await warmUp(lab, host);
    lab.faults.vip(one, fault);
    return [one, two];
}

const load = async (lab: Lab, host: string, count: number, perSecond: number, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<Run> =>
    (await counting(lab, host, async () => (await Promise.all([lab.apps.payments.load(host, { count, pace: { kind: "rate", perSecond }, timeoutMs: 60_000 }), meanwhile()]))[0])).run;

async function dead(lab: Lab, host: string, fault: Fault, count: number, perSecond: number): Promise<Run> {
    await start(lab, host, fault);
    return load(lab, host, count, perSecond);
}

async function rotating(lab: Lab, host: string, fault: Fault, count: number, perSecond: number): Promise<Run> {
    const [gone, two] = await start(lab, host, fault), [three = ""] = addresses.take(1);
    const until = Date.now() + 1000 * count / perSecond;
    return load(lab, host, count, perSecond, async () => {
        for (let turn = 0; Date.now() < until; turn++) {
            await wait(Math.min(ROTATES_EVERY_MS, Math.max(0, until - Date.now())));
            await lab.dns.addresses(host, turn % 2 === 0 ? [two, three] : [gone, two], { ttl: TTL });
        }
    });
}

/** The ejection is in the counters, so that it must come within the load; the address that stays is the ejected one. */
async function ejectedThenOnly(lab: Lab, host: string, count: number, perSecond: number): Promise<Run> {
    const [gone] = await start(lab, host, "refuse");
    return load(lab, host, count, perSecond, async () => {
        await wait(3000);
        lab.faults.clearVip(gone);
        await lab.dns.addresses(host, [gone], { ttl: TTL });
    });
}

async function back(lab: Lab, host: string, fault: Fault, count: number, perSecond: number): Promise<Run> {
    const [gone] = await start(lab, host, fault);
    return load(lab, host, count, perSecond, async () => {
        await wait(15_000);
        lab.faults.clearVip(gone);
    });
}
