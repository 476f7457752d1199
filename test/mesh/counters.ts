// Typed readers of what Envoy and istiod count: statistics as deltas, members of a cluster with their health, rejected configuration.
import type { Agent } from "./lab/agents";

const ADMIN = 15000;

/** Of one cluster; numbers only grow, apart from `…_active` and `membership_total`. */
export type ClusterStatistics = Readonly<Record<string, number>>;

export interface Member {
    readonly address: string;
    /** Envoy's flags, such as `failed_outlier_check`; none when it is healthy. */
    readonly flags: readonly string[];
    readonly active: number;
    readonly total: number;
    readonly connectFailures: number;
    readonly priority: number;
}

/** A piece of configuration that Envoy refused. */
export interface Rejection { readonly name: string; readonly details: string }

/** The cluster of an external host's port: `outbound|443||api.partner.example`. */
export function clusterName(host: string, port = 443, subset = ""): string {
    return `outbound|${String(port)}|${subset}|${host}`;
}

/** The administration interface of one proxy. */
export class Envoy {
    constructor(private readonly agent: Agent, /** As istiod calls it. */ readonly id: string) {}

    /** Statistics whose names match a regular expression of RE2. */
    async statistics(filter: string): Promise<Readonly<Record<string, number>>> {
        const { stats } = await this.read<{ stats: readonly { name?: string; value?: number }[] }>(`/stats?format=json&filter=${encodeURIComponent(filter)}`);
        return Object.fromEntries(stats.flatMap(({ name, value }) => name === undefined || value === undefined ? [] : [[name, value]]));
    }

    /** What the proxy counts for one cluster: `upstream_cx_total`, `membership_change` and so on. Empty when it has no such cluster. */
    async cluster(name: string): Promise<ClusterStatistics> {
        const prefix = `cluster.${name};.`, all = await this.statistics(`^cluster\\.${escaped(name)};\\.`);
        return Object.fromEntries(Object.entries(all).map(([key, value]) => [key.slice(prefix.length), value]));
    }

    /** What Prometheus reads of it: values by name and labels. */
    async metrics(): Promise<ReadonlyMap<string, number>> {
        const lines = (await this.text("/stats/prometheus")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
        return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
    }

    async members(cluster: string): Promise<readonly Member[]> {
        const { cluster_statuses: clusters = [] } = await this.read<ClustersDump>("/clusters?format=json");
        const hosts = clusters.find(({ name }) => name === cluster)?.host_statuses ?? [];
        return hosts.map(({ address, health_status: health = {}, stats = [], priority = 0 }) => {
            const number = (name: string): number => Number(stats.find((one) => one.name === name)?.value ?? 0);
            return {
                address: address?.socket_address?.address ?? "?", priority,
                flags: Object.keys(health).filter((flag) => health[flag] === true),
                active: number("cx_active"), total: number("cx_total"), connectFailures: number("cx_connect_fail"),
            };
        });
    }

    /** The names of the clusters that are active. */
    async clusters(): Promise<readonly string[]> {
        const { configs = [] } = await this.read<ConfigDump>("/config_dump?resource=dynamic_active_clusters");
        return configs.map((config) => String((config["cluster"] as { name?: string } | undefined)?.name));
    }

    /** One cluster as it is configured; undefined when there is none. */
    async clusterConfig(name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
        const { configs = [] } = await this.read<ConfigDump>(`/config_dump?resource=dynamic_active_clusters&name_regex=${encodeURIComponent(`^${escaped(name)}$`)}`);
        return configs[0]?.["cluster"] as Readonly<Record<string, unknown>> | undefined;
    }

    /** A part of `/config_dump`, for example `dynamic_listeners`. */
    async configDump(resource: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
        return (await this.read<ConfigDump>(`/config_dump?resource=${resource}`)).configs ?? [];
    }

    /** Overrides settings of Envoy's runtime, such as `envoy.reloadable_features.…`; null takes an override back. It counts for what is configured from then on. */
    async runtime(settings: Readonly<Record<string, string | null>>): Promise<void> {
        const query = Object.entries(settings).map(([key, value]) => `${key}=${encodeURIComponent(value ?? "")}`).join("&");
        const { status, text } = await this.agent.call("http", { port: ADMIN, path: `/runtime_modify?${query}`, method: "POST" });
        if (status !== 200) throw new Error(`Envoy of ${this.id} does not take the runtime settings ${query}: ${text.slice(0, 200)}`);
    }

    /** Listeners and clusters whose newest version Envoy refuses; it goes on with the one before. */
    async rejections(): Promise<readonly Rejection[]> {
        const found = await Promise.all(["dynamic_listeners", "dynamic_active_clusters", "dynamic_warming_clusters"].map((resource) => this.configDump(resource)));
        return found.flat().flatMap((config) => {
            const { name, cluster, error_state: error } = config as { name?: string; cluster?: { name?: string }; error_state?: { details?: string } };
            return error?.details === undefined ? [] : [{ name: name ?? cluster?.name ?? "?", details: error.details }];
        });
    }

    private async read<Shape>(path: string): Promise<Shape> {
        return JSON.parse(await this.text(path)) as Shape;
    }

    private async text(path: string): Promise<string> {
        const { status, text } = await this.agent.call("http", { port: ADMIN, path });
        if (status !== 200) throw new Error(`Envoy of ${this.id} answers ${path} with ${String(status)}: ${text.slice(0, 200)}`);
        return text;
    }
}

/** What was counted between two readings. */
export function delta(before: ClusterStatistics, after: ClusterStatistics): ClusterStatistics {
    return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
}

/** What a proxy and istiod agree on, as istiod tells it. */
export interface ProxySync {
    readonly proxy: string;
    readonly types: readonly { readonly type: string; readonly sent: string; readonly acked: string; readonly error: string | undefined }[];
}

export class Istiod {
    constructor(private readonly agent: Agent) {}

