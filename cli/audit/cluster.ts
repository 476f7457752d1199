// A live cluster → the objects that rules read, page by page. Nothing is written.
import { isMap } from "../plain";
import { objectsIn } from "../../policies/objects";
import type { MeshOptions } from "../../policies/mesh";
import { causeOf } from "../preflight/causes";
import { type Client, Cluster, type Limits } from "../preflight/client";
import { meshConfigs } from "../preflight/collect";
import { type KubeconfigOptions, chooseCluster } from "../preflight/kubeconfig";
import type { Seen, Unseen } from "../preflight/snapshot";
import { Failure } from "../failure";
import type { Reading } from "./read";

export interface ClusterRequest extends KubeconfigOptions {
    /** The namespaces to look at; all of them when it is empty. */
    readonly namespaces: readonly string[];
    /** Where istiod is. */
    readonly istioNamespace: string;
    readonly onProgress?: (what: string, done: number, all: number) => void;
}

export interface ClusterReading extends Reading {
    /** What the mesh's configuration says, and which kinds were seen whole. */
    readonly mesh: MeshOptions;
}

/** A list of thousands of objects takes longer than what a preflight asks for. */
const LIMITS: Limits = { callMs: 30_000, allMs: 600_000, atOnce: 4 };

/** Groups of which every kind is read; which of them the rules know is theirs to say. */
const ISTIO_GROUPS = ["networking.istio.io", "security.istio.io"] as const;

/** One kind of objects, and how it is listed. */
interface Listing {
    readonly kind: string;
    readonly apiVersion: string;
    readonly plural: string;
    readonly page: (limit: number, from: string | undefined, namespace: string | undefined) => Promise<{ readonly items: unknown[] }>;
}

export async function readCluster(request: ClusterRequest): Promise<ClusterReading> {
    const client = await import("@kubernetes/client-node"), chosen = chooseCluster(client, request);
    if (!chosen.ok) throw new Failure(`The cluster cannot be audited: ${chosen.cause.text}. ${chosen.cause.fix}`);
    const cluster = new Cluster(client, chosen.config, LIMITS), source = `context ${chosen.context}`;
    try {
        await cluster.version();
    } catch (error) {
        cluster.close();
        const { text, fix } = causeOf(error);
        throw new Failure(`The API server ${chosen.server} (context ${chosen.context}) cannot be audited: ${text}. ${fix}`);
    }
    try {
        return await readAll(client, cluster, source, request);
    } finally {
        cluster.close();
    }
}

async function readAll(client: Client, cluster: Cluster, source: string, request: ClusterRequest): Promise<ClusterReading> {
    const reading: Reading = { objects: [], problems: [], sources: [source], total: 0 };
    const found = await istioListings(client, cluster);
    const listings = [...coreListings(client, cluster), ...(found.seen ? found.value : [])];
    if (!found.seen) reading.problems.push({ file: source, text: `${reasonOf(found.why)} What Istio is told there is not known.` });
    else if (found.value.length === 0) reading.problems.push({ file: source, text: "serves none of Istio's kinds (networking.istio.io): is it the right context, and is Istio installed?" });
    const complete: string[] = [];
    for (const [index, listing] of listings.entries()) {
        request.onProgress?.(`${source}: ${listing.plural}`, index, listings.length);
        const isWhole = await readKind(reading, cluster, source, listing, request.namespaces);
        if (isWhole && request.namespaces.length === 0) complete.push(listing.kind);
    }
    return { ...reading, mesh: { ...await meshOptions(client, cluster, request.istioNamespace), complete } };
}

/** Whether every object of the kind was seen. */
async function readKind(reading: Reading, cluster: Cluster, source: string, { kind, apiVersion, plural, page }: Listing, namespaces: readonly string[]): Promise<boolean> {
    let isWhole = true;
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
        const action = `list ${plural} in ${namespace === undefined ? "all namespaces" : `namespace ${namespace}`}`;
        const seen = await cluster.lookThrough(action, (limit, from) => page(limit, from, namespace));
        if (!seen.seen) {
            reading.problems.push({ file: source, text: reasonOf(seen.why) });
            isWhole = false;
            continue;
        }
        for (const item of seen.value) {
            reading.total++;
            for (const object of objectsIn(plainItem(item, apiVersion, kind), source)) reading.objects.push({ object, source, document: 0 });
        }
    }
    return isWhole;
}

