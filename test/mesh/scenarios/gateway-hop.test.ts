// The hop from the sidecar to the egress gateway: one of two pods dies or is ended, or all are restarted, under load and under long responses.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { DeclarationInput } from "../../../model";
import type { Lab } from "../lab";
import type { Exchange } from "../lab/agent/client";
import type { LoadResult } from "../lab/agent/load";
import type { Fault } from "../lab/faults";
import { WAITING, declare } from "../lab/declare";
import { GATEWAY, consumerPod, vip } from "../lab/layout";
import { expectNone, lost, percent, slowest, times } from "../figures";
import { scenario } from "../scenario";
import { MERGE_WINDOW_MS } from "../variants";

const ISTIO_MUTUAL = (host: string): object => ({ mode: "ISTIO_MUTUAL", sni: host });
/** The rule of the hop as others write it, instead of ours. */
function hop(host: string, policy: object | undefined): DeclarationInput {
    const name = `egress-${host.replaceAll(".", "-")}`;
    const subsets = [{ name, trafficPolicy: { ...policy, tls: ISTIO_MUTUAL(host) } }];
    return declare({ host, consumers: [{ namespace: "payments" }], ...(policy === undefined ? {} : { manifestOverrides: { "DestinationRule/subset": { spec: { subsets } } } }) });
}
const OUTLIER = { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, interval: "5s", baseEjectionTime: "30s", maxEjectionPercent: 50, minHealthPercent: 0 };
const CONNECT_1S = { tcp: { connectTimeout: "1s" } };

const HOSTS = {
    nothing: hop("nothing.hop.example", {}),
    timeout: hop("timeout.hop.example", { connectionPool: CONNECT_1S }),
    outlier: hop("outlier.hop.example", { connectionPool: CONNECT_1S, outlierDetection: OUTLIER }),
    ours: hop("ours.hop.example", undefined),
    three: hop("three.hop.example", undefined),
    five: hop("five.hop.example", undefined),
    waiting: { ...hop("waiting.hop.example", undefined), failover: WAITING },
};
/** Beside our rule, by hand. */
const ATTEMPTS = { three: { max_connect_attempts: 3 }, five: { max_connect_attempts: 5, backoff_options: { base_interval: "0.05s", max_interval: "0.5s" } } } as const;
type Variant = keyof typeof HOSTS;
const VARIANTS: Readonly<Record<Variant, string>> = {
    nothing: "nothing set on the hop", timeout: "connectTimeout 1 s only", outlier: "outlier detection, LEAST_REQUEST", ours: "as the library writes it",
    waiting: "as the library writes it where connections wait", three: "and 3 connect attempts of the sidecar", five: "and 5 connect attempts of the sidecar, back-off 50 to 500 ms",
};

interface DeadInputs { readonly runs: number; readonly connections: number; readonly timeoutMs: number }
const DEAD_ONCE: DeadInputs = { runs: 1, connections: 400, timeoutMs: 15_000 }, DEAD_THRICE: DeadInputs = { ...DEAD_ONCE, runs: 3, connections: 1000 };
const WHY_THREE = "the attempts of one connection take turns with those of the others, and can all meet the dead pod before it is ejected: on a busy machine some do";
/** How much of the connections a dead pod of two takes: LEAST_REQUEST gives it more than its half, since it never has active requests. */
const DEAD: readonly { readonly variant: Variant; readonly fault: Fault; readonly full: DeadInputs; readonly quick?: DeadInputs; readonly between: readonly [number, number]; readonly earlier?: string; readonly why?: string }[] = [
    { variant: "nothing", fault: "drop", full: { ...DEAD_ONCE, connections: 48 }, between: [40, 90], earlier: "75 % of 400", why: "48 connections: each that fails takes 10 s" },
    { variant: "nothing", fault: "refuse", full: DEAD_ONCE, between: [50, 85], earlier: "72 % of 400" },
    { variant: "timeout", fault: "drop", full: DEAD_ONCE, between: [50, 85], earlier: "75 % of 400" },
    { variant: "outlier", fault: "drop", full: DEAD_ONCE, between: [0.2, 10], earlier: "8 of 400" },
    { variant: "outlier", fault: "refuse", full: DEAD_ONCE, between: [0.2, 10], earlier: "7 of 400" },
    { variant: "ours", fault: "drop", full: DEAD_ONCE, between: [0.2, 10], earlier: "8 of 400", why: "ROUND_ROBIN, which the library writes" },
    { variant: "ours", fault: "refuse", full: DEAD_ONCE, between: [0.2, 10], earlier: "7 of 400", why: "ROUND_ROBIN, which the library writes" },
    { variant: "three", fault: "drop", full: DEAD_ONCE, between: [0, 2], earlier: "0 of 400", why: WHY_THREE },
    { variant: "three", fault: "refuse", full: DEAD_ONCE, between: [0, 3], earlier: "0 of 400", why: WHY_THREE },
    { variant: "five", fault: "drop", full: DEAD_THRICE, between: [0, 0] },
    { variant: "five", fault: "refuse", full: DEAD_THRICE, between: [0, 0] },
    { variant: "waiting", fault: "drop", full: DEAD_THRICE, between: [0, 0] },
    { variant: "waiting", fault: "refuse", full: DEAD_THRICE, quick: { ...DEAD_ONCE, connections: 200 }, between: [0, 0] },
];

