// The planner of declarations against the lab's cells of what the library writes: waiting and standby addresses. A cell that has
// no committed result yet has no test here. When the proxy had the new answer lies between the flip and a TTL later.
import { expect } from "chai";
import { type DeclarationInput, Fault, type Situation, WAIT_BACK_OFF, failureFigures, proxySettings, simulate } from "../../../model";
import { readResult } from "../../mesh/results";
import type { Run } from "../../mesh/runs";
import { GATEWAY, declaration } from "../../support/declarations";

interface Flip extends Run { readonly perSecond: number }
/** What handshakes and an answer take beside the wait for the slowest of thousands, on two processors that do all of the lab's work. */
const ANSWER_MS = 300;
/** istiod's jitter, and a query. */
const JITTER_MS = 200;

const single = (failover: NonNullable<DeclarationInput["failover"]>, changes: Partial<DeclarationInput> = {}) => declaration({ pool: { membership: "fixed", addressesPerAnswer: 1 }, failover, ...changes });
const VIPS = ["203.0.113.1", "203.0.113.2"], STANDBY: Partial<DeclarationInput> = { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: VIPS } };

function between(what: string, measured: number, least: number, most: number): void {
    expect(measured, what).to.be.within(Math.floor(0.9 * least), Math.ceil(1.1 * most));
}

