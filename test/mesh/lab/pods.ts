// Pods of the lab: the API object with its status, and beside it the real pilot-agent with stock Envoy, as user 1337 in the pod's namespace.
import type { ChildProcess } from "node:child_process";
import { chownSync, copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { locate } from "../../../tools/setup/install";
import { onPath } from "../../../tools/support/places";
import { signal } from "../../../tools/support/process";
import { lastLines } from "../../../tools/support/report";
import { Daemons } from "../../support/daemons";
import { ISTIOD_HOST, ISTIOD_PORTS } from "../../support/istiod";
import { Envoy } from "../counters";
import type { Agent } from "./agents";
import type { Cluster } from "./cluster";
import { rootCertificateFile } from "./control-plane";
import { folderOf } from "./folder";
import { ADDRESSES } from "./layout";
import type { PodPlan } from "./layout";
import { attempt, must } from "./machine";
import { inNamespace, namespaceOf, processesIn } from "./network";

/** The user of Istio's proxies: interception leaves its traffic alone. */
export const PROXY_USER = 1337;
const READY_MS = 60_000;
/** Beyond Istio's default statistics: what the counters read. */
const STATISTICS = ["cluster.outbound", "cluster.inbound", "tcp.", "listener.", "cluster_manager", "http.inbound", "http.outbound"];

export interface ProxyOptions {
    /** How long a proxy that was told to end lets its connections run on. Default 5 s (Istio's own). */
    readonly drainSeconds?: number;
    /** More of the environment of its container. */
    readonly env?: Readonly<Record<string, string>>;
    /** What its proxyConfig says as proxyMetadata. */
    readonly proxyMetadata?: Readonly<Record<string, string>>;
    /** The labels and the account of another Deployment's pod in its place. */
    readonly as?: Pick<PodPlan, "labels" | "serviceAccount">;
}

/** What of the tools a pod runs, where user 1337 can read it: the cache lies in a home that is closed to it. */
export async function placePodTools(lab: string): Promise<void> {
    const folder = path.join(folderOf(lab), "bin");
    mkdirSync(folder);
    for (const name of ["envoy", "pilot-agent", "envoy-bootstrap"]) {
        const file = await locate(name), target = path.join(folder, name);
        try {
            linkSync(file, target);
        } catch {
            copyFileSync(file, target); // Another file system.
        }
    }
}

export class Pod {
    readonly envoy: Envoy;
    private child: ChildProcess | undefined;

    constructor(private readonly lab: string, readonly plan: PodPlan, readonly agent: Agent, private readonly cluster: Cluster) {
        this.envoy = new Envoy(agent, `${plan.name}.${plan.namespace}`);
    }

    get name(): string {
        return this.plan.name;
    }

    get logFile(): string {
        return path.join(folderOf(this.lab), "logs", `${this.plan.name}.log`);
    }

    /** Makes the pod known, with its address, and starts its proxy; returns when that is ready. */
    async start(options: ProxyOptions = {}): Promise<void> {
        const plan = { ...this.plan, ...options.as };
        await this.cluster.delete([podObject(plan)]); // One that was killed may have run as another account, which no pod can change.
        await this.cluster.applyWithStatus(podObject(plan));
        if (this.plan.kind === "sidecar") this.intercept();
        await this.startProxy(plan, options);
        await this.ready();
    }

    /** Whether the proxy runs. */
    isRunning(): boolean {
        return this.processes().length > 0;
    }

    /** Sends a signal: SIGTERM to pilot-agent, which then drains; SIGKILL to Envoy too, as when a node dies. */
    kill(name: "SIGTERM" | "SIGKILL"): void {
        const agents = this.processes("pilot-agent");
        for (const pid of name === "SIGKILL" ? [...agents, ...this.processes("envoy")] : agents) signal(pid, name);
    }

    /** Waits until the proxy has ended. */
    async ended(timeoutMs: number): Promise<void> {
        for (const deadline = Date.now() + timeoutMs; this.isRunning(); await wait(50)) {
            if (Date.now() > deadline) throw new Error(`The proxy of ${this.name} has not ended within ${String(timeoutMs)} ms.`);
        }
    }

    /** Ends the proxy at once, and what Kubernetes knows of the pod; nothing where it does not run. */
    async end(): Promise<void> {
        if (!this.isRunning()) return;
        this.kill("SIGKILL");
        await this.ended(10_000);
        await this.forget();
    }

    async forget(): Promise<void> {
        await this.cluster.delete([podObject(this.plan)]);
    }

    /** The access log's entries since a time, milliseconds since 1970. */
    accessLog(since: number): readonly AccessLogEntry[] {
        const lines = readFileSync(this.logFile, "utf8").split("\n").filter((line) => line.startsWith("{\"") && line.includes("\"start\""));
        return lines.map((line) => JSON.parse(line) as AccessLogEntry).filter(({ start }) => Date.parse(start) >= since);
    }

    /** The entries since a time that match, as soon as there is one; Envoy writes an entry when the connection has ended. */
    async logged(since: number, matches: (entry: AccessLogEntry) => boolean, timeoutMs = 10_000): Promise<readonly AccessLogEntry[]> {
        for (const deadline = Date.now() + timeoutMs; ; await wait(50)) {
            const found = this.accessLog(since).filter(matches);
            if (found.length > 0) return found;
            if (Date.now() > deadline) throw new Error(`${this.name} has logged no such connection within ${String(timeoutMs)} ms; see ${this.logFile}`);
        }
    }

    async ready(): Promise<void> {
        for (const deadline = Date.now() + READY_MS; !await this.isReady(); await wait(50)) {
            if (!this.hasFailed() && Date.now() < deadline) continue;
            throw new Error(`The proxy of ${this.name} did not get ready; last lines of ${this.logFile}:\n${lastLines(readFileSync(this.logFile, "utf8"))}`);
        }
    }

    /** The command becomes pilot-agent in several steps: only its process tells whether it has ended. */
    private hasFailed(): boolean {
        return this.child !== undefined && (this.child.exitCode !== null || this.child.signalCode !== null);
    }

    private async isReady(): Promise<boolean> {
        return (await this.agent.call("http", { port: 15021, path: "/healthz/ready" }).catch(() => ({ status: 0 }))).status === 200;
    }

    /** Whether a process of the proxy's user, which interception leaves alone, can open a connection. */
    connectsAround(address: string, port: number): boolean {
        const [command = "", ...prefix] = inNamespace(this.lab, this.name);
        const open = `exec 3<>/dev/tcp/${address}/${String(port)} && echo open`;
        return attempt(command, [...prefix, onPath("setpriv") ?? "setpriv", `--reuid=${String(PROXY_USER)}`, `--regid=${String(PROXY_USER)}`, "--clear-groups", "timeout", "3", "bash", "-c", open]).trim() === "open";
    }

    private processes(command?: "pilot-agent" | "envoy"): readonly number[] {
        const commands = command === undefined ? ["pilot-agent", "envoy"] : [command];
        return processesIn(namespaceOf(this.lab, this.name)).filter((pid) => commands.includes(commandOf(pid)));
    }

    /** Istio's own interception; done once per namespace. */
    private intercept(): void {
        const [command = "", ...prefix] = inNamespace(this.lab, this.name);
        if (attempt(command, [...prefix, "iptables", "-t", "nat", "-S", "ISTIO_REDIRECT"]) !== "") return;
        const file = path.join(folderOf(this.lab), "bin/pilot-agent");
        must(command, [...prefix, file, "istio-iptables", "-p", "15001", "-z", "15006", "-u", String(PROXY_USER), "-m", "REDIRECT", "-i", "*", "-x", "", "-b", "*", "-d", "15090,15021,15020"]);
    }

    private async startProxy(plan: PodPlan, { drainSeconds = 5, env = {}, proxyMetadata = {} }: ProxyOptions): Promise<void> {
        const { name, namespace, serviceAccount, kind, address } = plan, bin = path.join(folderOf(this.lab), "bin");
        const folder = path.join(folderOf(this.lab), "pods", name);
        await this.writePodFolder(plan, folder, bin);
        const settings = {
            PATH: "/usr/bin:/bin", HOME: folder, POD_NAME: name, POD_NAMESPACE: namespace, INSTANCE_IP: address, HOST_IP: ADDRESSES.control, SERVICE_ACCOUNT: serviceAccount,
            PROXY_CONFIG: JSON.stringify({
                discoveryAddress: `${ISTIOD_HOST}:${String(ISTIOD_PORTS.secure)}`, binaryPath: path.join(bin, "envoy"), concurrency: 2, statusPort: 15020,
                terminationDrainDuration: `${String(drainSeconds)}s`, proxyStatsMatcher: { inclusionPrefixes: STATISTICS }, proxyMetadata,
            }),
            PILOT_CERT_PROVIDER: "istiod", CA_ADDR: `${ISTIOD_HOST}:${String(ISTIOD_PORTS.secure)}`, TRUST_DOMAIN: "cluster.local",
            ISTIO_META_CLUSTER_ID: "Kubernetes", ISTIO_META_NODE_NAME: "lab", ISTIO_META_INTERCEPTION_MODE: "REDIRECT", ISTIO_META_WORKLOAD_NAME: name.replace(/-\d+$/, ""),
            ISTIO_META_MESH_ID: "cluster.local", ISTIO_META_APP_CONTAINERS: "app", ISTIO_META_POD_PORTS: "[]", ISTIO_META_UNPRIVILEGED_POD: "true", ...env,
        };
        const daemons = new Daemons(path.join(folderOf(this.lab), "logs"), { prefix: inNamespace(this.lab, name), lifetime: "free" });
        // Envoy opens its standard output again, as user 1337, for the access log.
        writeFileSync(this.logFile, "", { flag: "a" });
        chownSync(this.logFile, PROXY_USER, PROXY_USER);
        this.child = daemons.start(onPath("setpriv") ?? "setpriv", [
            `--reuid=${String(PROXY_USER)}`, `--regid=${String(PROXY_USER)}`, "--clear-groups", "env", "--ignore-environment", ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
            path.join(bin, "pilot-agent"), "proxy", kind, "--domain", `${namespace}.svc.cluster.local`, "--proxyLogLevel=warning", "--proxyComponentLogLevel=misc:error", "--log_output_level=default:info",
        ], { name, cwd: folder });
        daemons.release();
    }

    /** The files that Kubernetes mounts into a pod, relative to its root. */
    private async writePodFolder(plan: PodPlan, folder: string, bin: string): Promise<void> {
        rmSync(folder, { recursive: true, force: true });
        for (const one of ["var/run/secrets/tokens", "var/run/secrets/istio", "var/run/secrets/workload-spiffe-uds", "var/run/secrets/credential-uds", "etc/istio/proxy", "etc/istio/pod", "var/lib/istio/envoy"]) {
            mkdirSync(path.join(folder, one), { recursive: true });
        }
        writeFileSync(path.join(folder, "var/run/secrets/tokens/istio-token"), await this.token(plan));
        copyFileSync(rootCertificateFile(this.lab), path.join(folder, "var/run/secrets/istio/root-cert.pem"));
        copyFileSync(path.join(bin, "envoy-bootstrap"), path.join(folder, "var/lib/istio/envoy/envoy_bootstrap_tmpl.json"));
        writeFileSync(path.join(folder, "etc/istio/pod/labels"), Object.entries(plan.labels).map(([key, value]) => `${key}="${value}"\n`).join(""));
        writeFileSync(path.join(folder, "etc/istio/pod/annotations"), "");
        for (const one of [".", ...readdirSync(folder, { recursive: true }) as string[]]) chownSync(path.join(folder, one), PROXY_USER, PROXY_USER);
    }

    private async token({ namespace, serviceAccount }: PodPlan): Promise<string> {
        const { status, body } = await this.cluster.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
            apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: ["istio-ca"], expirationSeconds: 12 * 3600 },
        });
        const token = (body as { status?: { token?: string } }).status?.token;
        if (status >= 300 || token === undefined) throw new Error(`No token for ${namespace}/${serviceAccount}: ${body.message ?? String(status)}`);
        return token;
    }
}

