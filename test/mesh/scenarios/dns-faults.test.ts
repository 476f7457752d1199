// What a DNS server that answers wrongly, or not at all, costs new connections, by the ServiceEntry's resolution.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Resolution } from "../../../model";
import type { Lab } from "../lab";
import type { LoadResult } from "../lab/agent/load";
import type { DnsRecord } from "../lab/agent/dns";
import { clusterName } from "../counters";
import { declare } from "../lab/declare";
import { GATEWAY_LABELS, NAMESPACES, vip } from "../lab/layout";
import { expectBetween, expectNone, lost, times } from "../figures";
import { scenario } from "../scenario";

interface Inputs {
    readonly runs: number;
    readonly connections: number;
    readonly perSecond: number;
    /** Of the good records. */
    readonly ttl: number;
    readonly faultFrom: number;
    readonly faultUntil: number;
}
interface Run {
    readonly load: LoadResult;
    /** The addresses that the gateway has at the fault's end. */
    readonly members: readonly string[];
    /** After the record's return, until the gateway has the address again. */
    readonly backMs: number;
}
type Fault = "empty" | "nxdomain" | "servfail" | "silence" | "truncated";

const consumers = [{ namespace: "payments" }];
const HOSTS = {
    STRICT: declare({ host: "strict.dns.example", consumers }),
    LOGICAL: declare({ host: "logical.dns.example", consumers, resolution: Resolution.DnsRoundRobin }),
};
type Mode = keyof typeof HOSTS;

const ONCE: Inputs = { runs: 1, connections: 600, perSecond: 20, ttl: 5, faultFrom: 3, faultUntil: 23 };
const THRICE: Inputs = { runs: 3, connections: 1000, perSecond: 40, ttl: 5, faultFrom: 2, faultUntil: 22 };
const QUICK: Inputs = { runs: 1, connections: 120, perSecond: 20, ttl: 1, faultFrom: 1, faultUntil: 5 };
/** `meshConfig.dnsRefreshRate`: after an answer without records the next query comes so much later. */
const REFRESH_S = 60;
const KEPT = "the answer is no answer: the list stays as it was", EMPTIED = "a good answer without records empties the list, and the next query comes after dnsRefreshRate (60 s)";

const TABLE: readonly { readonly fault: Fault; readonly title: string; readonly mode: Mode; readonly earlier?: string; readonly why?: string; readonly isQuick?: boolean }[] = [
    { fault: "servfail", title: "SERVFAIL", mode: "STRICT", earlier: "0 of 600", why: KEPT, isQuick: true },
    { fault: "servfail", title: "SERVFAIL", mode: "LOGICAL", earlier: "0 of 600" },
    { fault: "silence", title: "No answer", mode: "STRICT", earlier: "0 of 600", why: KEPT },
    { fault: "silence", title: "No answer", mode: "LOGICAL", earlier: "0 of 600" },
    { fault: "truncated", title: "Truncated over UDP", mode: "STRICT", why: "asked again over TCP" },
    { fault: "truncated", title: "Truncated over UDP", mode: "LOGICAL", why: "asked again over TCP" },
    { fault: "nxdomain", title: "NXDOMAIN", mode: "LOGICAL", earlier: "0 of 600" },
    { fault: "empty", title: "Empty answer", mode: "LOGICAL", earlier: "0 of 600", isQuick: true },
    { fault: "nxdomain", title: "NXDOMAIN", mode: "STRICT", earlier: "88 % of 600" },
    { fault: "empty", title: "Empty answer", mode: "STRICT", earlier: "88 % of 600", isQuick: true },
];