/** What happens to the pod first, and what after it. */
type Leaving = "removed-first" | "together" | "terminated-first";
const LEAVING: Readonly<Record<Leaving, string>> = {
    "removed-first": "leaves the Service, SIGTERM when the sidecars know", together: "leaves the Service and gets SIGTERM at once", "terminated-first": "gets SIGTERM and stays in the Service",
};
interface LeaveInputs { readonly runs: number; readonly connections: number; readonly perSecond: number; readonly drainSeconds: number; readonly streamSeconds: number }
const LEAVE_ONCE: LeaveInputs = { runs: 1, connections: 400, perSecond: 20, drainSeconds: 5, streamSeconds: 40 }, LEAVE_THRICE: LeaveInputs = { ...LEAVE_ONCE, runs: 3, connections: 1000, perSecond: 40 };
const LEAVE: readonly { readonly variant: Variant; readonly leaving: Leaving; readonly full: LeaveInputs; readonly quick?: LeaveInputs; readonly between: readonly [number, number]; readonly earlier?: string; readonly why?: string }[] = [
    { variant: "nothing", leaving: "terminated-first", full: LEAVE_ONCE, between: [25, 75], earlier: "47 % of 400" },
    { variant: "ours", leaving: "terminated-first", full: LEAVE_ONCE, between: [0, 6], earlier: "3 of 400" },
    { variant: "three", leaving: "terminated-first", full: LEAVE_ONCE, between: [0, 2], earlier: "1 of 400" },
    { variant: "five", leaving: "terminated-first", full: LEAVE_ONCE, between: [0, 2], why: "a connection that was open when the pod went is not retried: bytes have flowed" },
    { variant: "nothing", leaving: "removed-first", full: LEAVE_THRICE, between: [0, 0], earlier: "0 of 400" },
    { variant: "ours", leaving: "removed-first", full: LEAVE_THRICE, quick: { ...LEAVE_ONCE, connections: 200, drainSeconds: 2, streamSeconds: 6 }, between: [0, 0], earlier: "0 of 400" },
    { variant: "waiting", leaving: "removed-first", full: LEAVE_THRICE, between: [0, 0] },
    { variant: "waiting", leaving: "together", full: LEAVE_THRICE, between: [0, 0] },
    { variant: "ours", leaving: "together", full: LEAVE_THRICE, between: [0, 0], why: "Envoy goes on accepting while it drains, and the sidecars know long before that ends" },
];

