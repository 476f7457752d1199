// The lab: a whole mesh on this machine. `startLab` makes one, `openLab` finds one that runs, `removeLab` ends it.
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { UserError } from "../../../tools/support/report";
import { API_PORT, apiClient } from "../../support/api-server";
import { Istiod, clusterName } from "../counters";
import { Agent, buildAgent, startAgent } from "./agents";
import { Cluster } from "./cluster";
import type { Objects } from "./cluster";
import { kubeconfigOf, startControlPlane, writeMesh } from "./control-plane";
import { Faults } from "./faults";
import { createFolder, folderOf, readRecord, remove, sweep, writeRecord } from "./folder";
import { Gateways } from "./gateways";
import { ADDRESSES, MAX_GATEWAYS, NAMESPACES, PLAIN_PORTS, SECOND_POD, TLS_PORTS, consumerPod, gatewayPod, nodes } from "./layout";
import type { Consumer, PodPlan } from "./layout";
import { checkMachine, must } from "./machine";
import { createNetwork, namespaceOf } from "./network";
import { PROXY_USER, Pod, placePodTools } from "./pods";
import { Policies } from "./policies";
import { Stack } from "./stack";
import type { Around, Hosts } from "./stack";
import { Sync, isMarker } from "./sync";
import type { Rejections } from "./sync";
import { App, Dns, Vips } from "./world";

const MEMBERS_MS = 30_000;
/** The name in the client certificate. */
export const CLIENT_NAME = "lab client";

export class Lab {
    readonly cluster: Cluster;
    readonly istiod: Istiod;
    readonly dns: Dns;
    readonly vips: Vips;
    readonly faults: Faults;
    readonly gateways: Gateways;
    /** The consumers' pods by name; each has one sidecar. */
    readonly sidecars: Readonly<Record<Consumer, Pod>>;
    /** What the applications in those pods do. */
    readonly apps: Readonly<Record<Consumer, App>>;
    /** A second pod of namespace payments, with the service account `reports`. It runs where a scenario starts it, until the next reset. */
    readonly second: { readonly pod: Pod; readonly app: App };
    /** Files that every proxy can read: the authority that issues the VIPs' certificates, and a client certificate of it. */
    readonly certificates: Certificates;
    readonly policies: Policies;
    private readonly stack: Stack;
    private readonly sync: Sync;
    private readonly agents: ReadonlyMap<string, Agent>;

    constructor(readonly name: string, token: string) {
        this.agents = new Map(nodes().map((node) => [node.name, new Agent(name, node.name)]));
        this.cluster = new Cluster(apiClient({ port: API_PORT, token, relay: relayFile(name) }));
        this.istiod = new Istiod(this.agent("control"));
        this.dns = new Dns(this.agent("dns"));
        this.vips = new Vips(this.agent("vips"));
        this.faults = new Faults(name);
        this.stack = new Stack(name);
        const pod = (plan: PodPlan): Pod => new Pod(name, plan, this.agent(plan.name), this.cluster);
        const record = (gateways: readonly number[]): void => {
            const known = readRecord(name);
            if (known !== undefined) writeRecord({ ...known, gateways });
        };
        this.gateways = new Gateways(this.cluster, Array.from({ length: MAX_GATEWAYS }, (_, index) => pod(gatewayPod(index))), record, readRecord(name)?.gateways ?? []);
        const authority = readFileSync(authorityFiles(name).certificate, "utf8");
        const each = <Value>(make: (consumer: Consumer) => Value): Record<Consumer, Value> => Object.fromEntries(NAMESPACES.consumers.map((consumer) => [consumer, make(consumer)])) as Record<Consumer, Value>;
        this.sidecars = each((consumer) => pod(consumerPod(consumer)));
        const app = (plan: PodPlan): App => new App(this.agent(plan.name), authority, this.dns);
        this.apps = each((consumer) => app(consumerPod(consumer)));
        this.second = { pod: pod(SECOND_POD), app: app(SECOND_POD) };
        this.certificates = certificatesOf(name);
        this.policies = new Policies(name, this.cluster);
        this.sync = new Sync(this.cluster, this.istiod, () => this.pods());
    }

    /** The agent in a node's namespace: `control`, `dns`, `vips` or a pod's name. */
    agent(node: string): Agent {
        const agent = this.agents.get(node);
        if (agent === undefined) throw new Error(`A lab has no node ${node}; there are ${[...this.agents.keys()].join(", ")}.`);
        return agent;
    }

    /** The pods whose proxies run. */
    pods(): readonly Pod[] {
        return [...this.clients(), ...this.gateways.running()].filter((pod) => pod.isRunning());
    }

    private clients(): readonly Pod[] {
        return [...Object.values(this.sidecars), this.second.pod];
    }

    /** `pulumi up` of exactly these hosts, and what is around them, and then until every proxy has what came of it. */
    async up(hosts: Hosts, around?: Around): Promise<Rejections> {
        await this.stack.up(hosts, around);
        return this.settled();
    }

