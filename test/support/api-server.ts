// A real Kubernetes API server with Istio's kinds, for one test run: etcd, kube-apiserver and two controllers on loopback, in a throw-away folder.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import https from "node:https";
import path from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { locate } from "../../tools/setup/install";
import { onPath } from "../../tools/support/places";
import { UserError } from "../../tools/support/report";
import { type Daemons, type DaemonsPlace, freePorts, startDaemons } from "./daemons";

/** An address of the documentation range: the server must name one that is not loopback, and nobody asks for it. */
const ADVERTISED = "192.0.2.1";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** What finishes deletions: Pulumi's are in the foreground, which the garbage collector ends, and Namespaces are emptied first. */
const CONTROLLERS = "garbage-collector-controller,namespace-controller";

export interface Answer {
    readonly status: number;
    readonly body: KubernetesObject;
    /** The texts of the Warning headers. */
    readonly warnings: readonly string[];
}
export interface KubernetesObject {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly spec?: unknown;
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    readonly items?: readonly KubernetesObject[];
    readonly message?: string;
}

export interface ApiServer {
    /** The file to put into KUBECONFIG or a provider. */
    readonly kubeconfig: string;
    /** An administrator's. */
    readonly token: string;
    /** One request with an administrator's rights. */
    readonly request: (method: string, url: string, body?: unknown) => Promise<Answer>;
    /** Kills the API server; what it returns starts it again, with the same data at the same address, and does not wait for it. */
    readonly crash: () => Promise<() => void>;
    /** Ends the processes and removes their folder. */
    readonly stop: () => Promise<void>;
}

export interface ApiServerPlace extends DaemonsPlace {
    /** A socket whose connections reach `API_PORT` of the loopback there. */
    readonly relay: string;
}

/** The API server's port in a namespace of its own. */
export const API_PORT = 6443;
const ETCD_PORTS = [2379, 2380] as const;

/** Starts all, loads Istio's kinds and waits until they are served; leaves nothing behind when that fails. */
export async function startApiServer(place?: ApiServerPlace): Promise<ApiServer> {
    return startDaemons(place, async (daemons, folder) => {
        const token = randomBytes(16).toString("hex");
        const [client, peer, port] = place === undefined ? await freePorts(3) as [number, number, number] : [...ETCD_PORTS, API_PORT];
        daemons.start(etcdFile(), etcdFlags(folder, client, peer));
        const file = await locate("kube-apiserver"), flags = await serverFlags(folder, client, port, token);
        let apiServer = daemons.start(file, flags);
        const crash: ApiServer["crash"] = async () => {
            const ended = new Promise((resolve) => apiServer.once("exit", resolve));
            apiServer.kill("SIGKILL");
            await ended;
            return () => {
                apiServer = daemons.start(file, flags);
            };
        };
        const request = apiClient({ port, token, ...(place === undefined ? {} : { relay: place.relay }) });
        await daemons.until("The API server", async () => (await request("GET", "/readyz")).status === 200);
        await loadCrds(request, daemons);
        const kubeconfig = await writeKubeconfig(folder, port, token);
        // After the kinds: the collector looks for new ones every half a minute only.
        daemons.start(await locate("kube-controller-manager"), [
            `--kubeconfig=${kubeconfig}`, `--controllers=${CONTROLLERS}`, "--leader-elect=false", "--secure-port=0", "--authentication-skip-lookup",
        ]);
        return { kubeconfig, token, request, crash };
    });
}

function etcdFile(): string {
    const file = onPath("etcd");
    if (file === undefined) throw new UserError("etcd is not on PATH. Install it (Debian: etcd-server), or as root: npm run setup -- --system");
    return file;
}