scenario("gateway-hop", {
    title: "The hop to the egress gateway", question: "One of two gateway pods dies, is ended, or all are restarted one after the other. What is lost on the way to it?",
}, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        for (const { host } of Object.values(HOSTS)) await lab().dns.addresses(host, [vip(1)]);
        await lab().up(HOSTS);
        const filters = (["three", "five"] as const).map((variant) => attemptsFilter(variant, HOSTS[variant].host));
        expect(await lab().apply(filters)).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const { variant, fault, full, quick, between: [least, most], earlier, why } of DEAD) {
        cell({
            id: `dead-${fault}-${variant}`, title: `A pod is dead (${fault === "drop" ? "packets dropped" : "process killed, refused"}), ${VARIANTS[variant]}`, full, quick, timeoutMs: 500_000,
            measure: async (one, { runs, connections, timeoutMs }) => ({ runs: await times(runs, () => dead(one, HOSTS[variant].host, fault, connections, timeoutMs)) }),
            expect: ({ runs }) => {
                if (most === 0) expectNone(...runs);
                for (const run of runs) expect(percent(run)).to.be.within(least, most);
            },
            shown: ({ runs }) => `${lost(...runs)}${most === 0 ? slowest(...runs) : ""}`, earlier, why,
        });
    }

    for (const { variant, leaving, full, quick, between: [least, most], earlier, why } of LEAVE) {
        cell({
            id: `leave-${leaving}-${variant}`, title: `A pod ${LEAVING[leaving]}, ${VARIANTS[variant]}`, full, quick, timeoutMs: 500_000,
            measure: async (one, inputs) => ({ runs: await times(inputs.runs, () => leave(one, HOSTS[variant].host, leaving, inputs)), drainSeconds: inputs.drainSeconds }),
            expect: ({ runs, drainSeconds }) => {
                if (most === 0) expectNone(...runs.map(({ load }) => load));
                for (const { load, streams } of runs) {
                    expect(percent(load)).to.be.within(least, most);
                    // Those of the pod that goes are cut when its drain ends; those of the other run on.
                    expect(streams.filter(({ ok }) => !ok).length).to.be.within(1, streams.length - 1);
                    for (const { ms } of streams.filter(({ ok }) => !ok)) expect(ms).to.be.within(1000 * drainSeconds, 1000 * (drainSeconds + 12));
                }
            },
            shown: ({ runs }) => `${lost(...runs.map(({ load }) => load))}; streams cut: ${runs.map(({ streams }) => `${String(streams.filter(({ ok }) => !ok).length)} of ${String(streams.length)}`).join(", ")}`,
            earlier, why: why ?? "streams on the pod are cut at terminationDrainDuration (5 s)",
            chart: ({ runs: [run] }) => ({ title: `A pod ${LEAVING[leaving]}, ${VARIANTS[variant]}`, seconds: run?.load.timeline ?? [], events: [{ second: LEAVE_AFTER_S, text: "the pod leaves" }] }),
        });
    }

    for (const { drainSeconds, cut } of [{ drainSeconds: 5, cut: "are cut" }, { drainSeconds: 45, cut: "are whole" }]) {
        cell({
            id: `rolling-restart-drain-${String(drainSeconds)}`, title: `Rolling restart of both pods, terminationDrainDuration ${String(drainSeconds)} s, 40 s streams`, full: { perSecond: 20, drainSeconds, streams: 6 }, timeoutMs: 400_000,
            measure: (one, inputs) => rollingRestart(one, HOSTS.waiting.host, inputs),
            expect: ({ load, streams }) => {
                expectNone(load);
                expect(load.sent).to.be.greaterThan(300); // As long as two drains take: 461 with 5 s.
                expect(streams.filter(({ ok }) => !ok).length === 0).to.equal(drainSeconds > 40);
            },
            shown: ({ load, streams }) => `${lost(load)}; streams cut: ${String(streams.filter(({ ok }) => !ok).length)} of ${String(streams.length)}`,
            why: `a new pod is in the Service before an old one leaves it; streams of 40 s ${cut} by a drain of ${String(drainSeconds)} s`,
            chart: ({ load }) => ({ title: `Rolling restart, drain ${String(drainSeconds)} s`, seconds: load.timeline }),
        });
    }
});

const LEAVE_AFTER_S = 3;

