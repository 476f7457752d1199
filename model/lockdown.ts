// The fence around a gateway: who may use a host of it, and what a consumer's pods may reach.
import { z } from "zod";
import { ALL_CONSUMERS, type Declaration, GatewayConsumers, type GatewayReference, LABEL_PATTERN, Lockdown, gatewayReferenceSchema } from "./declaration";
import { type Path, Problems, show } from "./problem";
import { isMutualToGateway, usesGateway } from "./routes";

/** Istio reads `cluster.local` as the mesh's own trust domain, whatever its name is (istio.io, trust domain migration). */
const TRUST_DOMAIN = "cluster.local";

/** A source of an AuthorizationPolicy's rule. */
export type AllowedSource = { readonly principals: readonly string[] } | { readonly namespaces: readonly string[] };

/**
 * Who may use the host at its gateway; undefined where there is nothing to say: no gateway, or one that is not locked. An
 * empty list is everybody who reaches the gateway, on a route on which it does not know the client.
 */
export function allowedSources({ route, gateway, consumers }: Pick<Declaration, "route" | "gateway" | "consumers">): readonly AllowedSource[] | undefined {
    if (!usesGateway(route) || gateway === undefined || gateway.lockdown === Lockdown.Off) return undefined;
    if (!isMutualToGateway(route)) return [];
    return consumers.map(({ namespace, serviceAccounts }) => {
        if (namespace === ALL_CONSUMERS) return { principals: ["*"] };
        return serviceAccounts === undefined ? { namespaces: [namespace] } : { principals: serviceAccounts.map((account) => `${TRUST_DOMAIN}/ns/${namespace}/sa/${account}`) };
    });
}

export const InCluster = {
    /** Other pods of the cluster may be called as before. */
    Allowed: "allowed",
    /** They may not, unless a NetworkPolicy of your own allows it. */
    Denied: "denied",
} as const;
export type InCluster = (typeof InCluster)[keyof typeof InCluster];

const CIDRS = [z.cidrv4(), z.cidrv6()];
const label = (text: string): z.ZodString => z.string().regex(LABEL_PATTERN).describe(text);

const dnsSchema = z.strictObject({
    namespace: label("The namespace of the cluster's DNS servers. Default kube-system.").default("kube-system"),
    selector: z.record(z.string().min(1), z.string()).default({ "k8s-app": "kube-dns" }).describe("The labels of their pods. Default {k8s-app: kube-dns}."),
    blocks: z.array(z.string().min(1)).default([]).describe("Addresses of DNS servers that are no pods (NodeLocal DNSCache: 169.254.20.10/32). Default none."),
}).describe("The DNS servers that consumers may ask.");

export const lockdownSchema = z.strictObject({
    gateway: gatewayReferenceSchema,
    mode: z.enum([Lockdown.DryRun, Lockdown.Enforced]).describe("dry-run counts what would be denied, enforced denies it."),
    consumers: z.array(z.strictObject({ namespace: label("A namespace whose pods may leave through the gateway only.") })).min(1).describe("Every namespace that uses the gateway."),
    inCluster: z.enum(InCluster).describe("Whether a consumer's pods may call other pods of the cluster: allowed or denied. Required: denied cuts every call that no NetworkPolicy of your own allows, allowed leaves the way out through other pods."),
    registryOnly: z.boolean().default(false).describe("Whether sidecars refuse what is not declared (a Sidecar per consumer, REGISTRY_ONLY). A namespace can have one Sidecar without a selector only. Default false."),
    dns: dnsSchema.prefault({}),
    istioNamespace: label("The namespace of istiod, which sidecars must reach. Default istio-system.").default("istio-system"),
}).describe("The lockdown of one gateway.");

export type LockdownPlan = z.output<typeof lockdownSchema>;

/** What contradicts itself; the reference of the gateway is judged as everywhere. */
export function lockdownProblems({ gateway, consumers, dns }: LockdownPlan): Problems {
    const problems = new Problems();
    if (gateway.lockdown !== Lockdown.Off) problems.add(["gateway", "lockdown"], `is ${show(gateway.lockdown)} already: give the reference of the EgressGateway; the locked one is what this component publishes.`);
    consumers.forEach(({ namespace }, index) => {
        const path: Path = ["consumers", index, "namespace"], first = consumers.findIndex((other) => other.namespace === namespace);
        if (first !== index) problems.add(path, `is ${show(namespace)}, which consumers[${first}] names already: remove one of them.`, [["consumers", first]]);
        if (namespace === gateway.namespace) problems.add(path, `is ${show(namespace)}, the gateway's own namespace, whose pods must reach the hosts: run applications in another one.`, [["gateway", "namespace"]]);
    });
    dns.blocks.forEach((block, index) => {
        if (!CIDRS.some((kind) => kind.safeParse(block).success)) problems.add(["dns", "blocks", index], `is ${show(block)}, which is not a CIDR block: write one address as 169.254.20.10/32.`);
    });
    if (Object.keys(dns.selector).length === 0 && dns.blocks.length === 0) problems.add(["dns", "selector"], "is empty, and so is dns.blocks: no name would be resolved; give the labels of the DNS servers' pods, or their addresses.", [["dns"]]);
    return problems;
}

/** The namespaces that use a gateway through these declarations. */
export function consumersOf(declarations: readonly Pick<Declaration, "route" | "consumers">[]): { namespace: string }[] {
    const names = declarations.filter(({ route }) => usesGateway(route)).flatMap(({ consumers }) => consumers.map(({ namespace }) => namespace));
    return [...new Set(names)].filter((name) => name !== ALL_CONSUMERS).sort().map((namespace) => ({ namespace }));
}

/** Whether the gateway is for the whole mesh, so that its own ingress stays open. */
export const isOpenToAll = ({ consumers }: Pick<GatewayReference, "consumers">): boolean => consumers === GatewayConsumers.All;
