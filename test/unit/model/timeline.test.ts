// The planner: the order of events, Envoy's rules of hosts and priorities, and what follows for declarations.
import { execFileSync } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { Device, Fault, LoadBalancer, type ProxySettings, failoverAlert, failureFailover, failureFigures, gslbAdvice, lossWindow, plannedFailover, proxySettings, runbookOf, simulate, standbyExpression, stepsOf, waitedOf, whyNoTimeline } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { Cluster } from "../../../model/timeline/cluster";
import { EventQueue } from "../../../model/timeline/queue";
import { seeded } from "../../../model/timeline/random";
import { DEFAULT_OUTLIER } from "../../../model/outlier";
import { GATEWAY, accept, declaration, declarations } from "../../support/declarations";

const fixed = (addressesPerAnswer: number, standbyAddresses?: string[]) => ({ pool: { membership: "fixed" as const, addressesPerAnswer, ...(standbyAddresses === undefined ? {} : { standbyAddresses }) } });
const VIPS = ["203.0.113.1", "203.0.113.2"];

describe("events in order", () => {
    it("come by time, and by their order where they are due together", () => fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (times) => {
        const queue = new EventQueue<number>(), got: { at: number; what: number }[] = [];
        times.forEach((at, index) => queue.add(at, index));
        for (let event = queue.next(); event !== undefined; event = queue.next()) got.push({ at: event.at, what: event.what });
        expect(got).to.deep.equal(times.map((at, what) => ({ at, what })).sort((a, b) => a.at - b.at || a.what - b.what));
    })));

    it("random numbers are the same for a seed, others for another, and spread evenly", () => {
        const take = (seed: number): readonly number[] => { const next = seeded(seed); return Array.from({ length: 10_000 }, next); };
        expect(take(1)).to.deep.equal(take(1)).and.to.not.deep.equal(take(2));
        const tenths = Array.from({ length: 10 }, (_, tenth) => take(1).filter((value) => Math.floor(value * 10) === tenth).length);
        expect(Math.min(...tenths)).to.be.within(900, 1000).and.to.be.at.most(Math.max(...tenths));
        expect(Math.max(...tenths)).to.be.below(1100);
    });
});