/** Two pods, the second of which knows nothing of earlier faults: sidecars forget an ejection with the endpoint. */
async function twoPods(lab: Lab, drainSeconds = 5): Promise<void> {
    lab.faults.clear();
    if (lab.gateways.running().length > 1) {
        await lab.gateways.list([0]);
        await lab.endpoints();
    }
    const second = lab.gateways.pod(1);
    if (second.isRunning() && drainSeconds !== 5) {
        second.kill("SIGKILL");
        await second.ended(10_000);
    }
    await lab.gateways.scale(2, { drainSeconds });
    await lab.settled();
    await lab.endpoints();
}

async function dead(lab: Lab, host: string, fault: Fault, count: number, timeoutMs: number): Promise<LoadResult> {
    await twoPods(lab);
    const warm = await lab.apps.payments.load(host, { count: 20, pace: { kind: "concurrency", connections: 4 } });
    expectNone(warm);
    await wait(MERGE_WINDOW_MS + 200);
    const pod = lab.gateways.pod(1);
    if (fault === "drop") lab.faults.pod(pod.name, "drop");
    else {
        pod.kill("SIGKILL");
        await pod.ended(10_000);
    }
    return lab.apps.payments.load(host, { count, pace: { kind: "concurrency", connections: 8 }, timeoutMs });
}

async function leave(lab: Lab, host: string, leaving: Leaving, { connections, perSecond, drainSeconds, streamSeconds }: LeaveInputs): Promise<{ readonly load: LoadResult; readonly streams: readonly Exchange[] }> {
    await twoPods(lab, drainSeconds);
    const pod = lab.gateways.pod(1);
    const streams = Array.from({ length: 4 }, () => lab.apps.payments.request(host, { path: `/slow/${String(streamSeconds)}`, timeoutMs: (streamSeconds + 20) * 1000 }));
    const load = lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 15_000 });
    await wait(LEAVE_AFTER_S * 1000);
    if (leaving === "removed-first") {
        await lab.gateways.list([0]);
        await lab.endpoints();
    }
    if (leaving === "together") await lab.gateways.drain(1);
    else pod.kill("SIGTERM");
    const result = { load: await load, streams: await Promise.all(streams) };
    await pod.ended(30_000);
    return result;
}

/** As a Deployment does it with maxSurge 1: a new pod, then an old one leaves, and so on; until both have been replaced. */
async function rollingRestart(lab: Lab, host: string, { perSecond, drainSeconds, streams: count }: { readonly perSecond: number; readonly drainSeconds: number; readonly streams: number }): Promise<{ readonly load: LoadResult; readonly streams: readonly Exchange[] }> {
    await lab.gateways.scale(0);
    await lab.gateways.scale(2, { drainSeconds });
    await lab.settled();
    await lab.endpoints();
    const streams = Array.from({ length: count }, () => lab.apps.payments.request(host, { path: "/slow/40", timeoutMs: 60_000 }));
    const { load } = await lab.apps.payments.during(host, { pace: { kind: "rate", perSecond } }, async () => {
        for (const [fresh, old] of [[2, 0], [0, 1]] as const) {
            await lab.gateways.pod(fresh).start({ drainSeconds });
            await lab.settled();
            await lab.gateways.list([...lab.gateways.all().keys()].filter((index) => index === fresh || lab.gateways.running().includes(lab.gateways.pod(index))));
            await lab.endpoints();
            await lab.gateways.drain(old);
            await lab.endpoints();
            await lab.gateways.pod(old).ended((drainSeconds + 15) * 1000);
        }
    });
    const result = { load, streams: await Promise.all(streams) };
    await lab.gateways.scale(1);
    await lab.endpoints();
    return result;
}

/** By hand: Istio has no field for the sidecar's connect attempts. */
function attemptsFilter(variant: keyof typeof ATTEMPTS, host: string): object {
    const name = "envoy.filters.network.tcp_proxy";
    const tcpProxy = { "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", ...ATTEMPTS[variant] };
    const { namespace } = consumerPod("payments"), port = GATEWAY.ports[0]?.number;
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: `hop-attempts-${variant}`, namespace },
        spec: { configPatches: [{ applyTo: "NETWORK_FILTER", match: { context: "SIDECAR_OUTBOUND", listener: { portNumber: port, filterChain: { sni: host, filter: { name } } } }, patch: { operation: "MERGE", value: { name, typed_config: tcpProxy } } }] },
    };
}
