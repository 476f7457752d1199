// The arguments of EgressGateway, and the reference that declarations take.
import type * as pulumi from "@pulumi/pulumi";
import type { EnvoyFilters, GatewayConsumers, GatewayMode, Lockdown } from "../model";

/** A port of the gateway's Service. */
export interface GatewayPortArgs {
    /** The Service's port; a host's port must be one of them. */
    number: pulumi.Input<number>;
    /** The port on which the gateway's pods listen for it. */
    targetPort: pulumi.Input<number>;
}

/** An egress gateway, as declarations refer to it. */
export interface GatewayReferenceArgs {
    /** The namespace in which the gateway's pods run. */
    namespace: pulumi.Input<string>;
    /** The labels of the gateway's pods, for example `{istio: "egressgateway"}`. */
    selector: pulumi.Input<{ [label: string]: pulumi.Input<string> }>;
    /** The full name of the gateway's Service, `NAME.NAMESPACE.svc.cluster.local`. */
    serviceHost: pulumi.Input<string>;
    /** The ports of the Service that egress may use. */
    ports: pulumi.Input<pulumi.Input<GatewayPortArgs>[]>;
    /** The version of Istio that runs the gateway, `1.31.0`; what is supported depends on it. */
    istioVersion: pulumi.Input<string>;
    /**
     * Who may use the gateway's hosts: `declared` (each declaration names its consumers) or `all` (the whole mesh).
     * A mode of the whole gateway: the two hide each other's subsets when mixed (measured).
     * @default "declared"
     */
    consumers?: pulumi.Input<GatewayConsumers>;
    /**
     * Whether the gateway denies what no declaration allows: a switch of the whole gateway, which EgressLockdown sets in the
     * reference that it publishes.
     * @default "off"
     */
    lockdown?: pulumi.Input<Lockdown>;
    /**
     * Whether its hosts may write EnvoyFilters, the only way to connect retry of TLS and TCP ports: `allowed` or `forbidden`. Each is
     * narrow: one host's chain and cluster, merged, removed with the host.
     * @default "allowed"; with forbidden the plan says what is lost
     */
    envoyFilters?: pulumi.Input<EnvoyFilters>;
}

/** A port of an egress gateway, one that exists or one to deploy. */
export interface EgressGatewayPortArgs {
    /** The Service's port; a host's port must be one of them. */
    number: pulumi.Input<number>;
    /**
     * The port on which the gateway's pods listen for it. Required for a gateway that exists.
     * @default with mode deploy: the same number
     */
    targetPort?: pulumi.Input<number>;
}

/** How a gateway is deployed. */
export interface GatewayDeploymentArgs {
    /**
     * The longest time that a connection through the gateway may last, a Go duration in whole seconds. A pod that is to go lets
     * its connections end for that long, and goes as soon as the last one has. The limit is the pod's grace period, with
     * endpointRemoval added; terminationDrainDuration is for agents that do not wait for the last connection. Below it streams
     * are cut; above it a stuck connection holds up the drain of a node.
     */
    longestConnection: pulumi.Input<string>;
    /**
     * The name of the gateway's objects. Those of Istio's charts are refused, whose objects it would take over.
     * @default `egressgateway-NAME`
     */
    name?: pulumi.Input<string>;
    /**
     * The revision of istiod that injects the pods (label `istio.io/rev`).
     * @default the one that the namespace's labels choose
     */
    revision?: pulumi.Input<string>;
    /**
     * How long a pod that is to go still serves, until no sidecar knows its address any more (preStop, Kubernetes 1.30 or later).
     * With the endpoint gone first 0 of 400 new connections failed, with the process ended first 47 % (measured).
     * @default "10s"
     */
    endpointRemoval?: pulumi.Input<string>;
    /**
     * Pods at least.
     * @default 2: one may go at any time
     */
    minReplicas?: pulumi.Input<number>;
    /**
     * Pods at most; the same as minReplicas for no autoscaler.
     * @default 5
     */
    maxReplicas?: pulumi.Input<number>;
    /**
     * The share of the requested CPU, in percent, at which the autoscaler adds pods.
     * @default 70
     */
    targetCpuUtilization?: pulumi.Input<number>;
    /**
     * The CPU that a pod requests.
     * @default "200m"
     */
    cpuRequest?: pulumi.Input<string>;
    /**
     * The memory that a pod requests.
     * @default "256Mi"; 1,000 hosts take 220 MB (measured)
     */
    memoryRequest?: pulumi.Input<string>;
    /**
     * The memory at which a pod is ended.
     * @default "1Gi"
     */
    memoryLimit?: pulumi.Input<string>;
    /**
     * Connections of applications that a pod takes at most at a time; it closes each further one at once. Of memoryLimit a third at
     * most may go into them, at 20 KiB for one that waits for a failover (measured). Without effect before Istio 1.29.
     * @default 10000, or what a third of memoryLimit holds, which is less below 586Mi
     */
    maxConnections?: pulumi.Input<number>;
    /**
     * Whether the gateway may read the Secrets of its namespace, all of them, which `tls.credentialName` needs.
     * @default false
     */
    readSecrets?: pulumi.Input<boolean>;
}

/** Arguments of EgressGateway: a gateway that exists, or one to deploy. */
export interface EgressGatewayArgs {
    /**
     * `existing` refers to a gateway and creates nothing; `deploy` creates one, which nothing else may manage.
     * @default "existing"
     */
    mode?: pulumi.Input<GatewayMode>;
    /** The namespace in which the gateway's pods run; it must exist. */
    namespace: pulumi.Input<string>;
    /** The labels of the pods of a gateway that exists, for example `{istio: "egressgateway"}`. Refused with mode deploy. */
    selector?: pulumi.Input<{ [label: string]: pulumi.Input<string> }>;
    /** The full name of the Service of a gateway that exists, `NAME.NAMESPACE.svc.cluster.local`. Refused with mode deploy. */
    serviceHost?: pulumi.Input<string>;
    /**
     * The ports of the Service that egress may use: those that its hosts need (`gatewayPorts` of istio-egress/model lists them). Required for a gateway that exists.
     * @default with mode deploy: [{ number: 443 }]
     */
    ports?: pulumi.Input<pulumi.Input<EgressGatewayPortArgs>[]>;
    /** The version of Istio that runs the gateway, `1.31.0`; what is supported depends on it. */
    istioVersion: pulumi.Input<string>;
    /**
     * Who may use the gateway's hosts: `declared` (each declaration names its consumers) or `all` (the whole mesh).
     * A mode of the whole gateway: the two hide each other's subsets when mixed (measured).
     * @default "declared"
     */
    consumers?: pulumi.Input<GatewayConsumers>;
    /**
     * Whether its hosts may write EnvoyFilters, the only way to connect retry of TLS and TCP ports: `allowed` or `forbidden`. Each is
     * narrow: one host's chain and cluster, merged, removed with the host.
     * @default "allowed"; with forbidden the plan says what is lost
     */
    envoyFilters?: pulumi.Input<EnvoyFilters>;
    /** How the gateway is deployed. Required with mode deploy, refused without. */
    deployment?: pulumi.Input<GatewayDeploymentArgs>;
}

/** A gateway port, as published. */
export interface GatewayPort {
    number: number;
    targetPort: number;
}

/** A gateway reference, as published: pass it on as a declaration's `gateway`. */
export interface GatewayReferenceOutput {
    namespace: string;
    selector: { [label: string]: string };
    serviceHost: string;
    ports: GatewayPort[];
    istioVersion: string;
    consumers: GatewayConsumers;
    lockdown: Lockdown;
    envoyFilters: EnvoyFilters;
}