function etcdFlags(folder: string, client: number, peer: number): string[] {
    const url = (port: number): string => `http://127.0.0.1:${String(port)}`;
    return [
        `--data-dir=${path.join(folder, "etcd")}`, `--listen-client-urls=${url(client)}`, `--advertise-client-urls=${url(client)}`,
        `--listen-peer-urls=${url(peer)}`, `--initial-advertise-peer-urls=${url(peer)}`, `--initial-cluster=default=${url(peer)}`, "--log-level=error",
        "--unsafe-no-fsync", // The data live as long as the test.
    ];
}

async function serverFlags(folder: string, etcd: number, port: number, token: string): Promise<string[]> {
    const key = path.join(folder, "service-accounts.key");
    const tokens = path.join(folder, "tokens.csv");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, privateKeyEncoding: { type: "pkcs1", format: "pem" }, publicKeyEncoding: { type: "spki", format: "pem" } });
    await writeFile(key, privateKey, { mode: 0o600 });
    await writeFile(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
    await mkdir(path.join(folder, "certificates"));
    return [
        `--etcd-servers=http://127.0.0.1:${String(etcd)}`, "--bind-address=127.0.0.1", `--advertise-address=${ADVERTISED}`, `--secure-port=${String(port)}`,
        `--cert-dir=${path.join(folder, "certificates")}`, "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.78.0.0/16",
        "--authorization-mode=RBAC", `--token-auth-file=${tokens}`, "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc", `--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`,
    ];
}

async function loadCrds(request: ApiServer["request"], daemons: Daemons): Promise<void> {
    const text = await readFile(await locate("istio-crds"), "utf8");
    const definitions = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject | null).filter((one) => one?.kind === "CustomResourceDefinition");
    await Promise.all(definitions.map(async (definition) => {
        const { status, body } = await request("POST", CRDS, definition);
        if (status !== 201) throw new Error(`The API server refuses a definition of Istio's: ${body.message ?? String(status)}`);
    }));
    await daemons.until("Istio's kinds", async () => {
        const { items = [] } = (await request("GET", CRDS)).body;
        return items.length === definitions.length && items.every(({ status }) => status?.conditions?.some((one) => one.type === "Established" && one.status === "True") === true)
            && (await request("GET", "/apis/networking.istio.io/v1/serviceentries")).status === 200;
    });
}

async function writeKubeconfig(folder: string, port: number, token: string): Promise<string> {
    const file = path.join(folder, "kubeconfig");
    await writeFile(file, stringify({
        apiVersion: "v1", kind: "Config", "current-context": "test",
        clusters: [{ name: "test", cluster: { server: `https://127.0.0.1:${String(port)}`, "insecure-skip-tls-verify": true } }],
        users: [{ name: "admin", user: { token } }],
        contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    }), { mode: 0o600 });
    return file;
}

export interface ApiAddress { readonly port: number; readonly token: string; readonly relay?: string }

/** How a PATCH changes an object: part of it, operations on it, or (server-side apply) all that its sender declares. */
const PATCHES = { merge: "application/merge-patch+json", operations: "application/json-patch+json", apply: "application/apply-patch+yaml" };

/** Requests with an administrator's rights. */
export function apiClient({ port, token, relay }: ApiAddress): ApiServer["request"] {
    return (method, url, body) => new Promise((resolve, reject) => {
        const patch = Array.isArray(body) ? PATCHES.operations : url.includes("fieldManager=") ? PATCHES.apply : PATCHES.merge;
        const headers = { authorization: `Bearer ${token}`, "content-type": method === "PATCH" ? patch : "application/json" };
        const target = relay === undefined ? { host: "127.0.0.1", port } : { socketPath: relay };
        const request = https.request({ ...target, path: url, method, headers, rejectUnauthorized: false }, (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => {
                const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
                resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) as KubernetesObject : { message: text }, warnings: warningsOf(response.headersDistinct["warning"]) });
            });
        });
        request.on("error", reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** `299 - "text"`, with the quotes of the text escaped; a server may put several in one header. */
function warningsOf(headers: readonly string[] = []): readonly string[] {
    return headers.flatMap((header) => [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1")));
}