/** One connection or request, as a proxy logged it; "-" is undefined. */
export interface AccessLogEntry {
    readonly start: string;
    readonly durationMs: number;
    readonly flags: string | null;
    readonly sni: string | null;
    readonly cluster: string | null;
    readonly upstream: string | null;
    readonly client: string | null;
    /** The SPIFFE names of both sides of the connection from the client, and of the server of the one to the upstream. */
    readonly clientIdentity: string | null;
    readonly ownIdentity: string | null;
    readonly upstreamIdentity: string | null;
    readonly tls: string | null;
    readonly upstreamFailure: string | null;
    readonly details: string | null;
    /** Why Envoy itself answered or closed, such as `filter_chain_not_found`. */
    readonly code: string | null;
    readonly received: number;
    readonly sent: number;
}

function podObject({ name, namespace, labels, serviceAccount, address, kind }: PodPlan): Record<string, unknown> & { metadata: Record<string, unknown> } {
    const proxy = { name: "istio-proxy", image: "none" };
    return {
        apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels },
        spec: { nodeName: "lab", serviceAccountName: serviceAccount, containers: kind === "sidecar" ? [{ name: "app", image: "none" }, proxy] : [proxy] },
        status: { phase: "Running", podIP: address, podIPs: [{ ip: address }], hostIP: ADDRESSES.control, conditions: [{ type: "Ready", status: "True" }] },
    };
}

function commandOf(pid: number): string {
    const file = `/proc/${String(pid)}/comm`;
    try {
        return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    } catch {
        return ""; // It has ended meanwhile.
    }
}