    /** The sum of a metric over its labels; 0 when it was never counted. */
    async metric(name: string): Promise<number> {
        const { text } = await this.agent.call("http", { port: 15014, path: "/metrics" });
        return text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`)).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    }

    /** What a mesh in order has none of. `rejectedConfigs` is a gauge of what is rejected now; the others count since istiod's start. */
    async complaints(): Promise<{ readonly rejectedConfigs: number; readonly xdsRejects: number; readonly webhookRefusals: number }> {
        const [rejectedConfigs, xdsRejects, webhookRefusals] = await Promise.all(["pilot_total_rejected_configs", "pilot_total_xds_rejects", "galley_validation_failed"].map((name) => this.metric(name)));
        return { rejectedConfigs: rejectedConfigs ?? 0, xdsRejects: xdsRejects ?? 0, webhookRefusals: webhookRefusals ?? 0 };
    }

    /** What istiod counts as rejected, as "namespace/name" or a key of its own; it goes on counting what has been deleted. */
    async rejectedConfigs(): Promise<readonly string[]> {
        const { text } = await this.agent.call("http", { port: 15014, path: "/metrics" });
        return text.split("\n").flatMap((line) => /^pilot_total_rejected_configs\{.*name="([^"]*)".*\} [1-9]/.exec(line)?.[1] ?? []);
    }

    async sync(): Promise<readonly ProxySync[]> {
        const proxies = await this.debug<readonly { proxy?: string; resources?: Readonly<Record<string, { sent?: string; acked?: string; lastError?: string }>> }[]>("syncz");
        return proxies.map(({ proxy = "", resources = {} }) => ({
            proxy, types: Object.entries(resources).map(([type, { sent = "", acked = "", lastError }]) => ({ type: type.slice(type.lastIndexOf(".") + 1), sent, acked, error: lastError === "" ? undefined : lastError })),
        }));
    }

    /** "Kind namespace/name" → resource version, of all that istiod holds of its own kinds. */
    async held(): Promise<ReadonlyMap<string, string>> {
        const objects = await this.debug<readonly { kind?: string; metadata?: { name?: string; namespace?: string; resourceVersion?: string } }[]>("configz");
        return new Map(objects.map(({ kind = "", metadata = {} }) => [`${kind} ${metadata.namespace ?? ""}/${metadata.name ?? ""}`, metadata.resourceVersion ?? ""]));
    }

    private async debug<Shape>(page: string): Promise<Shape> {
        const { status, text } = await this.agent.call("http", { port: 8080, path: `/debug/${page}` });
        if (status !== 200) throw new Error(`istiod answers /debug/${page} with ${String(status)}: ${text.slice(0, 200)}`);
        return JSON.parse(text) as Shape;
    }
}

interface ConfigDump { readonly configs?: readonly Readonly<Record<string, unknown>>[] }
interface ClustersDump {
    readonly cluster_statuses?: readonly {
        readonly name: string;
        readonly host_statuses?: readonly {
            readonly address?: { readonly socket_address?: { readonly address?: string } };
            readonly health_status?: Readonly<Record<string, unknown>>;
            readonly stats?: readonly { readonly name?: string; readonly value?: string }[];
            readonly priority?: number;
        }[];
    }[];
}

function escaped(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
