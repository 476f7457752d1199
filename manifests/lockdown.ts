// The fence around a gateway: its one switch, what a consumer's pods may reach, and who may reach the gateway's.
import { Lockdown, type LockdownPlan, InCluster, SECURITY_VERSION, isOpenToAll } from "../model";
import { type SupportManifest, supportObject } from "./support";

const NETWORK_POLICY = "networking.k8s.io/v1";
/** istio-proxy's metrics, health and statistics (istio.io, "Ports used by Istio"). */
const PROXY_PORTS = [15020, 15021, 15090];
/** istiod: xDS and certificates over mTLS. */
const ISTIOD_PORT = 15012;
const DNS_PORT = 53;

/**
 * Dry-run is one policy that allows everything beside the hosts' own, which only count; enforcing takes it away, as the last
 * step of an update. So the switch is one object, and no host is denied while the others' policies are still being written.
 */
export function lockdownObjects(plan: LockdownPlan): readonly SupportManifest[] {
    return plan.mode === Lockdown.DryRun ? [theSwitch(plan)] : [
        theSwitch(plan), gatewayIngress(plan),
        ...plan.consumers.map(({ namespace }) => consumerEgress(plan, namespace)),
        ...(plan.registryOnly ? plan.consumers.map(({ namespace }) => registryOnly(namespace)) : []),
    ];
}

const serviceName = ({ gateway }: LockdownPlan): string => gateway.serviceHost.split(".")[0] ?? "";
const tcp = (ports: readonly number[]): object[] => ports.map((port) => ({ protocol: "TCP", port }));
const inNamespace = (name: string): object => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

/** An ALLOW policy with one empty rule allows everything, one without rules nothing, so that even a gateway without hosts denies. */
function theSwitch(plan: LockdownPlan): SupportManifest {
    const isOpen = plan.mode === Lockdown.DryRun, { gateway } = plan;
    return {
        key: isOpen ? "open" : "closed",
        object: supportObject(SECURITY_VERSION, "AuthorizationPolicy", { name: `${serviceName(plan)}-${isOpen ? "open" : "closed"}`, namespace: gateway.namespace }, {
            spec: { selector: { matchLabels: gateway.selector }, action: "ALLOW", ...(isOpen ? { rules: [{}] } : {}) },
        }),
    };
}

function gatewayIngress(plan: LockdownPlan): SupportManifest {
    const { gateway, consumers } = plan, ports = tcp([...new Set(gateway.ports.map(({ targetPort }) => targetPort))]);
    const from = isOpenToAll(gateway) ? [{ namespaceSelector: {} }] : consumers.map(({ namespace }) => inNamespace(namespace));
    return {
        key: "ingress",
        object: supportObject(NETWORK_POLICY, "NetworkPolicy", { name: `${serviceName(plan)}-consumers`, namespace: gateway.namespace }, {
            spec: { podSelector: { matchLabels: gateway.selector }, policyTypes: ["Ingress"], ingress: [{ from, ports }, { ports: tcp(PROXY_PORTS) }] },
        }),
    };
}

function consumerEgress(plan: LockdownPlan, namespace: string): SupportManifest {
    const { gateway, dns, inCluster, istioNamespace } = plan;
    const servers = [
        ...(Object.keys(dns.selector).length === 0 ? [] : [{ ...inNamespace(dns.namespace), podSelector: { matchLabels: dns.selector } }]),
        ...dns.blocks.map((cidr) => ({ ipBlock: { cidr } })),
    ];
    return {
        key: `egress-${namespace}`,
        object: supportObject(NETWORK_POLICY, "NetworkPolicy", { name: `${serviceName(plan)}-only`, namespace }, {
            spec: {
                podSelector: {}, policyTypes: ["Egress"],
                egress: [
                    { to: [{ ...inNamespace(gateway.namespace), podSelector: { matchLabels: gateway.selector } }], ports: tcp([...new Set(gateway.ports.map(({ targetPort }) => targetPort))]) },
                    { to: servers, ports: [{ protocol: "UDP", port: DNS_PORT }, { protocol: "TCP", port: DNS_PORT }] },
                    { to: [{ ...inNamespace(istioNamespace), podSelector: { matchLabels: { app: "istiod" } } }], ports: tcp([ISTIOD_PORT]) },
                    ...(inCluster === InCluster.Allowed ? [{ to: [{ namespaceSelector: {} }] }] : []),
                ],
            },
        }),
    };
}

function registryOnly(namespace: string): SupportManifest {
    return {
        key: `registry-only-${namespace}`,
        object: supportObject("networking.istio.io/v1", "Sidecar", { name: "egress-lockdown", namespace }, {
            spec: { egress: [{ hosts: ["*/*"] }], outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
        }),
    };
}
