// What a lab consists of by default: its namespaces, addresses, ports, and the gateway as declarations refer to it.
import type { DeclarationInput } from "../../../model";

export type GatewayReference = NonNullable<DeclarationInput["gateway"]>;

/** Every lab has this network to itself: its bridge is in a namespace of its own. */
export const NETWORK = { prefixLength: 16, router: "10.77.255.254" } as const;
export const ADDRESSES = { control: "10.77.0.10", dns: "10.77.0.53", vips: "10.77.2.1" } as const;

/** 508 addresses, all served by the VIPs' namespace: `vip(1)`, `vip(2)` and so on. */
export const VIP_COUNT = 508;
export function vip(number: number): string {
    if (!Number.isInteger(number) || number < 1 || number > VIP_COUNT) throw new Error(`There are VIPs 1 to ${String(VIP_COUNT)}, and no ${String(number)}.`);
    return `10.77.${String(2 + Math.floor((number - 1) / 254))}.${String(1 + (number - 1) % 254)}`;
}

/** The ports on which every VIP answers: TLS, and plain TCP where the server speaks first and then echoes. */
export const TLS_PORTS = [443, 8443] as const;
export const PLAIN_PORTS = [5432] as const;

/** The namespaces of Kubernetes, beside istio-system: the hosts' own, the gateway's, and two of consumers. */
export const NAMESPACES = { hosts: "egress", gateway: "istio-egress", consumers: ["payments", "orders"] } as const;
export type Consumer = typeof NAMESPACES.consumers[number];
export const MAX_GATEWAYS = 3;

export const GATEWAY_LABELS = { istio: "egressgateway", app: "istio-egressgateway" } as const;
export const GATEWAY_SERVICE = { name: "istio-egressgateway", clusterIp: "10.78.0.20" } as const;

/** For a declaration's `gateway`. */
export const GATEWAY: GatewayReference = {
    namespace: NAMESPACES.gateway,
    selector: { istio: GATEWAY_LABELS.istio },
    serviceHost: `${GATEWAY_SERVICE.name}.${NAMESPACES.gateway}.svc.cluster.local`,
    ports: [{ number: 443, targetPort: 8443 }, { number: 8443, targetPort: 9443 }, { number: 5432, targetPort: 15432 }],
    istioVersion: "1.31.0",
};

export interface PodPlan {
    /** Also the name of its network namespace, after the lab's prefix. */
    readonly name: string;
    readonly kind: "sidecar" | "router";
    readonly namespace: string;
    readonly serviceAccount: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly address: string;
}

export function gatewayPod(index: number): PodPlan {
    return { name: `egw-${String(index)}`, kind: "router", namespace: NAMESPACES.gateway, serviceAccount: "egressgateway", labels: GATEWAY_LABELS, address: `10.77.1.${String(20 + index)}` };
}

export function consumerPod(consumer: Consumer): PodPlan {
    return {
        name: `${consumer}-0`, kind: "sidecar", namespace: consumer, serviceAccount: consumer,
        labels: { app: consumer, "security.istio.io/tlsMode": "istio" }, address: `10.77.1.${String(10 + NAMESPACES.consumers.indexOf(consumer))}`,
    };
}

/** A second pod of a consumer's namespace, with an account of its own; the scenarios that need it start it. */
export const SECOND_POD: PodPlan = {
    name: "payments-1", kind: "sidecar", namespace: "payments", serviceAccount: "reports", labels: { app: "reports", "security.istio.io/tlsMode": "istio" }, address: "10.77.1.12",
};

/** Every network namespace of a lab, with its address. Pods that do not run have theirs too. */
export function nodes(): readonly { readonly name: string; readonly address: string }[] {
    const pods = [...NAMESPACES.consumers.map(consumerPod), SECOND_POD, ...Array.from({ length: MAX_GATEWAYS }, (_, index) => gatewayPod(index))];
    return [
        { name: "control", address: ADDRESSES.control }, { name: "dns", address: ADDRESSES.dns }, { name: "vips", address: ADDRESSES.vips },
        ...pods.map(({ name, address }) => ({ name, address })),
    ];
}
