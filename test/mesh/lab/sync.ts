// Waits until every proxy has said that it has (or refuses) the newest configuration; nothing here hopes for time to pass.
import { setTimeout as wait } from "node:timers/promises";
import type { Istiod, ProxySync, Rejection } from "../counters";
import type { Cluster, KubernetesObject } from "./cluster";
import { nameOf } from "./cluster";
import type { Pod } from "./pods";

/** An EnvoyFilter of the lab's own: each time with another name in it, which tells one push of istiod from the next. */
const MARKER = { kind: "EnvoyFilter", namespace: "istio-system", name: "lab-marker" } as const;
const DEADLINE_MS = 30_000;
const POLL_MS = 30;
/** Longer than istiod gathers changes before it pushes them (100 ms) by far. */
const QUIET_MS = 1_000;

/** What the proxies refuse, by proxy. Empty in a mesh in order. */
export type Rejections = Readonly<Record<string, readonly Rejection[]>>;

export class Sync {
    constructor(private readonly cluster: Cluster, private readonly istiod: Istiod, private readonly pods: () => readonly Pod[]) {}

    /**
     * Returns once all that the API server holds now is in force in every proxy, or refused by it.
     *
     * First istiod's own store holds every object in its newest version. Then a marker is written, so that any push which holds the marker
     * holds those objects too. Then each proxy has the marker's cluster, and has answered for all that this push sent it.
     */
    async settled(): Promise<Rejections> {
        await this.until("istiod to read what the API server holds", () => this.unread());
        const marker = `lab-marker-${String(Date.now())}-${String(Math.floor(Math.random() * 1e6))}`;
        await this.cluster.apply([markerObject(marker)]);
        const quiet = new Quiet();
        await this.until("every proxy to have the newest configuration", () => this.behind(marker, quiet));
        const [proxies, pods] = [await this.istiod.sync(), this.pods()];
        const rejections = await Promise.all(pods.map(async ({ name, envoy }) => {
            const refused = proxies.find(({ proxy }) => proxy === envoy.id)?.types.filter(({ error }) => error !== undefined) ?? [];
            return [name, [...await envoy.rejections(), ...refused.map(({ type, error = "" }) => ({ name: type, details: error }))]] as const;
        }));
        return Object.fromEntries(rejections.filter(([, found]) => found.length > 0));
    }

    private async unread(): Promise<readonly string[]> {
        const [held, objects] = await Promise.all([this.istiod.held(), this.cluster.configuration()]);
        const wanted = new Map(objects.map((object) => [nameOf(object), String(object.metadata?.["resourceVersion"])]));
        return [
            ...[...wanted].filter(([name, version]) => held.get(name) !== version).map(([name]) => name),
            ...[...held.keys()].filter((name) => !wanted.has(name) && !name.startsWith("CustomResourceDefinition")).map((name) => `the end of ${name}`),
        ];
    }

    private async behind(marker: string, quiet: Quiet): Promise<readonly string[]> {
        const pods = this.pods();
        const [proxies, having] = await Promise.all([this.istiod.sync(), Promise.all(pods.map(async (pod) => (await pod.envoy.clusterConfig(marker)) !== undefined))]);
        return pods.filter((pod, index) => {
            const sync = proxies.find(({ proxy }) => proxy === pod.envoy.id);
            return sync === undefined || !hasAnswered(sync) || !(having[index] === true || quiet.refuses(sync));
        }).map(({ name }) => name);
    }

    private async until(what: string, open: () => Promise<readonly string[]>): Promise<void> {
        let left: readonly string[] = [];
        for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await wait(POLL_MS)) {
            left = await open();
            if (left.length === 0) return;
        }
        throw new Error(`Waited ${String(DEADLINE_MS / 1000)} s for ${what}; still open: ${left.join(", ")}`);
    }
}

/** Whether an object is the lab's own marker. */
export function isMarker({ kind, metadata }: KubernetesObject): boolean {
    return kind === MARKER.kind && metadata?.["name"] === MARKER.name && metadata["namespace"] === MARKER.namespace;
}

/** Everything sent is acknowledged or refused, and the listeners come from no older push than the clusters. */
function hasAnswered(sync: ProxySync): boolean {
    const open = sync.types.filter(({ sent, acked, error }) => sent !== "" && sent !== acked && error === undefined);
    const push = (type: string): number => pushOf(sync.types.find((one) => one.type === type)?.sent ?? "");
    return open.length === 0 && push("Listener") >= push("Cluster");
}

/** A proxy that refuses its clusters never has the marker: it has answered when istiod sends it nothing new for a while. */
class Quiet {
    private readonly last = new Map<string, { readonly sent: string; readonly since: number }>();

    refuses({ proxy, types }: ProxySync): boolean {
        const clusters = types.find(({ type }) => type === "Cluster");
        if (clusters?.error === undefined) return false;
        const known = this.last.get(proxy);
        if (known?.sent === clusters.sent) return Date.now() - known.since > QUIET_MS;
        this.last.set(proxy, { sent: clusters.sent, since: Date.now() });
        return false;
    }
}

const UUID_LENGTH = 36;

/** The number of a push in a nonce: `2026-11-30T11:40:20Z/12` and, without a blank, a UUID. */
function pushOf(nonce: string): number {
    return Number(/\/(\d+)$/.exec(nonce.slice(0, -UUID_LENGTH))?.[1] ?? -1);
}

function markerObject(name: string): object {
    const cluster = { name, type: "STATIC", connect_timeout: "1s" };
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: MARKER.kind, metadata: { name: MARKER.name, namespace: MARKER.namespace },
        spec: { configPatches: [{ applyTo: "CLUSTER", match: { context: "ANY" }, patch: { operation: "ADD", value: cluster } }] },
    };
}
