// A gateway of EgressGateway's own Deployment: the pods run with what the Deployment says, and one of them goes as Kubernetes ends it.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { GATEWAY_LABEL, GatewayMode, decideTermination, gatewaySchema, milliseconds } from "../../../model";
import type { GatewayDeployment } from "../../../model";
import type { Lab } from "../lab";
import type { Exchange } from "../lab/agent/client";
import type { LoadResult } from "../lab/agent/load";
import { WAITING } from "../lab/declare";
import { NAMESPACES, vip } from "../lab/layout";
import type { ProxyOptions } from "../lab/pods";
import { expectNone, lost } from "../figures";
import { scenario } from "../scenario";
import { declared } from "../variants";

const HOST = "api.partner.example", NAME = "egressgateway-lab";
/** For the hosts' checks only: the program gives them the reference of the gateway that it deploys. */
const HOSTS = { partner: declared(HOST, { failover: WAITING }) };
const SERVICE = { serviceHost: `${NAME}.${NAMESPACES.gateway}.svc.cluster.local`, ports: [{ number: 443, targetPort: 8443 }] };

interface Inputs { readonly longestConnection: string; readonly endpointRemoval: string; readonly streamSeconds: number; readonly connections: number; readonly perSecond: number }
interface Figures {
    readonly load: LoadResult;
    readonly streams: readonly Pick<Exchange, "ok" | "ms">[];
    /** From the pod's end, as Kubernetes begins it, until its proxy has gone; of that, after SIGTERM. */
    readonly goneMs: number;
    readonly goneAfterTermMs: number;
    readonly killed: boolean;
}

const STREAMS = 4;

scenario("deployed-gateway", {
    title: "A deployed gateway", question: "Pods with the settings of EgressGateway's Deployment, one of them going as Kubernetes ends it, under load and under long responses: what is lost?",
}, ({ lab, cell }) => {
    before(async () => {
        await lab().dns.addresses(HOST, [vip(1)]);
    });

    const measured = async (one: Lab, inputs: Inputs): Promise<Figures> => {
        const { longestConnection, endpointRemoval } = inputs;
        await one.up(HOSTS, { gateway: { mode: GatewayMode.Deploy, namespace: NAMESPACES.gateway, ports: SERVICE.ports, istioVersion: "1.31.0", deployment: { longestConnection, endpointRemoval } } });
        const { pods, preStopSeconds, graceSeconds } = await deployment(one);
        await one.gateways.scale(0);
        await one.gateways.behind(SERVICE);
        await one.gateways.scale(2, pods);
        await one.settled();
        await one.endpoints();
        return leave(one, inputs, preStopSeconds, graceSeconds);
    };

    cell<Inputs, Figures>({
        id: "streams-within", title: "Streams shorter than longestConnection", timeoutMs: 300_000,
        full: { longestConnection: "15m", endpointRemoval: "10s", streamSeconds: 75, connections: 1000, perSecond: 20 }, quick: { longestConnection: "60s", endpointRemoval: "1s", streamSeconds: 7, connections: 120, perSecond: 20 },
        measure: measured,
        expect: ({ load, streams, killed }) => {
            expectNone(load);
            expect([killed, ...streams.map(({ ok }) => ok)]).to.deep.equal([false, ...streams.map(() => true)]);
        },
        shown: ({ load, streams, goneAfterTermMs }) => `${lost(load)}; streams cut: ${String(streams.filter(({ ok }) => !ok).length)} of ${String(streams.length)}; the pod was gone ${(goneAfterTermMs / 1000).toFixed(0)} s after SIGTERM, as soon as its last stream had ended`,
        earlier: "0 of 600, all streams whole, gone 27 s after SIGTERM",
        chart: ({ load }) => ({ title: "A pod of the deployed gateway goes", seconds: load.timeline, events: [{ second: LEAVE_AFTER_S, text: "the pod is to go" }] }),
    });

    cell<Inputs, Figures>({
        id: "streams-beyond", title: "Streams longer than longestConnection", timeoutMs: 300_000,
        full: { longestConnection: "10s", endpointRemoval: "10s", streamSeconds: 90, connections: 1000, perSecond: 20 },
        measure: measured,
        expect: ({ load, streams }) => {
            expectNone(load);
            const cut = streams.filter(({ ok }) => !ok), { preStopSeconds, drainSeconds, graceSeconds } = termination("10s", "10s");
            expect(cut.length).to.be.within(1, streams.length - 1);
            for (const { ms } of cut) expect(ms / 1000 - LEAVE_AFTER_S).to.be.within(preStopSeconds + drainSeconds, graceSeconds + 3);
        },
        shown: ({ load, streams, goneAfterTermMs, killed }) => `${lost(load)}; streams cut: ${String(streams.filter(({ ok }) => !ok).length)} of ${String(streams.length)}, those of the pod that went, ${(goneAfterTermMs / 1000).toFixed(0)} s after SIGTERM${killed ? ", by SIGKILL" : ""}`,
    });
});