describe("a cluster by Envoy's rules", () => {
    const cluster = (primary: readonly string[], standby: readonly string[], changes: object = {}, overprovisioning?: number): Cluster => {
        const made = new Cluster({ loadBalancer: LoadBalancer.RoundRobin, outlier: { ...DEFAULT_OUTLIER, maxEjectionPercent: 100, ...changes }, workers: 1, random: seeded(1), ...(overprovisioning === undefined ? {} : { overprovisioning }) });
        if (standby.length > 0) made.setAddresses(1, standby);
        made.setAddresses(0, primary);
        return made;
    };
    const eject = (made: Cluster, ...which: readonly (readonly [priority: number, address: string])[]): void => {
        for (const [priority, address] of which) for (const host of made.hosts.filter((one) => one.priority === priority && one.address === address)) made.eject(host, 0);
        made.publish(0);
        made.publish(1);
    };
    const shares = (made: Cluster): Record<string, number> => {
        const counts: Record<string, number> = {};
        for (let time = 0; time < 1000; time++) {
            const host = made.choose(0), key = host === undefined ? "none" : `${String(host.priority)} ${host.address}`;
            counts[key] = (counts[key] ?? 0) + 1;
        }
        return counts;
    };

    it("takes turns, and goes on without what is ejected", () => {
        const made = cluster(["a", "b"], []);
        expect(shares(made)).to.deep.equal({ "0 a": 500, "0 b": 500 });
        eject(made, [0, "a"]);
        expect(shares(made)).to.deep.equal({ "0 b": 1000 });
    });

    it("refuses an ejection beyond the guard's share of all hosts, of both priorities", () => {
        const made = cluster(["a"], ["a", "b"], { maxEjectionPercent: 50 });
        eject(made, [0, "a"], [1, "a"]);
        expect([made.ejections, made.overflows]).to.deep.equal([1, 1]);
        const all = cluster(["a"], ["a", "b"], { maxEjectionPercent: 67 });
        eject(all, [0, "a"], [1, "a"]);
        expect([all.ejections, all.overflows]).to.deep.equal([2, 0]);
        expect(shares(all)).to.deep.equal({ "1 b": 1000 });
    });

    it("leaves a priority as its available share falls below 100 %", () => {
        const half = cluster(["a", "b"], ["c"]);
        eject(half, [0, "a"]);
        expect(shares(half)["1 c"]).to.be.within(250, 350);
        const enough = cluster(["a", "b"], ["c"], {}, 200);
        eject(enough, [0, "a"]);
        expect(shares(enough)).to.deep.equal({ "0 b": 1000 });
        const empty = cluster([], ["c"]);
        expect(shares(empty)).to.deep.equal({ "1 c": 1000 });
    });

    it("panics only where nothing healthy is left, and not at all with minHealthPercent 0", () => {
        const panic = cluster(["a", "b"], []);
        eject(panic, [0, "a"], [0, "b"]);
        expect(shares(panic)).to.deep.equal({ "0 a": 500, "0 b": 500 });
        const none = cluster(["a", "b"], [], { minHealthPercent: 0 });
        eject(none, [0, "a"], [0, "b"]);
        expect(shares(none)).to.deep.equal({ none: 1000 });
        // In total panic the priorities share by their sizes.
        const both = cluster(["a"], ["a", "b", "c"], { maxEjectionPercent: 100 });
        eject(both, [0, "a"], [1, "a"], [1, "b"], [1, "c"]);
        expect(shares(both)["0 a"]).to.be.within(200, 300);
        expect(cluster([], []).choose(0)).to.equal(undefined);
    });

    it("admits after the base time times the ejections, at a sweep; a host that was away is a new one", () => {
        const made = cluster(["a", "b"], []), [a] = made.hosts;
        if (a === undefined) throw new Error("no host");
        expect(made.eject(a, 0)).to.equal(true);
        expect(made.eject(a, 1)).to.equal(false);
        expect(made.sweep(29_999)).to.deep.equal([]);
        expect(made.sweep(30_000)).to.deep.equal([a]);
        made.eject(a, 40_000);
        expect(made.sweep(99_999)).to.deep.equal([]);
        expect(made.sweep(100_000)).to.deep.equal([a]);
        made.eject(a, 100_000);
        made.setAddresses(0, ["b"]);
        made.setAddresses(0, ["a", "b"]);
        expect(made.hosts.map(({ address, isEjected }) => [address, isEjected])).to.deep.equal([["a", false], ["b", false]]);
    });
});

