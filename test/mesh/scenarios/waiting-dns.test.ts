// DNS faults without standby addresses: what the library writes, and what else could bring a host back or keep it.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { LAST_KNOWN_SUBSET, OnEmptyAnswer, Protocol, Route } from "../../../model";
import type { Lab } from "../lab";
import type { DnsRecord } from "../lab/agent/dns";
import { clusterName } from "../counters";
import { WAITING } from "../lab/declare";
import { GATEWAY_LABELS, NAMESPACES } from "../lab/layout";
import { Addresses, counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isDue, isFull, scenario } from "../scenario";
import { answering, declared } from "../variants";
import type { Changes } from "../variants";

type DnsFault = Exclude<DnsRecord["kind"], "addresses">;
interface Inputs { readonly runs: number; readonly connections: number; readonly perSecond: number; readonly faultSeconds: number }
interface Figures { readonly runs: readonly (Run & { readonly lastFailure: number })[]; readonly faultSeconds: number }
const TTL = 2;
const FULL: Inputs = { runs: 3, connections: 1000, perSecond: 20, faultSeconds: 20 }, QUICK: Inputs = { runs: 1, connections: 160, perSecond: 20, faultSeconds: 4 };
const addresses = new Addresses();
/** What DNS answers of each host before anything is measured. */
const first = new Map<string, readonly string[]>();

/** What else could be done with the host's cluster at the gateway: merged by hand, where the library leaves an empty answer alone. */
type Device = "logical" | "failure-refresh" | "istio-refresh" | "health-checks";
const DEVICES: Readonly<Record<Device, { readonly title: string; readonly value: object; readonly why: string }>> = {
    logical: { title: "the cluster as LOGICAL_DNS", value: { type: "LOGICAL_DNS" }, why: "LOGICAL keeps its address, but spreads nothing and ejects nothing as soon as DNS answers two" },
    "failure-refresh": { title: "dns_failure_refresh_rate 200 ms", value: { dns_failure_refresh_rate: { base_interval: "0.2s", max_interval: "0.2s" } }, why: "asked sooner, but the list is empty all the same" },
    "istio-refresh": { title: "Istio's dnsRefreshRate, 60 s", value: { dns_refresh_rate: "60s" }, why: "what Istio does by itself" },
    "health-checks": {
        title: "active health checks", value: { health_checks: [{ timeout: "1s", interval: "2s", unhealthy_threshold: 2, healthy_threshold: 1, tcp_health_check: {} }] },
        why: "Envoy keeps what DNS has withdrawn for as long as it passes its checks, beside what DNS answers",
    },
};
function deviceFilter(host: string, device: Device): object {
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: `device-${host.replaceAll(".", "-")}`, namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } }, priority: 10,
            configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { service: host, portNumber: 443 } }, patch: { operation: "MERGE", value: DEVICES[device].value } }],
        },
    };
}