    /** `pulumi up` without waiting for the proxies: for scenarios that measure what happens meanwhile. */
    async upOnly(hosts: Hosts): Promise<void> {
        await this.stack.up(hosts);
    }

    /** `pulumi destroy` of what was brought up. */
    async destroy(): Promise<void> {
        await this.stack.destroy();
    }

    /** Hand-written objects, and then until every proxy has them or refuses them; what istiod's webhook refuses is an error. */
    async apply(objects: Objects): Promise<Rejections> {
        await this.cluster.apply(objects);
        return this.settled();
    }

    async delete(objects: Objects): Promise<Rejections> {
        await this.cluster.delete(objects);
        return this.settled();
    }

    /** Until all that the API server holds is in force in every proxy; tells what proxies refuse. */
    settled(): Promise<Rejections> {
        return this.sync.settled();
    }

    /** Until the members of a cluster in a proxy (the first gateway's by default) are exactly these addresses, in any order. */
    async members(host: string, addresses: readonly string[], options: { readonly pod?: Pod; readonly port?: number; readonly subset?: string; readonly timeoutMs?: number } = {}): Promise<void> {
        const { pod = this.gateways.pod(0), port = 443, subset, timeoutMs = MEMBERS_MS } = options;
        await this.clusterMembers(pod, clusterName(host, port, subset), addresses, timeoutMs);
    }

    private async clusterMembers(pod: Pod, cluster: string, addresses: readonly string[], timeoutMs: number): Promise<void> {
        const wanted = [...addresses].sort().join(" ");
        for (const deadline = Date.now() + timeoutMs; ; await wait(100)) {
            const there = (await pod.envoy.members(cluster)).map(({ address }) => address).sort().join(" ");
            if (there === wanted) return;
            if (Date.now() > deadline) throw new Error(`${pod.name} has in ${cluster} the addresses [${there}] and not [${wanted}] after ${String(timeoutMs)} ms.`);
        }
    }

    /** Until every sidecar sends gateway traffic, of each host's subset too, to exactly the pods that the Service lists. */
    async endpoints(): Promise<void> {
        const addresses = this.gateways.running().map(({ plan }) => plan.address);
        await Promise.all(this.clients().filter((pod) => pod.isRunning()).map(async (pod) => {
            const clusters = (await pod.envoy.clusters()).filter((name) => name.startsWith("outbound|") && name.endsWith(`|${this.gateways.serviceHost}`));
            await Promise.all(clusters.map((name) => this.clusterMembers(pod, name, addresses, MEMBERS_MS)));
        }));
    }

    /** Changes the mesh's configuration until the next change; istiod reads it while it runs. */
    mesh(change: Readonly<Record<string, unknown>> = {}): void {
        writeMesh(this.name, change);
    }

    /** As after the start: one gateway pod, no host, no name, no fault, no connection. */
    async reset(): Promise<void> {
        this.faults.clear();
        this.policies.clear();
        await this.second.pod.end();
        await Promise.all(Object.values(this.apps).map((app) => app.endLoads()));
        await this.stack.forget();
        await this.cluster.deleteConfiguration(isMarker);
        await this.gateways.behind();
        await Promise.all([this.dns.clear(), this.vips.clear(), this.gateways.scale(1)]);
        await this.settled();
        await this.endpoints();
    }

    /** What runs where, and how to get at it. */
    describe(): string {
        const line = (name: string, address: string, what: string): string => `  ${namespaceOf(this.name, name).padEnd(24)} ${address.padEnd(12)} ${what}`;
        const proxies = [...this.clients(), ...this.gateways.all()];
        return [
            `Lab ${this.name}, in ${folderOf(this.name)}, since ${readRecord(this.name)?.created ?? "?"}`,
            "Network namespaces, each with its own address:",
            line("control", ADDRESSES.control, "API server (127.0.0.1:6443), istiod (debug pages on 127.0.0.1:8080)"),
            line("dns", ADDRESSES.dns, "GSLB"),
            line("vips", `${ADDRESSES.vips} …`, `VIPs: TLS on ${TLS_PORTS.join(", ")}, plain TCP on ${PLAIN_PORTS.join(", ")}`),
            ...proxies.map((pod) => line(pod.name, pod.plan.address, `${pod.plan.kind === "router" ? "egress gateway" : "application with sidecar"} ${pod.plan.namespace}/${pod.name}${pod.isRunning() ? "" : ", not running"}`)),
            "To look at it:",
            `  ip netns exec ${namespaceOf(this.name, "egw-0")} curl -s 127.0.0.1:15000/clusters`,
            `  ip netns exec ${namespaceOf(this.name, "control")} curl -s 127.0.0.1:8080/debug/syncz`,
            `  ip netns exec ${namespaceOf(this.name, "control")} env KUBECONFIG=${kubeconfigOf(this.name)} kubectl get serviceentries -A`,
            `  LAB=${this.name} npx mocha test/mesh/scenarios/NAME.test.ts   a scenario on this lab`,
            `Logs: ${path.join(folderOf(this.name), "logs")}. The end: npm run lab -- down --name ${this.name}`,
        ].join("\n");
    }