describe("failovers of declarations", () => {
    const figures = (changes: Parameters<typeof declaration>[0], fault: Fault = Fault.Drop) => failureFigures(declaration(changes), fault);

    it("one address: all of W fails without waiting, none with it, and the slowest waits W and a little", () => {
        const waits = failureFailover(declaration(fixed(1)));
        expect(waits?.windowMs).to.equal(lossWindow(declaration(fixed(1))).ms).and.to.equal(20_100);
        expect(waits?.rows.map(({ devices, fault, isDeclared, failed, lossMs, budgetMs }) => [devices.join(" + "), fault, isDeclared, failed, lossMs, budgetMs])).to.deep.equal([
            ["", "drop", false, 402, 20_050, 1000], ["", "refuse", false, 402, 20_050, 1000], ["outlier detection", "drop", false, 402, 20_050, 1000], ["outlier detection", "refuse", false, 402, 20_050, 1000],
            ["outlier detection + waiting", "drop", true, 0, undefined, 25_100], ["outlier detection + waiting", "refuse", true, 0, undefined, 25_100],
        ]);
        for (const row of waits?.rows.filter(({ isDeclared }) => isDeclared) ?? []) expect(row.waitMs.slowest).to.be.within(20_000, 20_100 + 2000);
        const [timeline] = waits?.timelines ?? [];
        expect(timeline?.seconds.map(({ sent, failed, by }) => [sent, failed, by])).to.deep.equal(Array.from({ length: 36 }, () => [20, 0, { "new address": 20 }]));
        expect(timeline?.seconds.map(waitedOf).slice(0, 22)).to.deep.equal([...Array.from({ length: 20 }, () => 20), 2, 0]);
        expect(timeline?.events).to.deep.equal([
            { atMs: 0, text: "the address dies" }, { atMs: 10_000, text: "the GSLB answers without it" }, { atMs: 15_000, text: "resolvers have forgotten the old answer" }, { atMs: 20_100, text: "the proxy has the new answer" },
        ]);
    });

    it("failures start where the budget ends, and not before", () => {
        const long = (detectionTime: string) => ({ ...fixed(1), failover: { detectionTime, dnsTtl: "1s" } });
        // The longest budget is 300 s: 290 s of window are outlasted, 400 s are not.
        expect(figures(long("290s"))?.failed).to.equal(0);
        const late = failureFigures(declaration(long("400s")), Fault.Refuse);
        expect(late?.failed).to.be.within(95 * 20, 103 * 20);
        expect(late?.lossMs).to.be.within(95_000, 103_000);
        expect(late?.slowestFailureMs).to.be.at.least(300_000);
    });

    it("onConnectFailure fail, or EnvoyFilters that are forbidden, lose the window", () => {
        expect(figures({ ...fixed(1), failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" } })?.failed).to.equal(402);
        expect(figures({ ...fixed(1), gateway: { ...GATEWAY, envoyFilters: "forbidden" } })?.failed).to.equal(402);
    });

    it("two addresses: a handful until the ejection, none with waiting; several proxies learn each by itself", () => {
        const rows = failureFailover(declaration())?.rows ?? [], failed = rows.map(({ failed: count }) => count);
        expect(failed).to.deep.equal([201, 201, 11, 3, 0, 0]);
        expect(rows.at(-2)?.waitMs.slowest).to.be.within(1000, 2100);
        const four = failureFailover(declaration({ failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" } }), { proxies: 4 })?.rows.filter(({ isDeclared }) => isDeclared);
        expect(four?.map(({ ejections }) => ejections)).to.deep.equal([4, 4]);
        expect(four?.[1]?.failed).to.be.within(10, 14);
        expect(failureFigures(declaration(fixed(50)), Fault.Refuse)?.failed).to.equal(0);
    });

    it("standby: the GSLB does not matter; without EnvoyFilter the first two seconds fail", () => {
        const never = { failover: { detectionTime: "3m", dnsTtl: "5s" } };
        for (const fault of [Fault.Drop, Fault.Refuse]) {
            const all = figures({ ...fixed(1, VIPS), ...never }, fault);
            expect(all?.failed).to.equal(0);
            expect(all?.waitMs.slowest).to.be.below(3000);
        }
        const without = { ...fixed(1, VIPS), gateway: { ...GATEWAY, envoyFilters: "forbidden" as const } }, once = figures(without);
        expect(once?.failed).to.be.within(25, 40);
        expect(once?.lossMs).to.be.at.most(2000);
        // Where the GSLB never moves, each re-admission of the dead address costs as much again.
        expect(figures({ ...without, ...never })?.failed).to.be.within(60, 150);
        expect(failureFigures(declaration(fixed(1)), Fault.Refuse, { windowMs: 5000 })?.waitMs.slowest).to.be.within(4500, 6000);
        // Never, and nothing stands by: each fails that began so long before the end of what is looked at.
        expect(failureFigures(declaration({ ...fixed(1), failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" } }), Fault.Refuse, { windowMs: Infinity })).to.deep.include({ sent: 600, failed: 600 });
        const timeline = failureFailover(declaration(fixed(1, VIPS)))?.timelines[0];
        expect(timeline?.events.map(({ text }) => text).slice(0, 4)).to.deep.equal(["the address dies", "it is ejected", "standby serves", "it is ejected as standby too"]);
        expect(timeline?.seconds[10]?.by).to.deep.equal({ standby: 20 });
        expect(timeline?.seconds.at(-1)?.by).to.deep.equal({ "new address": 20 });
        // The partner of two lives: standby is not used.
        expect(failureFailover(declaration(fixed(2, VIPS)))?.timelines[0]?.seconds.every(({ by }) => by["standby"] === undefined)).to.equal(true);
    });

    it("nothing is declared of the GSLB: it never answers otherwise, and that is said", () => {
        const unknown = failureFailover(declaration({ failover: undefined }));
        expect(unknown?.windowMs).to.equal(undefined);
        expect(unknown?.assumptions).to.deep.equal([
            "how long the GSLB takes is not declared (failover), so that it never answers without the dead address here.",
            "the way to the gateway is sound, and one gateway pod carries the connections; each pod learns by itself which address is dead.",
        ]);
        expect(plannedFailover(declaration({ failover: undefined }))).to.deep.include({ seconds: [], events: [], failed: 0 });
    });

    it("LOGICAL_DNS: happy eyeballs find a live address of the same answer, at 0.3 s each where packets are dropped", () => {
        const logical = declaration({ resolution: "DNS_ROUND_ROBIN" });
        expect(failureFigures(logical, Fault.Drop)).to.deep.include({ failed: 0, waitMs: { p50: 300, p99: 300, slowest: 300 } });
        expect(failureFigures(logical, Fault.Refuse)).to.deep.include({ failed: 0, waitMs: { p50: 2, p99: 2, slowest: 2 } });
        expect(failureFailover(declaration({ pool: { membership: "rotating" } }))?.assumptions).to.include("how many addresses an answer holds is not declared: one, which dies, is assumed.");
    });

    it("a wildcard has no timeline, and why", () => {
        const wildcard = declaration({ host: "*.partner.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating" } });
        expect(whyNoTimeline(wildcard)).to.equal("a wildcard has no address list: each application connects to what its own resolver answers");
        expect([failureFailover(wildcard), plannedFailover(wildcard), failureFigures(wildcard, Fault.Drop)]).to.deep.equal([undefined, undefined, undefined]);
        expect(gslbAdvice(wildcard)).to.deep.equal([]);
    });

    it("a planned failover loses nothing, and says when the old address may go", () => {
        const planned = plannedFailover(declaration({ ...fixed(1), failover: { detectionTime: "10s", dnsTtl: "5s", longestConnection: "15m" } }));
        expect(planned).to.deep.include({ propagationMs: 10_100, drainMs: 910_100, failed: 0 });
        expect(planned?.seconds.map(({ by }) => by)).to.deep.equal([...Array.from({ length: 10 }, () => ({ "old address": 20 })), { "old address": 2, "new address": 18 }, ...Array.from({ length: 15 }, () => ({ "new address": 20 }))]);
        expect(planned?.events.map(({ atMs, text }) => [atMs, text])).to.deep.equal([
            [0, "the record moves"], [5000, "resolvers have forgotten the old answer"], [10_100, "the proxy has the new answer"], [910_100, "the old address may be removed, once its connections are none (15m for the longest)"],
        ]);
        expect(plannedFailover(declaration())?.seconds[12]?.by).to.deep.equal({ "new address": 10, "other addresses": 10 });
    });

    it("compares nothing, then one device after the other, then all; each by itself where there is but one", () => {
        expect(stepsOf(declaration(fixed(1, VIPS)))).to.deep.equal([[], [Device.Outlier], [Device.Outlier, Device.Waiting], [Device.Outlier, Device.Standby], [Device.Outlier, Device.Waiting, Device.Standby]]);
        expect(stepsOf(declaration({ resolution: "DNS_ROUND_ROBIN" }))).to.deep.equal([[], [Device.Waiting]]);
        expect(stepsOf(declaration({ route: "direct", gateway: undefined }))).to.deep.equal([[], [Device.Outlier]]);
        const mutual: Partial<ProxySettings> = { attempts: 1, cutMs: 15_000, mergeWindowMs: 1000, connectTimeoutMs: 1000, standby: [] };
        expect(proxySettings(declaration(), [])).to.deep.include(mutual).and.to.not.have.property("outlier");
        expect(proxySettings(declaration(fixed(1, VIPS)))).to.deep.include({ standby: VIPS, connectTimeoutMs: 900, mergeWindowMs: 0, overprovisioning: 100 });
        expect(proxySettings(declaration({ route: "passthrough" }), [])).to.not.have.property("cutMs");
        expect(proxySettings(declaration({ route: "direct", gateway: undefined, ports: [{ number: 80, protocol: "HTTP" }] }))).to.deep.include({ attempts: 3 });
    });

    it("is the same each time, for any declaration, and counts every connection once", () => fc.assert(fc.property(declarations, (input) => {
        // Long windows are the same for longer.
        const any = accept({ ...input, ...(input.failover === undefined ? {} : { failover: { detectionTime: "7s", dnsTtl: "3s" } }) }), once = failureFigures(any, Fault.Refuse, { perSecond: 1 });
        expect(failureFigures(any, Fault.Refuse, { perSecond: 1 })).to.deep.equal(once);
        if (once === undefined) return;
        expect(once.failed).to.be.within(0, once.sent);
        const planned = plannedFailover(any, { perSecond: 1 });
        expect(planned?.failed).to.equal(0);
        for (const { sent, by, failed } of planned?.seconds ?? []) expect(Object.values(by).reduce((sum, count) => sum + count, failed)).to.equal(sent);
    }), { numRuns: 15 }));

    it("purges what waits for a connection that fails, and tells outlier detection of each (Envoy's TCP proxy)", () => {
        const settings: ProxySettings = { keepsList: true, loadBalancer: LoadBalancer.RoundRobin, connectTimeoutMs: 1000, attempts: 1, standby: [], mergeWindowMs: 1000, outlier: DEFAULT_OUTLIER };
        const { connections, events } = simulate(settings, { lists: [{ atMs: 0, addresses: ["dead", "live"] }], dead: [{ address: "dead", fault: Fault.Drop }] }, { kind: "rate", perSecond: 20, seconds: 5 });
        const failed = connections.filter(({ by }) => by === undefined);
        // Ejected by the first time-outs, of which many fail together, long before a second of their own.
        expect(events[0]?.atMs).to.be.within(1000, 1100);
        expect(Math.min(...failed.map(({ waitMs }) => waitMs))).to.be.below(200);
    });
});

describe("what the GSLB could change", () => {
    const advice = (changes: Parameters<typeof declaration>[0]) => gslbAdvice(declaration(changes)).map(({ change, before, after }) => [change, before.failed, after.failed]);

    it("is worth failures where nothing waits, and waits where something does", () => {
        const fail = { failover: { detectionTime: "20s", dnsTtl: "30s", onConnectFailure: "fail" as const } };
        const [addresses, ttl, detection, standby] = advice({ ...fixed(1), ...fail });
        expect(addresses).to.deep.equal(["addresses", 1602, 22]);
        expect(ttl).to.deep.equal(["ttl", 1602, 602]);
        expect(detection).to.deep.equal(["detection", 1602, 1302]);
        expect(standby?.[0]).to.equal("standby");
        // Once at the death, once at the re-admission.
        expect(standby?.[2]).to.be.within(50, 80);
        const waits = gslbAdvice(declaration({ ...fixed(1), failover: { detectionTime: "20s", dnsTtl: "30s" } }));
        expect(waits.map(({ change, text, after }) => [change, text, after.failed])).to.deep.equal([
            ["addresses", "answer with two addresses instead of one (addressesPerAnswer)", 0], ["ttl", "a TTL of 5s instead of 30s (dnsTtl)", 0],
            ["detection", "detect a dead address within 5s instead of 20s (detectionTime)", 0], ["standby", "publish the pool's 2 or more addresses, to be declared as standby (standbyAddresses)", 0],
        ]);
        for (const { before, after } of waits) expect(after.slowestMs).to.be.below(before.slowestMs);
    });

    it("is nothing where the declaration has it all, or cannot take it", () => {
        expect(advice({ ...fixed(2, [...VIPS, "203.0.113.3"]), failover: { detectionTime: "5s", dnsTtl: "5s" } })).to.deep.equal([]);
        // Before Istio 1.30 no address stands by.
        const old = { ...fixed(1), failover: { detectionTime: "5s", dnsTtl: "5s" }, gateway: { ...GATEWAY, istioVersion: "1.29.0" } };
        expect(advice(old).map(([change]) => change)).to.deep.equal(["addresses"]);
        expect(advice({ pool: { membership: "rotating" }, failover: { detectionTime: "5s", dnsTtl: "5s" } })).to.deep.equal([]);
    });
});

describe("the runbook", () => {
    it("names the pods, the cluster and the queries of the host", () => {
        const steps = runbookOf(declaration());
        expect(steps.map(({ when, title }) => `${when}: ${title}`)).to.deep.equal([
            "both: What DNS answers, and what the proxies have", "planned failover: Move the record, and see that the proxies follow", "planned failover: Wait for the drain", "planned failover: Remove the old address",
            "failure: What is dead, and what the proxies make of it", "failure: Whether the last known address serves",
        ]);
        expect(steps[0]?.commands).to.deep.equal([
            "dig +noall +answer A api.partner.example", "istio-egress verify-pool api.partner.example --catalogue FILE", "kubectl -n istio-egress get pods -l istio=egressgateway",
            "istioctl proxy-config endpoints POD -n istio-egress --cluster 'outbound|443||api.partner.example'",
            "kubectl -n istio-egress exec POD -c istio-proxy -- pilot-agent request GET clusters | grep -F 'outbound|443||api.partner.example::'",
        ]);
        expect(steps[2]?.queries).to.deep.equal(["sum(envoy_cluster_upstream_cx_active{cluster_name=~\"outbound[|]443[|]((or-)?last-known)?[|]api[.]partner[.]example\"})"]);
        const direct = runbookOf(declaration({ route: "direct", gateway: undefined, pool: { membership: "rotating" } }))[0]?.commands;
        expect(direct?.slice(0, 2)).to.deep.equal(["dig +noall +answer A api.partner.example", "kubectl -n payments get pods"]);
        const ports = runbookOf(declaration({ ports: [{ number: 443 }, { number: 8443 }] }))[1]?.queries;
        expect(ports).to.deep.equal(["increase(envoy_cluster_membership_change{cluster_name=~\"outbound[|](443|8443)[|][|]api[.]partner[.]example\"}[5m])"]);
    });

    it("counts what ran out of attempts, requests or connections, and takes a host's letters as they are", () => {
        const http = { number: 80, protocol: "HTTP" } as const, tcp = { number: 8443, protocol: "TCP" } as const;
        const counted = (changes: Partial<DeclarationInput>): readonly (string | undefined)[] => {
            const { commands, queries } = runbookOf(declaration(changes)).find(({ title }) => title.startsWith("What is dead")) ?? { commands: [], queries: [] };
            return [commands[1]?.slice(commands[1].indexOf("grep")), ...queries.slice(2, -1)];
        };
        const grep = (cluster: string, names: string): string => `grep -E '^cluster[.]${cluster};?[.](upstream_cx_connect_(fail|timeout)|${names}|upstream_cx_none_healthy|outlier_detection[.]ejections_(active|enforced_total|overflow)):'`;
        expect(counted({})).to.deep.equal([
            grep("outbound[|]443[|]((or-)?last-known)?[|]api[.]partner[.]example", "upstream_cx_connect_attempts_exceeded"), 'increase(envoy_cluster_upstream_cx_connect_attempts_exceeded{cluster_name=~"outbound[|]443[|]((or-)?last-known)?[|]api[.]partner[.]example"}[5m])',
        ]);
        expect(counted({ pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" } })).to.deep.equal([
            grep("outbound[|]443[|][|]api[.]partner[.]example", "upstream_cx_connect_attempts_exceeded"), 'increase(envoy_cluster_upstream_cx_connect_attempts_exceeded{cluster_name="outbound|443||api.partner.example"}[5m])',
        ]);
        expect(counted({ route: "tls-origination", ports: [http] })).to.deep.equal([
            grep("outbound[|]80[|]((or-)?last-known)?[|]api[.]partner[.]example", "upstream_rq_retry_limit_exceeded"), 'increase(envoy_cluster_upstream_rq_retry_limit_exceeded{cluster_name=~"outbound[|]80[|]((or-)?last-known)?[|]api[.]partner[.]example"}[5m])',
        ]);
        expect(counted({ route: "tls-origination", ports: [http, tcp], addresses: ["192.0.2.1", "192.0.2.2"] }).slice(1).map((query) => query?.split("{")[0])).to.deep.equal([
            "increase(envoy_cluster_upstream_cx_connect_attempts_exceeded", "increase(envoy_cluster_upstream_rq_retry_limit_exceeded",
        ]);
        const wildcard = counted({ host: "*.partner.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating" }, ports: [{ number: 443 }, { number: 8443 }] });
        expect(wildcard).to.deep.equal([
            grep("outbound[|]443[|][|][*][.]partner[.]example", "upstream_cx_connect_attempts_exceeded"), 'increase(envoy_cluster_upstream_cx_connect_attempts_exceeded{cluster_name=~"outbound[|](443|8443)[|][|][*][.]partner[.]example"}[5m])',
        ]);
        const lines = ["cluster.outbound|443||*.partner.example;.upstream_cx_connect_fail: 1", "cluster.outbound|443||other.partner.example;.upstream_cx_connect_fail: 1"];
        const found = (command: string | undefined, of: readonly string[]): string => execFileSync("bash", ["-c", command ?? ""], { input: of.join("\n"), encoding: "utf8" });
        expect(found(wildcard[0], lines)).to.equal(`${lines[0] ?? ""}\n`);
        const kept = ["", "last-known", "or-last-known", "egress"].map((subset) => `cluster.outbound|443|${subset}|api.partner.example;.upstream_cx_connect_fail: 1`);
        expect(found(counted({})[0], kept)).to.equal(`${kept.slice(0, 3).join("\n")}\n`);
    });

    it("tells when standby serves: all that DNS answers is ejected, or it answers nothing", () => {
        const metrics = "{cluster_name=\"outbound|443||api.partner.example\"}", expression = (ejected: number, standby: number): string =>
            `envoy_cluster_outlier_detection_ejections_active${metrics} >= ${String(ejected)} or envoy_cluster_membership_total${metrics} <= ${String(standby)}`;
        expect(standbyExpression(declaration())).to.equal(undefined);
        expect(standbyExpression(declaration(fixed(1, VIPS)))).to.equal(expression(1, 2));
        expect(standbyExpression(declaration(fixed(3, [...VIPS, "203.0.113.3", "203.0.113.4"])))).to.equal(expression(3, 4));
        // At Envoy's own 140 %, where no EnvoyFilter may change it, the first ejection of three already sends some there.
        expect(standbyExpression(declaration({ ...fixed(3, [...VIPS, "203.0.113.3", "203.0.113.4"]), gateway: { ...GATEWAY, envoyFilters: "forbidden" } }))).to.equal(expression(1, 4));
        expect(failoverAlert("partner-api", declaration(fixed(1, VIPS)))).to.deep.include({ apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", metadata: { name: "istio-egress-partner-api", namespace: "istio-egress" } })
            .and.to.have.nested.include({ "spec.groups[0].rules[0].alert": "EgressStandbyServes", "spec.groups[0].rules[0].expr": expression(1, 2) });
    });

    it("tells when the last known address serves: DNS answers nothing", () => {
        const expr = "envoy_cluster_membership_total{cluster_name=\"outbound|443||api.partner.example\"} <= 0";
        expect(failoverAlert("partner-api", declaration())).to.have.nested.include({ "spec.groups[0].rules[0].alert": "EgressLastKnownServes", "spec.groups[0].rules[0].expr": expr });
        expect(runbookOf(declaration()).at(-1)).to.deep.include({
            title: "Whether the last known address serves", queries: [expr],
            commands: ["kubectl -n istio-egress exec POD -c istio-proxy -- pilot-agent request GET clusters | grep -F 'outbound|443|last-known|api.partner.example::'"],
        });
        const fail = declaration({ pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" } });
        expect(failoverAlert("partner-api", fail)).to.equal(undefined);
        expect(runbookOf(fail).some(({ title }) => title.includes("last known"))).to.equal(false);
    });
});
