// F as the library writes it: one A record, its VIP dies, the GSLB moves the record, and new connections wait at the gateway meanwhile.
import { expect } from "chai";
import { Route, decideWaiting, declaredWindowMs, fillDefaults } from "../../../model";
import type { DeclarationInput } from "../../../model";
import type { Lab } from "../lab";
import type { Second } from "../lab/agent/load";
import type { Fault } from "../lab/faults";
import { Addresses, failover, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isDue, isFull, scenario } from "../scenario";
import { declared } from "../variants";

/** What is declared, and with it W: detection, the resolver's cache and Envoy's own. */
interface Window { readonly seconds: number; readonly detectionTime: string; readonly dnsTtl: string }
const WINDOWS: readonly Window[] = [
    { seconds: 5, detectionTime: "2900ms", dnsTtl: "1s" }, { seconds: 10, detectionTime: "5900ms", dnsTtl: "2s" },
    { seconds: 20, detectionTime: "9900ms", dnsTtl: "5s" }, { seconds: 45, detectionTime: "34900ms", dnsTtl: "5s" },
];
/** Open loop, beside each other on hosts of their own. */
const RATES = isFull ? [20, 50] as const : [20] as const;
const FAULTS: readonly Fault[] = ["drop", "refuse"];
/** What waits is served at W at the latest; an attempt of 1 s, a pause of 1 s, and what a busy machine takes. */
const SLACK_MS = 6000;
/** How long load goes on after the new address is there. */
const REST_SECONDS = isFull ? 15 : 5;

interface Inputs { readonly runs: number; readonly atLeast: number }
interface Flip extends Run { readonly perSecond: number; readonly timeline: readonly Second[] }
interface Figures { readonly windowMs: number; readonly budgetMs: number; readonly runs: readonly Flip[] }

interface Place { readonly id: string; readonly route: Route; readonly window: Window; readonly perSecond: number }
const places = (id: string, window: Window, route: Route = Route.MtlsPassthrough): readonly Place[] => RATES.map((perSecond) => ({ id, route, window, perSecond }));
const hostOf = ({ id, perSecond }: Place): string => `${id}-${String(perSecond)}.waiting.example`;
const declarationOf = (place: Place): DeclarationInput => declared(hostOf(place), { route: place.route, failover: { detectionTime: place.window.detectionTime, dnsTtl: place.window.dnsTtl } });

const CELLS = [
    ...WINDOWS.map((window) => ({ id: `w${String(window.seconds)}`, title: `W ${String(window.seconds)} s`, window, route: Route.MtlsPassthrough, isQuick: window.seconds === 5 })),
    ...WINDOWS.filter(({ seconds }) => seconds === 20).map((window) => ({ id: "passthrough-w20", title: "Route passthrough, W 20 s", window, route: Route.Passthrough, isQuick: false })),
];
/** Declared as W 5 s, with a GSLB that takes 25 s longer. */
const SLOW: Window = { seconds: 5, detectionTime: "2900ms", dnsTtl: "1s" }, SLOW_DETECTION_MS = 28_000;
const addresses = new Addresses();
const parse = ({ detectionTime }: Window): number => Number(detectionTime.replace("ms", "")) / 1000;

