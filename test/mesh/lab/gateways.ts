// The egress gateway's pods: how many run, which of them the Service lists, and how one leaves.
import type { Cluster } from "./cluster";
import { GATEWAY, GATEWAY_SERVICE, MAX_GATEWAYS, NAMESPACES } from "./layout";
import type { GatewayReference } from "./layout";
import type { Pod, ProxyOptions } from "./pods";

/** A Service of the gateway's namespace in front of the pods. */
export type GatewayService = Pick<GatewayReference, "serviceHost" | "ports">;

export class Gateways {
    private listed = new Set<number>();
    private front: GatewayService = GATEWAY;

    constructor(private readonly cluster: Cluster, private readonly pods: readonly Pod[], private readonly changed: (running: readonly number[]) => void, running: readonly number[]) {
        this.listed = new Set(running);
    }

    /** The pod of an index, 0 to 2. */
    pod(index: number): Pod {
        const pod = this.pods[index];
        if (pod === undefined) throw new Error(`There are gateway pods 0 to ${String(MAX_GATEWAYS - 1)}, and no ${String(index)}.`);
        return pod;
    }

    all(): readonly Pod[] {
        return this.pods;
    }

    /** Those that the Service lists. */
    running(): readonly Pod[] {
        return this.pods.filter((_, index) => this.listed.has(index));
    }

    /** The full name of the Service that lists the pods. */
    get serviceHost(): string {
        return this.front.serviceHost;
    }

    /** From now on another Service lists the pods that run, none at first; the lab's own by default. */
    async behind(service: GatewayService = GATEWAY): Promise<void> {
        if (service.serviceHost !== this.front.serviceHost) await this.scale(0);
        this.front = service;
    }

    /** Starts or ends pods until the first `count` run, each in the Service. */
    async scale(count: number, options: ProxyOptions = {}): Promise<void> {
        if (count < 0 || count > MAX_GATEWAYS) throw new Error(`A lab has 0 to ${String(MAX_GATEWAYS)} gateway pods, and not ${String(count)}.`);
        const missing = this.pods.filter((pod, index) => index < count && !pod.isRunning());
        await Promise.all(missing.map((pod) => pod.start(options)));
        await this.list(this.pods.map((_, index) => index).filter((index) => index < count));
        for (const pod of this.pods.slice(count)) await pod.end();
    }

    /** Makes the Service list exactly these pods. Proxies learn it as any change of endpoints: see `Lab.endpoints`. */
    async list(indexes: readonly number[]): Promise<void> {
        this.listed = new Set(indexes);
        this.changed(indexes);
        const service = this.front.serviceHost.split(".")[0] ?? GATEWAY_SERVICE.name;
        await this.cluster.apply([{
            apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4",
            metadata: { name: `${service}-1`, namespace: NAMESPACES.gateway, labels: { "kubernetes.io/service-name": service } },
            ports: this.front.ports.map(({ number, targetPort }) => ({ name: `tls-${String(number)}`, port: targetPort, protocol: "TCP" })),
            endpoints: indexes.map((index) => {
                const { name, namespace, address } = this.pod(index).plan;
                return { addresses: [address], conditions: { ready: true, serving: true, terminating: false }, nodeName: "lab", targetRef: { kind: "Pod", name, namespace } };
            }),
        }]);
    }

    /** As Kubernetes ends a pod: it leaves the Service, and then is told to end; its proxy drains and goes. */
    async drain(index: number): Promise<void> {
        await this.list([...this.listed].filter((one) => one !== index));
        this.pod(index).kill("SIGTERM");
    }
}