describe("plans against the lab's cells of what the library writes", () => {
    const WINDOWS = [["w5", 2900, 1], ["w10", 5900, 2], ["w20", 9900, 5], ["w45", 34_900, 5], ["passthrough-w20", 9900, 5]] as const;
    for (const fault of [Fault.Drop, Fault.Refuse]) {
        for (const [id, flipMs, ttl] of WINDOWS) {
            const runs = readResult<unknown, { readonly runs: readonly Flip[] }>("waiting-single", `${id}-${fault}`)?.figures.runs;
            if (runs === undefined) continue;
            it(`one A record, ${id}, ${fault}: as many fail, and the slowest waits as long`, () => {
                const declared = single({ detectionTime: `${String(flipMs)}ms`, dnsTtl: `${String(ttl)}s` }, id.startsWith("passthrough") ? { route: "passthrough" } : {});
                for (const { failed, totalMs, perSecond } of runs) {
                    const early = failureFigures(declared, fault, { perSecond, windowMs: flipMs }), late = failureFigures(declared, fault, { perSecond, windowMs: flipMs + 1000 * ttl + JITTER_MS });
                    expect([early?.failed, late?.failed, failed]).to.deep.equal([0, 0, 0]);
                    between("slowest", totalMs?.max ?? 0, early?.waitMs.slowest ?? 0, (late?.waitMs.slowest ?? 0) + ANSWER_MS);
                }
            });
        }

        for (const [id, flipMs, ttl] of [["w5", 2900, 1], ["w20", 9900, 5], ["w20-without-filters", 9900, 5]] as const) {
            const runs = readResult<unknown, { readonly runs: readonly Run[] }>("waiting-http", `${id}-${fault}`)?.figures.runs;
            if (runs === undefined) continue;
            it(`requests, one A record, ${id}, ${fault}: as many fail, and the slowest waits as long`, () => {
                const declared = single({ detectionTime: `${String(flipMs)}ms`, dnsTtl: `${String(ttl)}s` }, { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] });
                const early = failureFigures(declared, fault, { windowMs: flipMs }), late = failureFigures(declared, fault, { windowMs: flipMs + 1000 * ttl + JITTER_MS });
                for (const { failed, totalMs } of runs) {
                    expect([early?.failed, late?.failed, failed]).to.deep.equal([0, 0, 0]);
                    between("slowest", totalMs?.max ?? 0, early?.waitMs.slowest ?? 0, (late?.waitMs.slowest ?? 0) + ANSWER_MS);
                }
            });
        }

        const slow = readResult<unknown, { readonly runs: readonly Flip[]; readonly budgetMs: number }>("waiting-single", `longer-than-declared-${fault}`)?.figures;
        if (slow !== undefined) {
            it(`a window longer than the budget, ${fault}: as many fail, where the plan says`, () => {
                const declared = single({ detectionTime: "2900ms", dnsTtl: "1s" });
                for (const { failed, perSecond } of slow.runs) {
                    const early = failureFigures(declared, fault, { perSecond, windowMs: 28_000 }), late = failureFigures(declared, fault, { perSecond, windowMs: 29_000 + JITTER_MS });
                    between("failed", failed, early?.failed ?? 0, late?.failed ?? 0);
                }
            });
        }

        const never = readResult<unknown, { readonly runs: readonly Run[] }>("standby", `never-${fault}`)?.figures.runs;
        if (never !== undefined) {
            it(`standby, the record never moves, ${fault}: none fails, and the slowest waits as long`, () => {
                const figures = failureFigures(single({ detectionTime: "60s", dnsTtl: "2s" }, STANDBY), fault, { windowMs: Infinity });
                for (const { failed, totalMs } of never) {
                    expect([figures?.failed, failed]).to.deep.equal([0, 0]);
                    between("slowest", totalMs?.max ?? 0, 0, (figures?.waitMs.slowest ?? 0) + ANSWER_MS);
                }
            });
        }

        const without = readResult<unknown, { readonly runs: readonly Run[] }>("standby", `without-filters-${fault}`)?.figures.runs;
        if (without !== undefined) {
            it(`standby without EnvoyFilters, ${fault}: a few fail, until both ejections`, () => {
                const figures = failureFigures(single({ detectionTime: "60s", dnsTtl: "2s" }, { ...STANDBY, gateway: { ...GATEWAY, envoyFilters: "forbidden" } }), fault, { windowMs: Infinity });
                // Counts of a dozen or two: a single run differs by its square root, and a busy machine is late with an ejection.
                for (const { failed } of without) expect(failed).to.be.within((figures?.failed ?? 0) - 6, (figures?.failed ?? 0) + 15);
            });
        }
    }

    for (const fault of [Fault.Drop, Fault.Refuse]) {
        const dead = readResult<{ readonly perSecond: readonly number[] }, { readonly runs: readonly Run[] }>("waiting-several", `dead-${fault}`);
        if (dead === undefined) continue;
        it(`two A records, one dead, ${fault}: none fails, and the slowest waits as long`, () => {
            for (const perSecond of dead.inputs.perSecond) expect(failureFigures(declaration(), fault, { perSecond, windowMs: Infinity })?.failed).to.equal(0);
            const slowest = Math.max(...dead.inputs.perSecond.map((perSecond) => failureFigures(declaration(), fault, { perSecond, windowMs: Infinity })?.waitMs.slowest ?? 0));
            for (const { failed, totalMs } of dead.figures.runs) {
                expect(failed).to.equal(0);
                between("slowest", totalMs?.max ?? 0, 0, slowest + ANSWER_MS);
            }
        });
    }

    describe("what else happens to several addresses, event by event", () => {
        const [A, B, C] = ["a", "b", "c"] as const, TURN_MS = 6000, TTL_MS = 2000;
        interface Case { readonly scenario: string; readonly cell: string; readonly situation: Situation; readonly seconds: number; readonly rates: readonly number[]; readonly changes?: Partial<DeclarationInput> }
        const dead = (address: string, fault: Fault, untilMs?: number): Situation["dead"][number] => ({ address, fault, ...(untilMs === undefined ? {} : { untilMs }) });
        const cases: readonly Case[] = [
            ...[Fault.Drop, Fault.Refuse].flatMap((fault): readonly Case[] => [
                {
                    scenario: "waiting-several", cell: `rotating-${fault}`, seconds: 50, rates: [20, 50],
                    situation: { lists: [{ atMs: 0, addresses: [A, B] }, ...Array.from({ length: 8 }, (_, turn) => ({ atMs: (turn + 1) * TURN_MS + TTL_MS / 2, addresses: turn % 2 === 0 ? [B, C] : [A, B] }))], dead: [dead(A, fault)] },
                },
                { scenario: "waiting-several", cell: `back-${fault}`, seconds: 80, rates: [20], situation: { lists: [{ atMs: 0, addresses: [A, B] }], dead: [dead(A, fault, 15_000)] } },
            ]),
            { scenario: "waiting-several", cell: "ejected-then-only", seconds: 50, rates: [20], situation: { lists: [{ atMs: 0, addresses: [A, B] }, { atMs: 3000 + TTL_MS / 2, addresses: [A] }], dead: [dead(A, Fault.Refuse, 3000)] } },
            { scenario: "waiting-several", cell: "ejected-then-only-without-panic", changes: { outlier: { maxEjectionPercent: 100, minHealthPercent: 0 } }, seconds: 50, rates: [20], situation: { lists: [{ atMs: 0, addresses: [A, B] }, { atMs: 3000 + TTL_MS / 2, addresses: [A] }], dead: [dead(A, Fault.Refuse, 3000)] } },
            // The proxy asks each second once an answer was empty.
            { scenario: "waiting-dns", cell: "dead-then-empty", changes: { pool: { membership: "fixed", addressesPerAnswer: 1 } }, seconds: 30, rates: [20], situation: { lists: [{ atMs: 0, addresses: [A] }, { atMs: TTL_MS / 2, addresses: [] }, { atMs: 11_000, addresses: [B] }], dead: [dead(A, Fault.Drop)] } },
            { scenario: "waiting-limits", cell: "both-dead", seconds: 45, rates: [20], situation: { lists: [{ atMs: 0, addresses: [A, B] }], dead: [dead(A, Fault.Drop, 30_000), dead(B, Fault.Drop, 30_000)] } },
        ];
        for (const { scenario, cell, situation, seconds, rates, changes = {} } of cases) {
            const result = readResult<unknown, { readonly runs?: readonly Run[]; readonly run?: Run }>(scenario, cell);
            if (result === undefined) continue;
            it(`${scenario}, ${cell}: none fails, and the slowest waits as long`, () => {
                // Each cell has a chain of its own, which is new.
                const settings = { ...proxySettings(declaration({ ...changes, failover: { detectionTime: cell === "both-dead" ? "40s" : "10s", dnsTtl: "5s" } })), backOff: WAIT_BACK_OFF, sharesBackOff: true };
                const all = rates.flatMap((perSecond) => [1, 2, 3].map((seed) => simulate(settings, situation, { kind: "rate", perSecond, seconds }, seed))).flatMap(({ connections }) => connections);
                expect(all.filter(({ by }) => by === undefined)).to.deep.equal([]);
                const slowest = Math.max(...all.map(({ waitMs }) => waitMs)), measured = result.figures.runs ?? (result.figures.run === undefined ? [] : [result.figures.run]);
                for (const { failed } of measured) expect(failed).to.equal(0);
                between("slowest of all runs", Math.max(...measured.map(({ totalMs }) => totalMs?.max ?? 0)), slowest, slowest + ANSWER_MS);
            });
        }
    });

    for (const cell of ["empty-1", "empty-2", "nxdomain-1", "servfail-1", "silence-1", "empty-1-fail", "empty-2-fail", "nxdomain-1-fail"]) {
        const result = readResult<{ readonly perSecond: number; readonly faultSeconds: number }, { readonly runs: readonly Run[] }>("waiting-dns", cell);
        if (result === undefined) continue;
        it(`DNS answers wrongly for 20 s, ${cell}: as many fail, those that begin while the list is empty`, () => {
            const { perSecond, faultSeconds } = result.inputs, isEmptied = /^(empty|nxdomain)/.test(cell), fails = cell.endsWith("-fail"), addresses = cell.includes("-2") ? ["a", "b"] : ["a"];
            // The proxy asks again when the TTL of 2 s is over, and then each second.
            const lists = [{ atMs: 0, addresses }, ...isEmptied ? [{ atMs: 2000, addresses: [] }, { atMs: 1000 * faultSeconds, addresses }] : []];
            const { connections } = simulate(proxySettings(declaration(fails ? { pool: { membership: "fixed", addressesPerAnswer: addresses.length, onEmptyAnswer: "fail" } } : {})), { lists, dead: [] }, { kind: "rate", perSecond, seconds: 50 }), failed = connections.filter(({ by }) => by === undefined).length;
            for (const run of result.figures.runs) between("failed", run.failed, failed, failed + perSecond);
        });
    }

    it("says the same of the earlier lab's: standby without attempts 31 of 500 (dropped), the slowest with them 2.4 s in one run", () => {
        const figures = failureFigures(single({ detectionTime: "60s", dnsTtl: "2s" }, { ...STANDBY, connectTimeout: "1s", gateway: { ...GATEWAY, envoyFilters: "forbidden" } }), Fault.Drop, { windowMs: Infinity });
        expect(figures?.failed).to.be.closeTo(31, 3.1);
        expect(failureFigures(single({ detectionTime: "60s", dnsTtl: "2s" }, { ...STANDBY, connectTimeout: "1s" }), Fault.Drop, { windowMs: Infinity })?.waitMs.slowest).to.be.within(2400, 3000);
    });
});