function reasonOf(why: Unseen): string {
    if (why.kind === "forbidden") return `this account may not ${why.action}: allow it to, or name the namespaces that it may see with --namespace.`;
    return `to ${why.action} failed: ${why.text}. Run the audit again.`;
}

/** The items of a list leave out what the list is of; managed fields are large, and of no interest. */
function plainItem(item: unknown, apiVersion: string, kind: string): unknown {
    if (!isMap(item)) return item;
    const metadata = isMap(item["metadata"]) ? Object.fromEntries(Object.entries(item["metadata"]).filter(([key]) => key !== "managedFields")) : item["metadata"];
    // The client's own classes become plain data, as they came over the wire.
    return JSON.parse(JSON.stringify({ ...item, apiVersion, kind, metadata })) as unknown;
}

function coreListings(client: Client, cluster: Cluster): readonly Listing[] {
    const core = cluster.api(client.CoreV1Api), custom = cluster.api(client.CustomObjectsApi);
    return [
        {
            kind: "Namespace", apiVersion: "v1", plural: "namespaces",
            page: async (limit, _continue, namespace) => (namespace === undefined ? core.listNamespace({ limit, _continue }) : { items: [await core.readNamespace({ name: namespace })] }),
        },
        {
            kind: "Service", apiVersion: "v1", plural: "services",
            page: (limit, _continue, namespace) => (namespace === undefined ? core.listServiceForAllNamespaces({ limit, _continue }) : core.listNamespacedService({ namespace, limit, _continue })),
        },
        listingOf(custom, "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"),
    ];
}

type CustomApi = InstanceType<Client["CustomObjectsApi"]>;

function listingOf(custom: CustomApi, group: string, version: string, plural: string, kind: string): Listing {
    return {
        kind, apiVersion: `${group}/${version}`, plural,
        page: (limit, _continue, namespace) => (namespace === undefined
            ? custom.listClusterCustomObject({ group, version, plural, limit, _continue })
            : custom.listNamespacedCustomObject({ group, version, plural, namespace, limit, _continue })) as Promise<{ items: unknown[] }>,
    };
}

/** Every kind of Istio's in the first version that serves it: servers list the newest first. */
async function istioListings(client: Client, cluster: Cluster): Promise<Seen<readonly Listing[]>> {
    const apis = cluster.api(client.ApisApi), custom = cluster.api(client.CustomObjectsApi), action = "discover what the API server serves";
    const versions = await cluster.look(action, () => apis.getAPIVersions());
    if (!versions.seen) return versions;
    const listings = new Map<string, Listing>();
    for (const group of ISTIO_GROUPS) {
        for (const { version } of versions.value.groups.find(({ name }) => name === group)?.versions ?? []) {
            const seen = await cluster.look(action, () => custom.getAPIResources({ group, version }));
            if (!seen.seen) return seen;
            for (const { name, kind, verbs } of seen.value.resources) {
                if (!name.includes("/") && verbs.includes("list") && !listings.has(`${group} ${name}`)) listings.set(`${group} ${name}`, listingOf(custom, group, version, name, kind));
            }
        }
    }
    return { seen: true, value: [...listings.values()] };
}

/** meshConfig, where it can be read: rules take Istio's own defaults otherwise. */
async function meshOptions(client: Client, cluster: Cluster, namespace: string): Promise<MeshOptions> {
    const core = cluster.api(client.CoreV1Api), [config] = await meshConfigs(cluster, core, namespace, ["istio"]);
    const mesh = config?.config.seen === true ? config.config.value : undefined;
    const texts = (key: string): readonly string[] | undefined => {
        const value = mesh?.[key];
        return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
    };
    const root = mesh?.["rootNamespace"];
    const exportDefaults = { Service: texts("defaultServiceExportTo"), VirtualService: texts("defaultVirtualServiceExportTo"), DestinationRule: texts("defaultDestinationRuleExportTo") };
    return { rootNamespace: typeof root === "string" && root !== "" ? root : namespace, exportDefaults };
}