scenario("dns-faults", {
    title: "DNS faults", question: "The DNS server answers wrongly for 20 s, or not at all. What do new connections through the gateway lose, and for how long?",
}, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        for (const { host } of Object.values(HOSTS)) await lab().dns.addresses(host, [vip(1)]);
        await lab().up(HOSTS);
    });
    after(() => lab().mesh());

    for (const { fault, title, mode, earlier, why, isQuick } of TABLE) {
        const isEmptied = mode === "STRICT" && (fault === "empty" || fault === "nxdomain");
        cell({
            id: `${fault}-${mode.toLowerCase()}`, title: `${title}, ${mode}`, full: isEmptied ? ONCE : THRICE, ...(isQuick === true ? { quick: QUICK } : {}), timeoutMs: 400_000,
            measure: (one, inputs) => measure(one, mode, fault, inputs),
            expect: ({ runs, inputs }) => {
                if (!isEmptied) {
                    expectNone(...runs.map(({ load }) => load));
                    for (const { members } of runs) expect(members).to.deep.equal([vip(1)]);
                    return;
                }
                for (const { load, members, backMs } of runs) {
                    // From the first query of the fault, a TTL after its begin at the latest, until the end: the record's return changes nothing.
                    expectBetween(load, 100 * (1 - (inputs.faultFrom + inputs.ttl + 0.5) * inputs.perSecond / load.sent), 100 * (1 - inputs.faultFrom * inputs.perSecond / load.sent));
                    expect(members).to.deep.equal([]);
                    expect(load.timeline.filter(({ second, sent, failed }) => second > inputs.faultUntil && failed < sent)).to.deep.equal([]);
                    const emptyMs = backMs + 1000 * (inputs.faultUntil - inputs.faultFrom);
                    if (backMs > 0) expect(emptyMs).to.be.within(1000 * (REFRESH_S - 1), 1000 * (REFRESH_S + inputs.ttl + 5));
                }
            },
            shown: ({ runs }) => `${lost(...runs.map(({ load }) => load))}${isEmptied ? `; the address is back ${seconds(runs)} after the record` : ""}`,
            earlier, why: isEmptied ? `${EMPTIED}; the share depends on how far the TTL had run when the fault began` : why,
            chart: ({ runs: [run], inputs }) => ({
                title: `${title}, ${mode}`, seconds: run?.load.timeline ?? [],
                events: [{ second: inputs.faultFrom, text: "fault" }, { second: inputs.faultUntil, text: "record is back" }],
            }),
        });
    }

    cell({
        id: "empty-strict-host-refresh", title: "Empty answer, STRICT, the cluster's dns_refresh_rate 3 s (EnvoyFilter)", full: ONCE, timeoutMs: 200_000,
        measure: (one, inputs) => measure(one, "STRICT", "empty", inputs, { dns_refresh_rate: "3s" }),
        expect: (figures) => expectRecovery(figures, 3),
        shown: ({ runs }) => `${lost(...runs.map(({ load }) => load))}; the address is back ${seconds(runs)} after the record`,
        earlier: "405 of 600; back within 1 to 2 s", why: "connections during the fault still fail",
        chart: ({ runs: [run], inputs }) => ({ title: "Empty answer, dns_refresh_rate 3 s", seconds: run?.load.timeline ?? [], events: [{ second: inputs.faultFrom, text: "fault" }, { second: inputs.faultUntil, text: "record is back" }] }),
    });

    cell({
        id: "servfail-then-flip-strict", title: "One SERVFAIL, then the record changes, STRICT: until the gateway follows", full: {}, timeoutMs: 120_000,
        measure: async (one) => {
            const { host } = HOSTS.STRICT, gateway = one.gateways.pod(0).plan.address, begin = Date.now();
            await one.dns.addresses(host, [vip(1)]);
            await renew(one, host, {});
            await one.dns.fails(host, "servfail");
            const isAsked = async (): Promise<boolean> => (await one.dns.queries(begin)).some(({ name, client, answer }) => name === host && client === gateway && answer === "servfail");
            for (const deadline = Date.now() + 30_000; !await isAsked(); await wait(50)) if (Date.now() > deadline) throw new Error(`The gateway has not asked for ${host} within 30 s.`);
            const changed = Date.now();
            await one.dns.addresses(host, [vip(2)]);
            await one.members(host, [vip(2)], { timeoutMs: (REFRESH_S + 15) * 1000 });
            return { followedMs: Date.now() - changed };
        },
        expect: ({ followedMs }) => expect(followedMs).to.be.within((REFRESH_S - 2) * 1000, (REFRESH_S + 10) * 1000),
        shown: ({ followedMs }) => `${(followedMs / 1000).toFixed(1)} s, instead of the TTL's 5 s`,
        why: "after a failed query the next one comes after dnsRefreshRate (60 s): the loss window of a failover is longer by that, when the GSLB answers SERVFAIL while it fails over",
    });

    cell({
        id: "empty-strict-mesh-refresh", title: "Empty answer, STRICT, meshConfig.dnsRefreshRate 5 s", full: ONCE, timeoutMs: 200_000,
        measure: async (one, inputs) => {
            one.mesh({ dnsRefreshRate: "5s" });
            const gateway = one.gateways.pod(0).envoy;
            for (const deadline = Date.now() + 30_000; (await gateway.clusterConfig(clusterName(HOSTS.STRICT.host)))?.["dns_refresh_rate"] !== "5s"; await wait(100)) {
                if (Date.now() > deadline) throw new Error("The gateway has not got the mesh's new dnsRefreshRate within 30 s.");
            }
            return measure(one, "STRICT", "empty", inputs);
        },
        expect: (figures) => expectRecovery(figures, 5),
        shown: ({ runs }) => `${lost(...runs.map(({ load }) => load))}; the address is back ${seconds(runs)} after the record`,
        earlier: "back within 1 to 2 s of the record's return (live reload of the mesh's configuration)", why: "up to the refresh rate after the record's return",
    });
});

