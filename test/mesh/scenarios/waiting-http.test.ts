// F on HTTP ports, as the library writes it: plain HTTP in, TLS from the gateway, whose router repeats what it could not send.
import { expect } from "chai";
import { EnvoyFilters, Protocol, Route, declaredWindowMs, fillDefaults } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import type { Second } from "../lab/agent/load";
import type { Fault } from "../lab/faults";
import { GATEWAY } from "../lab/layout";
import { Addresses, failover, failures, slowest } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { answering, declared } from "../variants";

const PORT = 80, FAULTS: readonly Fault[] = ["drop", "refuse"];
interface Row { readonly id: string; readonly title: string; readonly detectionSeconds: number; readonly ttl: number; readonly answers: 1 | 2; readonly changes: Partial<DeclarationInput>; readonly earlier?: string; readonly isQuick?: boolean; /** So many requests before the fault, on connections that the gateway then keeps. */ readonly warm?: number }
const ROWS: readonly Row[] = [
    { id: "w5", title: "One A record, W 5 s", detectionSeconds: 2.9, ttl: 1, answers: 1, changes: {}, isQuick: true },
    { id: "w20", title: "One A record, W 20 s", detectionSeconds: 9.9, ttl: 5, answers: 1, changes: {} },
    { id: "w20-without-filters", title: "One A record, W 20 s, EnvoyFilters forbidden", detectionSeconds: 9.9, ttl: 5, answers: 1, changes: { gateway: { ...GATEWAY, envoyFilters: EnvoyFilters.Forbidden } } },
    { id: "w10-warm", title: "One A record, W 10 s, connections kept from before", detectionSeconds: 7.9, ttl: 1, answers: 1, changes: {}, warm: 40 },
    { id: "several", title: "Two A records, one dead for good", detectionSeconds: 20, ttl: 5, answers: 2, changes: {}, earlier: "0 of 600" },
];
const RATES = isFull ? [20, 50] as const : [20] as const;
const hostOf = (id: string, fault: Fault, perSecond: number): string => `${id}-${fault}-${String(perSecond)}.http.example`;
const rows = ROWS.filter(({ isQuick }) => isFull || isQuick === true);
const places = rows.flatMap((row) => FAULTS.flatMap((fault) => RATES.map((perSecond) => ({ row, fault, host: hostOf(row.id, fault, perSecond) }))));
const addresses = new Addresses();
/** What waits is served at W at the latest; an attempt of 1 s, a pause of 1 s, and what a busy machine takes. */
const SLACK_MS = 6000;
/** How long load goes on after the new address is there. */
const REST_SECONDS = isFull ? 15 : 5;

interface Inputs { readonly runs: number; readonly atLeast: number }
interface Figures { readonly windowMs: number; readonly runs: readonly (Run & { readonly timeline: readonly Second[]; /** Of the gateway to the address that dies. */ readonly kept: number })[] }

scenario("waiting-http", { title: "Waiting instead of failing: requests of HTTP ports", question: "The application speaks plain HTTP, and the host's VIP dies: what do new requests lose, and how long do they wait?" }, ({ lab, cell }) => {
    const declarationOf = ({ row, host }: (typeof places)[number]): DeclarationInput => declared(host, answering(row.answers), {
        route: Route.TlsOrigination, ports: [{ number: PORT, protocol: Protocol.Http }], tls: { caCertificates: lab().certificates.authority },
        failover: { detectionTime: `${String(row.detectionSeconds * 1000)}ms`, dnsTtl: `${String(row.ttl)}s` }, ...row.changes,
    });
    before(async function () {
        this.timeout(240_000);
        for (const { row, host } of places) await lab().dns.addresses(host, addresses.take(row.answers), { ttl: row.ttl });
        expect(await lab().up(Object.fromEntries(places.map((place) => [place.host.replaceAll(".", "-"), declarationOf(place)])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const row of ROWS) {
        for (const fault of FAULTS) {
            cell<Inputs, Figures>({
                id: `${row.id}-${fault}`, title: `${row.title}, ${fault}`, full: { runs: 3, atLeast: 1000 }, ...(row.isQuick === true ? { quick: { runs: 1, atLeast: 1 } } : {}), timeoutMs: 900_000, isSideBySide: true,
                measure: async (one, { runs, atLeast }) => {
                    const done: Figures["runs"][number][] = [], here = places.filter((place) => place.row === row && place.fault === fault);
                    for (let run = 0; run < runs; run++) done.push(...await Promise.all(here.map(({ host }, index) => flip(one, row, fault, host, RATES[index] ?? 20, atLeast))));
                    return { windowMs: here[0] === undefined ? 0 : declaredWindowMs(fillDefaults(declarationOf(here[0]))) ?? 0, runs: done };
                },
                expect: ({ windowMs, runs }) => {
                    for (const { failed, failedBy, totalMs, kept } of runs) {
                        // What was kept: a request on each may be lost with it, and nothing else is.
                        expect(failed, JSON.stringify(failedBy)).to.be.at.most(kept);
                        expect(totalMs?.max, "the slowest").to.be.at.most((row.answers === 1 ? windowMs : 0) + SLACK_MS);
                    }
                },
                shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}${row.warm === undefined ? "" : `; ${runs.map(({ kept }) => String(kept)).join(", ")} connections had been kept`}`, earlier: row.earlier,
                ...(row.warm === undefined ? {} : { why: "a request that was sent on a connection that dies is not repeated" }),
                ...(row.id === "w20" ? { chart: ({ runs: [run] }: Figures) => ({ title: `${row.title}, ${fault}`, seconds: run?.timeline ?? [], events: [{ second: 0, text: "the VIP dies" }, { second: row.detectionSeconds, text: "the GSLB moves the record" }] }) } : {}),
            });
        }
    }
});

/** A VIP dies; where it was the only one, the record moves to another when the GSLB would have noticed. New connections of the application all the time. */
async function flip(lab: Lab, { detectionSeconds, ttl, answers, id, warm = 0 }: Row, fault: Fault, host: string, perSecond: number, atLeast: number): Promise<Figures["runs"][number]> {
    const before = addresses.take(answers), [dead = ""] = before, after = answers === 1 ? addresses.take(1) : before;
    await lab.dns.addresses(host, before, { ttl });
    await lab.members(host, before, { port: PORT });
    const pace = { kind: "rate", perSecond } as const, requests = { protocol: "plaintext", port: PORT, pace, timeoutMs: warm > 0 ? 30_000 : 90_000 } as const;
    if (warm > 0) await lab.apps.payments.load(host, { ...requests, count: warm });
    const kept = (await lab.gateways.pod(0).envoy.members(clusterName(host, PORT))).reduce((sum, { active }) => sum + active, 0);
    const count = Math.max(atLeast, perSecond * Math.ceil(detectionSeconds + 2 * ttl + REST_SECONDS));
    const { run, timeline } = await failover(lab, host, { dead, fault, after, ttl, detectionMs: detectionSeconds * 1000, load: { ...requests, count } });
    return { ...run, kept, timeline: id === "w20" ? timeline : timeline.filter(({ failed }) => failed > 0) };
}