interface Setting {
    readonly answers: 1 | 2;
    /** What the declaration says; the default where nothing. */
    readonly onEmptyAnswer?: OnEmptyAnswer;
    readonly device?: Device;
    /** Requests of a plain HTTP port, for which the gateway speaks TLS. */
    readonly isHttp?: boolean;
    readonly isQuick?: boolean;
}
interface FaultCell extends Setting { readonly fault: DnsFault; readonly loses: boolean; readonly id: string }
const { Fail: fail } = OnEmptyAnswer;
const FAULTS: readonly FaultCell[] = [
    { id: "empty-1", fault: "empty", answers: 1, loses: false, isQuick: true }, { id: "nxdomain-1", fault: "nxdomain", answers: 1, loses: false },
    { id: "servfail-1", fault: "servfail", answers: 1, loses: false }, { id: "silence-1", fault: "silence", answers: 1, loses: false }, { id: "empty-2", fault: "empty", answers: 2, loses: false },
    { id: "empty-1-fail", fault: "empty", answers: 1, onEmptyAnswer: fail, loses: true, isQuick: true }, { id: "nxdomain-1-fail", fault: "nxdomain", answers: 1, onEmptyAnswer: fail, loses: true },
    { id: "empty-2-fail", fault: "empty", answers: 2, onEmptyAnswer: fail, loses: true },
    { id: "empty-http", fault: "empty", answers: 1, isHttp: true, loses: false, isQuick: true }, { id: "empty-http-2", fault: "empty", answers: 2, isHttp: true, loses: false },
    { id: "empty-http-fail", fault: "empty", answers: 1, isHttp: true, onEmptyAnswer: fail, loses: true },
    { id: "empty-1-logical", fault: "empty", answers: 1, onEmptyAnswer: fail, device: "logical", loses: false }, { id: "nxdomain-1-logical", fault: "nxdomain", answers: 1, onEmptyAnswer: fail, device: "logical", loses: false },
    { id: "empty-1-failure-refresh", fault: "empty", answers: 1, onEmptyAnswer: fail, device: "failure-refresh", loses: true }, { id: "empty-1-istio-refresh", fault: "empty", answers: 1, onEmptyAnswer: fail, device: "istio-refresh", loses: true },
];
interface MoveCell extends Setting { readonly id: string; readonly title: string; readonly keepsOld: boolean }
const MOVES: readonly MoveCell[] = [
    { id: "moved", title: "The record moves, the old address stays alive", answers: 1, keepsOld: false, isQuick: true },
    { id: "moved-health-checks", title: "The record moves, the old address stays alive, active health checks", answers: 1, onEmptyAnswer: fail, device: "health-checks", keepsOld: true },
];
const GONE: Setting & { readonly id: string } = { id: "dead-then-empty", answers: 1, isQuick: true };
/** What keeping the address costs: how often the gateway asks DNS, beside a host that keeps none. */
const QUESTIONS: readonly (Setting & { readonly id: string })[] = [{ id: "questions", answers: 1 }, { id: "questions-fail", answers: 1, onEmptyAnswer: fail }];
const QUESTION_SECONDS = 30;
/** The members of the aggregate are replaced all the time, and another aggregate of them comes and goes. */
const CHURN: Setting & { readonly id: string } = { id: "churn", answers: 2 };
const CHURN_MS = 700;
const hostOf = (id: string, run: number): string => `${id}-${String(run)}.unanswered.example`;
const portOf = ({ isHttp }: Setting): number => (isHttp === true ? 80 : 443);
const titleOf = ({ fault, answers, onEmptyAnswer, device, isHttp }: FaultCell): string =>
    [`${fault}, ${String(answers)} ${answers === 1 ? "address" : "addresses"} before and after`, ...(isHttp === true ? ["requests of an HTTP port"] : []), ...(device !== undefined ? [DEVICES[device].title] : onEmptyAnswer === undefined ? [] : [`onEmptyAnswer ${onEmptyAnswer}`])].join(", ");