    /** Lets this process end; the lab runs on. */
    disconnect(): void {
        for (const agent of this.agents.values()) agent.close();
    }
}

/** Makes a lab that ends with this process at the latest. `keep` lets it outlive this process. */
export async function startLab(name = randomName()): Promise<Lab> {
    checkMachine();
    sweep();
    const folder = createFolder(name);
    const stopGuard = guard(name);
    try {
        for (const one of ["logs", "pods", "certificates"]) mkdirSync(path.join(folder, one));
        createNetwork(name);
        await buildAgent(name);
        for (const node of nodes()) startAgent(name, node.name);
        makeAuthority(name);
        const control = new Agent(name, "control"), dns = new Agent(name, "dns"), vips = new Agent(name, "vips");
        await control.call("relay", { socket: relayFile(name), port: API_PORT });
        const [{ token }] = await Promise.all([
            startControlPlane(name, relayFile(name)),
            dns.call("dnsListen", { address: ADDRESSES.dns }),
            vips.call("vipsListen", { tlsPorts: [...TLS_PORTS], plainPorts: [...PLAIN_PORTS], authority: authorityFiles(name) }),
            placePodTools(name),
        ]);
        for (const agent of [control, dns, vips]) agent.close();
        const record = readRecord(name);
        if (record !== undefined) writeRecord({ ...record, token });
        const lab = new Lab(name, token);
        await Promise.all([lab.gateways.scale(1), ...Object.values(lab.sidecars).map((pod) => pod.start())]);
        await lab.settled();
        await lab.endpoints();
        return lab;
    } catch (error) {
        stopGuard();
        if (process.env["LAB_KEEP"] === undefined) remove(name);
        throw error;
    }
}

/** A lab that runs already. */
export function openLab(name: string): Lab {
    const token = readRecord(name)?.token;
    if (token === undefined) throw new UserError(`There is no lab called ${name}${readRecord(name) === undefined ? "" : " that is ready"}. Make one: npm run lab -- up --name ${name}`);
    return new Lab(name, token);
}

/** Gives the lab up to whoever ends it later: it outlives this process. */
export function keepLab(lab: Lab): void {
    const record = readRecord(lab.name);
    if (record !== undefined) writeRecord({ ...record, owner: undefined });
    guards.get(lab.name)?.();
    lab.disconnect();
}

/** Ends the lab: its processes, its namespaces, its folder. */
export function removeLab(name: string): void {
    guards.get(name)?.();
    remove(name);
}

const guards = new Map<string, () => void>();

/** However this process ends, short of SIGKILL, the lab ends before it; after that, the next lab's start removes it. */
function guard(name: string): () => void {
    const onExit = (): void => remove(name);
    const leave = (signal: NodeJS.Signals): void => {
        process.exit(signal === "SIGINT" ? 130 : 143);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    process.on("exit", onExit);
    for (const signal of signals) process.on(signal, leave);
    const stop = (): void => {
        process.off("exit", onExit);
        for (const signal of signals) process.off(signal, leave);
        guards.delete(name);
    };
    guards.set(name, stop);
    return stop;
}

function randomName(): string {
    return Math.random().toString(36).slice(2, 8).padEnd(6, "0");
}

function relayFile(name: string): string {
    return path.join(folderOf(name), "api.sock");
}

/** PEM files. */
export interface Certificates { readonly authority: string; readonly client: string; readonly clientKey: string }

function authorityFiles(name: string): { readonly folder: string; readonly certificate: string; readonly key: string } {
    const folder = path.join(folderOf(name), "certificates");
    return { folder, certificate: path.join(folder, "authority.crt"), key: path.join(folder, "authority.key") };
}

function certificatesOf(name: string): Certificates {
    const { folder, certificate } = authorityFiles(name);
    return { authority: certificate, client: path.join(folder, "client.crt"), clientKey: path.join(folder, "client.key") };
}

/** Issues the VIPs' certificates, which the applications trust alone, and the one of a client. */
function makeAuthority(name: string): void {
    const { certificate, key } = authorityFiles(name), { client, clientKey } = certificatesOf(name);
    const request = (keyFile: string, file: string, subject: string): readonly string[] =>
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-keyout", keyFile, "-out", file, "-subj", `/CN=${subject}`];
    must("openssl", request(key, certificate, "lab authority"));
    must("openssl", [...request(clientKey, client, CLIENT_NAME), "-CA", certificate, "-CAkey", key]);
    chownSync(clientKey, PROXY_USER, PROXY_USER);
}
