// What NetworkPolicies mean, as iptables rules of the pods' own namespaces: the lab has no network plugin, which would enforce them.
import type { Cluster, KubernetesObject } from "./cluster";
import { attempt, must } from "./machine";
import { inNamespace } from "./network";

interface Selector { readonly matchLabels?: Readonly<Record<string, string>> }
interface Peer { readonly namespaceSelector?: Selector; readonly podSelector?: Selector; readonly ipBlock?: { readonly cidr: string } }
interface Port { readonly protocol?: string; readonly port: number }
interface Rule { readonly from?: readonly Peer[]; readonly to?: readonly Peer[]; readonly ports?: readonly Port[] }
interface Spec { readonly podSelector: Selector; readonly policyTypes: readonly string[]; readonly ingress?: readonly Rule[]; readonly egress?: readonly Rule[] }
interface Known { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>>; readonly address: string | undefined }

/** Of one direction: Kubernetes' name, iptables' chain, and which end of a packet the peer is. */
const DIRECTIONS = [{ type: "Ingress", chain: "INPUT", peer: "-s" }, { type: "Egress", chain: "OUTPUT", peer: "-d" }] as const;
const OURS = (chain: string): string => `POLICY-${chain}`;

export class Policies {
    private readonly touched = new Set<string>();

    constructor(private readonly lab: string, private readonly cluster: Cluster) {}

    /** Enforces what the API server holds now on these pods, until `clear`. */
    async enforce(pods: readonly string[]): Promise<void> {
        const [all, namespaces, policies] = await Promise.all(["/api/v1/pods", "/api/v1/namespaces", "/apis/networking.k8s.io/v1/networkpolicies"].map((url) => this.list(url)));
        const known = (all ?? []).map(knownOf), labels = new Map((namespaces ?? []).map(knownOf).map((one) => [one.name, one.labels]));
        for (const pod of known.filter(({ name }) => pods.includes(name))) {
            const specs = (policies ?? []).filter((policy) => knownOf(policy).namespace === pod.namespace).map(({ spec }) => spec as Spec).filter(({ podSelector }) => takes(podSelector, pod.labels));
            for (const { type, chain, peer } of DIRECTIONS) {
                const applying = specs.filter(({ policyTypes }) => policyTypes.includes(type));
                if (applying.length === 0) continue;
                const rules = applying.flatMap((spec) => (type === "Ingress" ? spec.ingress : spec.egress) ?? []);
                this.write(pod.name, chain, rules.flatMap((rule) => rulesOf(rule, peer, (one) => addressesOf(one, pod.namespace, known, labels))));
            }
        }
    }

    /** Nothing is enforced any more. */
    clear(): void {
        for (const node of this.touched) {
            for (const { chain } of DIRECTIONS) {
                this.tried(node, ["-D", chain, "-j", OURS(chain)]);
                this.tried(node, ["-F", OURS(chain)]);
                this.tried(node, ["-X", OURS(chain)]);
            }
        }
        this.touched.clear();
    }

    private write(node: string, chain: string, allowed: readonly (readonly string[])[]): void {
        const ours = OURS(chain), loopback = chain === "INPUT" ? ["-i", "lo"] : ["-d", "127.0.0.0/8"]; // Intercepted packets still count as leaving by eth0.
        this.touched.add(node);
        this.run(node, ["-N", ours]);
        const rules = [[...loopback, "-j", "ACCEPT"], ["-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "ACCEPT"], ...allowed.map((match) => [...match, "-j", "ACCEPT"]), ["-j", "DROP"]];
        for (const rule of rules) this.run(node, ["-A", ours, ...rule]);
        this.run(node, ["-I", chain, "-j", ours]);
    }

    private run(node: string, rule: readonly string[]): void {
        const [command = "", ...args] = [...inNamespace(this.lab, node), "iptables", "-w", ...rule];
        must(command, args);
    }

    private tried(node: string, rule: readonly string[]): void {
        const [command = "", ...args] = [...inNamespace(this.lab, node), "iptables", "-w", ...rule];
        attempt(command, args);
    }

    private async list(url: string): Promise<readonly KubernetesObject[]> {
        return (await this.cluster.request("GET", url)).body.items ?? [];
    }
}

function knownOf({ metadata = {}, status }: KubernetesObject): Known {
    const { name = "", namespace = "", labels = {} } = metadata as { readonly name?: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
    return { name, namespace, labels, address: (status as { readonly podIP?: string } | undefined)?.podIP };
}

/** An empty selector takes everything. */
function takes({ matchLabels = {} }: Selector, labels: Readonly<Record<string, string>>): boolean {
    return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}

/** The matches that a rule allows; without peers everybody, without ports every port. */
function rulesOf({ from, to, ports }: Rule, direction: "-s" | "-d", addresses: (peer: Peer) => readonly string[]): readonly (readonly string[])[] {
    const peers = (from ?? to)?.flatMap(addresses).map((address) => [direction, address]) ?? [[]];
    const matches = ports?.map(({ protocol = "TCP", port }) => ["-p", protocol.toLowerCase(), "--dport", String(port)]) ?? [[]];
    return peers.flatMap((peer) => matches.map((match) => [...match, ...peer]));
}

function addressesOf({ ipBlock, namespaceSelector, podSelector = {} }: Peer, home: string, pods: readonly Known[], namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>): readonly string[] {
    if (ipBlock !== undefined) return [ipBlock.cidr];
    const isThere = (namespace: string): boolean => (namespaceSelector === undefined ? namespace === home : takes(namespaceSelector, namespaces.get(namespace) ?? {}));
    return pods.flatMap(({ namespace, labels, address }) => (address !== undefined && isThere(namespace) && takes(podSelector, labels) ? [address] : []));
}