scenario("waiting-dns", { title: "Waiting instead of failing: DNS faults", question: "DNS answers nothing, or not at all, for 20 s, and no address stands by: what do new connections lose, and how soon is it over?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        const due = [...FAULTS, ...MOVES, GONE, ...QUESTIONS, CHURN].filter(({ id, isQuick }) => isFull ? isDue("waiting-dns", id.replace("questions-fail", "questions")) : isQuick === true);
        const all = due.flatMap((one) => Array.from({ length: isFull ? FULL.runs : QUICK.runs }, (_, run) => ({ ...one, host: hostOf(one.id, run) })));
        for (const { host, answers } of all) {
            first.set(host, addresses.take(answers));
            await lab().dns.addresses(host, first.get(host) ?? [], { ttl: TTL });
        }
        await lab().cluster.apply(all.flatMap(({ host, device }) => device === undefined ? [] : [deviceFilter(host, device)]));
        const http: Changes = { route: Route.TlsOrigination, ports: [{ number: 80, protocol: Protocol.Http }], tls: { caCertificates: lab().certificates.authority } };
        expect(await lab().up(Object.fromEntries(all.map(({ host, answers, onEmptyAnswer, isHttp }) => [host.replaceAll(".", "-"), declared(host, answering(answers, onEmptyAnswer), { failover: WAITING }, isHttp === true ? http : {})])))).to.deep.equal({});
    });

    for (const one of FAULTS) {
        const { id, fault, onEmptyAnswer, loses, isQuick, isHttp, device } = one;
        cell<Inputs, Figures>({
            id, title: titleOf(one), full: FULL, ...(isQuick === true ? { quick: QUICK, isSideBySide: true } : {}), timeoutMs: 300_000,
            measure: async (on, inputs) => ({ faultSeconds: inputs.faultSeconds, runs: await Promise.all(Array.from({ length: inputs.runs }, (_, run) => unanswered(on, hostOf(id, run), one, inputs))) }),
            expect: ({ runs, faultSeconds }) => {
                for (const { failed, failedBy, lastFailure } of runs) {
                    if (!loses) expect(failed, JSON.stringify(failedBy)).to.equal(0);
                    else if (device === "istio-refresh") expect(lastFailure, "the last second in which one began that failed").to.be.greaterThan(faultSeconds + 5);
                    else expect(lastFailure, "the last second in which one began that failed").to.be.within(faultSeconds - 3, faultSeconds + 2);
                }
            },
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}${loses ? `; the last that fails begins in second ${runs.map(({ lastFailure }) => String(lastFailure)).join(", ")}` : ""}`,
            ...(device !== undefined ? { why: DEVICES[device].why } : onEmptyAnswer !== undefined ? { ...(isHttp === true ? {} : { earlier: "88 %, for a minute" }), why: "an empty list is no failed attempt: Envoy does not try again" }
                : fault === "empty" || fault === "nxdomain" ? { ...(isHttp === true ? {} : { earlier: "88 %, for a minute" }), why: "the address of the last answer that had one serves" } : { earlier: "0 of 600" }),
        });
    }

    cell<Inputs, Figures>({
        id: GONE.id, title: "The address dies, DNS then answers nothing for 10 s, and then another address", full: { ...FULL, faultSeconds: 10, connections: 600 }, quick: QUICK, isSideBySide: true, timeoutMs: 300_000,
        measure: async (on, inputs) => ({ faultSeconds: inputs.faultSeconds, runs: await Promise.all(Array.from({ length: inputs.runs }, (_, run) => gone(on, hostOf(GONE.id, run), inputs))) }),
        expect: ({ runs, faultSeconds }) => {
            for (const { failed, failedBy, totalMs } of runs) {
                expect(failed, JSON.stringify(failedBy)).to.equal(0);
                expect(totalMs?.max, "the slowest waited for the other address").to.be.within(1000 * faultSeconds - 2000, 1000 * (faultSeconds + TTL) + 4000);
            }
        },
        shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, why: "new connections wait at the last known address, within the budget",
    });

    for (const { id, title, keepsOld, isQuick, device } of MOVES) {
        cell<Inputs, { readonly runs: readonly (Run & { readonly toOld: number })[] }>({
            id, title, full: { ...FULL, connections: 400 }, ...(isQuick === true ? { quick: { ...QUICK, connections: 60 }, isSideBySide: true } : {}),
            measure: async (on, inputs) => ({ runs: await Promise.all(Array.from({ length: inputs.runs }, (_, run) => moved(on, hostOf(id, run), keepsOld, inputs))) }),
            expect: ({ runs }) => {
                for (const { failed, toOld, sent } of runs) {
                    expect(failed).to.equal(0);
                    expect(toOld, "that went to the old address").to.be.within(keepsOld ? 0.4 * sent : 0, keepsOld ? 0.6 * sent : 0);
                }
            },
            shown: ({ runs }) => `${failures(runs)} failed, ${String(runs.reduce((sum, { toOld }) => sum + toOld, 0))} went to the old address`, ...(device === undefined ? {} : { why: DEVICES[device].why }),
        });
    }

    cell<{ readonly changes: number; readonly perSecond: number }, { readonly run: Run; readonly changes: number; readonly replaced: number; readonly restarts: number }>({
        id: CHURN.id, title: "The host's clusters are replaced again and again, and an aggregate of them comes and goes", full: { changes: 120, perSecond: 50 }, timeoutMs: 300_000,
        measure: (on, inputs) => churn(on, hostOf(CHURN.id, 0), inputs),
        expect: ({ run, replaced, changes, restarts }) => {
            expect([run.failed, restarts], JSON.stringify(run.failedBy)).to.deep.equal([0, 0]);
            expect(replaced, "versions of the cluster").to.be.greaterThan(changes / 3);
        },
        shown: ({ run, changes, replaced, restarts }) => `${failures([run])} in ${String(changes)} changes, of which the gateway took ${String(replaced)} one by one; ${String(restarts)} restarts of its Envoy`,
    });

    cell<{ readonly seconds: number }, { readonly kept: number; readonly notKept: number }>({
        id: "questions", title: `Questions to DNS in ${String(QUESTION_SECONDS)} s, TTL ${String(TTL)} s`, full: { seconds: QUESTION_SECONDS },
        measure: async (on, { seconds }) => {
            const begin = Date.now(), gateway = on.gateways.pod(0).plan.address;
            await wait(1000 * seconds); // The gateway asks by itself.
            const asked = await on.dns.queries(begin), count = (id: string): number => asked.filter(({ client, name }) => client === gateway && name === hostOf(id, 0)).length;
            return { kept: count("questions"), notKept: count("questions-fail") };
        },
        expect: ({ kept, notKept }) => expect(kept / notKept).to.be.within(1.5, 2.5),
        shown: ({ kept, notKept }) => `${String(kept)} from the gateway; ${String(notKept)} with onEmptyAnswer fail`, why: "two clusters, which resolve the host each for itself",
    });
});

async function unanswered(lab: Lab, host: string, one: FaultCell, { connections, perSecond, faultSeconds }: Inputs): Promise<Figures["runs"][number]> {
    const vips = first.get(host) ?? [], [address = ""] = vips, port = portOf(one);
    await lab.members(host, vips, { port });
    if (port === 443) await warmUp(lab, host);
    return await withLastFailure(lab, host, address, { connections, perSecond, port }, async () => {
        await lab.dns.fails(host, one.fault);
        await wait(faultSeconds * 1000); // How long the GSLB answers so: the experiment.
        await lab.dns.addresses(host, vips, { ttl: TTL });
    });
}

/** A GSLB that has nothing healthy left answers nothing. */
async function gone(lab: Lab, host: string, { connections, perSecond, faultSeconds }: Inputs): Promise<Figures["runs"][number]> {
    const [partner = ""] = addresses.take(1), [dead = ""] = first.get(host) ?? [];
    for (const subset of ["", LAST_KNOWN_SUBSET]) await lab.members(host, [dead], { subset });
    await warmUp(lab, host);
    try {
        return await withLastFailure(lab, host, dead, { connections, perSecond, port: 443 }, async () => {
            lab.faults.vip(dead, "drop");
            await lab.dns.fails(host, "empty");
            await wait(faultSeconds * 1000); // How long the GSLB answers so: the experiment.
            await lab.dns.addresses(host, [partner], { ttl: TTL });
        });
    } finally {
        lab.faults.clearVip(dead);
    }
}

async function withLastFailure(lab: Lab, host: string, address: string, { connections, perSecond, port }: Pick<Inputs, "connections" | "perSecond"> & { readonly port: number }, fault: () => Promise<void>): Promise<Figures["runs"][number]> {
    const { run, timeline } = await counting(lab, host, async () => {
        const load = lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 60_000, address, ...(port === 443 ? {} : { protocol: "plaintext", port }) });
        await fault();
        return load;
    }, { port });
    return { ...run, lastFailure: Math.max(-1, ...timeline.filter(({ failed }) => failed > 0).map(({ second }) => second)) };
}

async function churn(lab: Lab, host: string, { changes, perSecond }: { readonly changes: number; readonly perSecond: number }): Promise<{ readonly run: Run; readonly changes: number; readonly replaced: number; readonly restarts: number }> {
    const { envoy } = lab.gateways.pod(0), uptime = async (): Promise<number> => (await envoy.statistics("^server\\.uptime$"))["server.uptime"] ?? 0, seen = new Set<string>();
    const spare = { name: `outbound|443|spare|${host}`, lb_policy: "CLUSTER_PROVIDED", cluster_type: { name: "envoy.clusters.aggregate", typed_config: { "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", clusters: [clusterName(host), clusterName(host, 443, LAST_KNOWN_SUBSET)] } } };
    const filter = (change: number): object => ({
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: "churn", namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } }, priority: 10,
            configPatches: [
                { applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { service: host, portNumber: 443 } }, patch: { operation: "MERGE", value: { connect_timeout: `1.${String(100 + change)}s` } } },
                ...(change % 2 === 0 ? [] : [{ applyTo: "CLUSTER", match: { context: "GATEWAY" }, patch: { operation: "ADD", value: spare } }]),
            ],
        },
    });
    await lab.members(host, first.get(host) ?? []);
    await warmUp(lab, host);
    const before = await uptime();
    const { run } = await counting(lab, host, async () => {
        const load = lab.apps.payments.load(host, { count: Math.ceil(changes * CHURN_MS / 1000) * perSecond, pace: { kind: "rate", perSecond }, timeoutMs: 60_000 });
        for (let change = 0; change < changes; change++) {
            await lab.cluster.apply([filter(change)]);
            await wait(CHURN_MS); // As often as istiod pushes, and a little more.
            seen.add(String((await envoy.clusterConfig(clusterName(host)))?.["connect_timeout"]));
        }
        return load;
    });
    return { run, changes, replaced: seen.size, restarts: await uptime() > before ? 0 : 1 };
}

/** What goes where once every proxy has had the time to notice. */
async function moved(lab: Lab, host: string, keepsOld: boolean, { connections, perSecond }: Inputs): Promise<Run & { readonly toOld: number }> {
    const [next = ""] = addresses.take(1), [old = ""] = first.get(host) ?? [];
    await lab.members(host, [old]);
    await warmUp(lab, host);
    await lab.dns.addresses(host, [next], { ttl: TTL });
    await lab.members(host, keepsOld ? [old, next] : [next]);
    await wait(2000 * TTL); // The gateway's other cluster asks by itself, as often.
    const { run } = await counting(lab, host, () => lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 60_000, address: next }));
    return { ...run, toOld: run.by[old] ?? 0 };
}