interface Figures { readonly runs: readonly Run[]; readonly inputs: Inputs }

async function measure(lab: Lab, mode: Mode, fault: Fault, inputs: Inputs, more: object = {}): Promise<Figures> {
    const { host } = HOSTS[mode], { connections, perSecond, ttl, faultFrom, faultUntil } = inputs;
    const runs = await times(inputs.runs, async (): Promise<Run> => {
        await lab.dns.addresses(host, [vip(1)], { ttl });
        await renew(lab, host, more);
        await lab.members(host, [vip(1)]);
        const load = lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 5_000 });
        await wait(faultFrom * 1000);
        await (fault === "truncated" ? lab.dns.addresses(host, [vip(1)], { ttl, isTruncated: true }) : lab.dns.fails(host, fault satisfies DnsRecord["kind"]));
        await wait((faultUntil - faultFrom) * 1000);
        const members = (await lab.gateways.pod(0).envoy.members(clusterName(host))).map(({ address }) => address);
        await lab.dns.addresses(host, [vip(1)], { ttl });
        const back = Date.now(), isQuick = inputs === QUICK;
        const [result, backMs] = await Promise.all([load, isQuick ? 0 : lab.members(host, [vip(1)], { timeoutMs: (REFRESH_S + 15) * 1000 }).then(() => Date.now() - back)]);
        return { load: result, members, backMs };
    });
    return { runs, inputs };
}

let renewals = 0;

/** A new cluster asks at once; after a failed query or an empty answer the old one asks again in a minute only, and would not notice the next fault. */
async function renew(lab: Lab, host: string, more: object): Promise<void> {
    renewals += 1;
    const value = { connect_timeout: `1.${String(renewals).padStart(3, "0")}s`, ...more };
    const begin = Date.now(), gateway = lab.gateways.pod(0).plan.address;
    expect(await lab.apply([{
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: "renew", namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } },
            configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { name: clusterName(host) } }, patch: { operation: "MERGE", value } }],
        },
    }])).to.deep.equal({});
    const queries = await lab.dns.queries(begin);
    expect(queries.filter(({ name, client }) => name === host && client === gateway), "queries of a new cluster").to.not.deep.equal([]);
}

/** Fails while the fault lasts, and no longer than the refresh rate after it. */
function expectRecovery({ runs, inputs }: Figures, refreshS: number): void {
    const { faultFrom, faultUntil, ttl } = inputs;
    for (const { load, backMs } of runs) {
        expectBetween(load, 100 * (faultUntil - faultFrom - ttl - 0.5) * inputs.perSecond / load.sent, 100 * (faultUntil - faultFrom + refreshS + 0.5) * inputs.perSecond / load.sent);
        expect(backMs).to.be.lessThan((refreshS + 1) * 1000);
        expect(load.timeline.filter(({ second, failed }) => second > faultUntil + refreshS + 1 && failed > 0)).to.deep.equal([]);
    }
}

function seconds(runs: readonly Run[]): string {
    return `${(Math.max(...runs.map(({ backMs }) => backMs)) / 1000).toFixed(1)} s`;
}