const LEAVE_AFTER_S = 3;

const termination = (longestConnection: string, endpointRemoval: string): ReturnType<typeof decideTermination> =>
    decideTermination(gatewaySchema.parse({ mode: GatewayMode.Deploy, namespace: NAMESPACES.gateway, istioVersion: "1.31.0", deployment: { longestConnection, endpointRemoval } }).deployment as GatewayDeployment);

interface PodTemplate {
    readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> };
    readonly spec: {
        readonly serviceAccountName: string; readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [{ readonly env: readonly { readonly name: string; readonly value: string }[]; readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } } }];
    };
}

/** What a kubelet and istiod's injection would make of the Deployment that the API server holds. */
async function deployment(lab: Lab): Promise<{ readonly pods: ProxyOptions; readonly preStopSeconds: number; readonly graceSeconds: number }> {
    const { status, body } = await lab.cluster.request("GET", `/apis/apps/v1/namespaces/${NAMESPACES.gateway}/deployments/${NAME}`);
    expect(status, body.message).to.equal(200);
    const { metadata: { labels, annotations }, spec } = (body.spec as { readonly template: PodTemplate }).template, [proxy] = spec.containers;
    expect(labels).to.include({ [GATEWAY_LABEL]: NAME });
    const { terminationDrainDuration, proxyMetadata } = JSON.parse(annotations["proxy.istio.io/config"] ?? "{}") as { readonly terminationDrainDuration: string; readonly proxyMetadata: Readonly<Record<string, string>> };
    return {
        pods: { drainSeconds: milliseconds(terminationDrainDuration) / 1000, proxyMetadata, env: Object.fromEntries(proxy.env.map(({ name, value }) => [name, value])), as: { labels, serviceAccount: spec.serviceAccountName } },
        preStopSeconds: proxy.lifecycle.preStop.sleep.seconds, graceSeconds: spec.terminationGracePeriodSeconds,
    };
}

/** As Kubernetes ends a pod: its address leaves the Service and its preStop hook runs, then SIGTERM, and SIGKILL when the grace period is over. */
async function leave(lab: Lab, { streamSeconds, connections, perSecond }: Inputs, preStopSeconds: number, graceSeconds: number): Promise<Figures> {
    const { payments } = lab.apps, pod = lab.gateways.pod(1);
    const streams = Array.from({ length: STREAMS }, () => payments.request(HOST, { path: `/slow/${String(streamSeconds)}`, timeoutMs: (streamSeconds + 20) * 1000 }));
    const load = payments.load(HOST, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 15_000 });
    await wait(LEAVE_AFTER_S * 1000);
    const begin = Date.now();
    await lab.gateways.list([0]);
    await wait(preStopSeconds * 1000);
    const term = Date.now();
    pod.kill("SIGTERM");
    const killed = await pod.ended(graceSeconds * 1000 - (term - begin)).then(() => false, () => true);
    if (killed) pod.kill("SIGKILL");
    const gone = Date.now();
    return { load: await load, streams: (await Promise.all(streams)).map(({ ok, ms }) => ({ ok, ms })), goneMs: gone - begin, goneAfterTermMs: gone - term, killed };
}