scenario("waiting-single", { title: "Waiting instead of failing: one A record", question: "The only VIP dies and the GSLB moves the record within the declared window: what do new connections lose, and how long do they wait?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        const due = CELLS.filter(({ id, isQuick }) => isFull ? FAULTS.some((fault) => isDue("waiting-single", `${id}-${fault}`)) : isQuick);
        const all = [...due.flatMap(({ id, window, route }) => FAULTS.flatMap((fault) => places(`${id}-${fault}`, window, route))), ...isFull ? places("slow", SLOW) : []];
        for (const place of all) await lab().dns.addresses(hostOf(place), addresses.take(1));
        expect(await lab().up(Object.fromEntries(all.map((place) => [hostOf(place).replaceAll(".", "-"), declarationOf(place)])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const { id, title, window, route, isQuick } of CELLS) {
        for (const fault of FAULTS) {
            cell<Inputs, Figures>({
                id: `${id}-${fault}`, title: `${title}, ${fault}`, full: { runs: 3, atLeast: 1000 }, ...(isQuick ? { quick: { runs: 1, atLeast: 1 } } : {}), timeoutMs: 900_000, isSideBySide: true,
                measure: (one, inputs) => measure(one, places(`${id}-${fault}`, window, route), fault, inputs),
                expect: ({ windowMs, runs }) => {
                    for (const run of runs) {
                        expect(run.failed, `${String(run.perSecond)}/s: ${JSON.stringify(run.failedBy)}`).to.equal(0);
                        expect(run.totalMs?.max, "the slowest").to.be.at.most(windowMs + SLACK_MS);
                    }
                },
                shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, documents: "all connections of the window fail", ...(id === "w20" ? { earlier: "0 of 400 (dropped, hand-written patches)" } : {}),
                chart: ({ runs: [run] }) => ({ title: `${title}, ${fault}`, seconds: run?.timeline ?? [], events: [{ second: 0, text: "the VIP dies" }, { second: Math.round(parse(window)), text: "the GSLB moves the record" }] }),
            });
        }
    }

    for (const fault of FAULTS) {
        cell<Inputs, Figures>({
            id: `longer-than-declared-${fault}`, title: `Declared W 5 s, the record moves after ${String(SLOW_DETECTION_MS / 1000)} s, ${fault}`, full: { runs: 1, atLeast: 1000 }, timeoutMs: 300_000,
            measure: (one, inputs) => measure(one, places("slow", SLOW), fault, inputs, SLOW_DETECTION_MS),
            expect: ({ budgetMs, runs }) => {
                for (const { failed, failedMs, timeline } of runs) {
                    expect(failed).to.be.greaterThan(0);
                    // Nothing fails before the budget has passed, and what begins later than the window less the budget waits and is served.
                    expect(failedMs?.p50, "what fails has waited").to.be.at.least(budgetMs);
                    const last = Math.max(...timeline.filter((second) => second.failed > 0).map(({ second }) => second));
                    expect(last * 1000, "the last that fails").to.be.at.most(SLOW_DETECTION_MS + 2100 - budgetMs + 1000);
                }
            },
            shown: ({ budgetMs, runs }) => `${failures(runs)}, each after ${String(Math.round((runs[0]?.failedMs?.p50 ?? 0) / 100) / 10)} s (budget ${String(budgetMs / 1000)} s)`,
            why: "the declaration says what the GSLB does; a slower one is waited for as long as it was declared and 5 s",
        });
    }
});

async function measure(lab: Lab, at: readonly Place[], fault: Fault, { runs, atLeast }: Inputs, detectionMs?: number): Promise<Figures> {
    const done: Flip[] = [];
    for (let run = 0; run < runs; run++) done.push(...await Promise.all(at.map((place) => flip(lab, place, fault, atLeast, detectionMs))));
    const [place] = at, decision = place === undefined ? undefined : decideWaiting(fillDefaults(declarationOf(place)));
    return { windowMs: (place === undefined ? undefined : declaredWindowMs(fillDefaults(declarationOf(place)))) ?? 0, budgetMs: decision?.waits === true ? decision.waiting.budgetMs : 0, runs: done };
}

/** One host's VIP dies; its record moves to another when the GSLB would have noticed. Load goes on for W and a rest. */
async function flip(lab: Lab, place: Place, fault: Fault, atLeast: number, detectionMs = parse(place.window) * 1000): Promise<Flip> {
    const host = hostOf(place), { perSecond } = place, [dead = "", alive = ""] = addresses.take(2), ttl = Number(place.window.dnsTtl.replace("s", ""));
    await lab.dns.addresses(host, [dead], { ttl });
    await lab.members(host, [dead]);
    await warmUp(lab, host);
    const count = Math.max(atLeast, perSecond * Math.ceil(detectionMs / 1000 + 2 * ttl + REST_SECONDS));
    const { run, timeline } = await failover(lab, host, { dead, fault, after: [alive], ttl, detectionMs, load: { count, pace: { kind: "rate", perSecond }, timeoutMs: 90_000 } });
    return { ...run, perSecond, timeline: place.window.seconds === 20 ? timeline : timeline.filter(({ failed }) => failed > 0) };
}
