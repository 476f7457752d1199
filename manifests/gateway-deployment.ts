// The objects of a deployed egress gateway: pods that istiod injects, the Service in front of them, and what keeps them serving.
import { GATEWAY_LABEL, type Gateway, type GatewayDeployment, decideMaxConnections, decideTermination, gatewayObjectName, gatewayReference, toSeconds } from "../model";
import { type PlainObject, type SupportManifest, supportObject } from "./support";

/** The user of istio-proxy (istio's injection templates). */
const PROXY_USER = 1337;
/** What turns on the statistics of connections to hosts; by default a proxy has none (docs/gateway.md). */
const STATISTICS = { "sidecar.istio.io/statsInclusionPrefixes": "cluster.outbound" };

export function gatewayDeployment(name: string, gateway: Gateway): readonly SupportManifest[] {
    const { deployment } = gateway;
    if (deployment === undefined) return [];
    const object = gatewayObjectName(name, gateway), labels = { [GATEWAY_LABEL]: object };
    const make = (kind: keyof typeof VERSIONS, fields: Readonly<Record<string, unknown>>): PlainObject => supportObject(VERSIONS[kind], kind, { name: object, namespace: gateway.namespace, labels }, fields);
    return [
        { key: "service-account", object: make("ServiceAccount", { automountServiceAccountToken: false }) },
        ...(deployment.readSecrets ? [
            { key: "role", object: make("Role", { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch", "list"] }] }) },
            { key: "role-binding", object: make("RoleBinding", { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: object }, subjects: [{ kind: "ServiceAccount", name: object, namespace: gateway.namespace }] }) },
        ] : []),
        { key: "service", object: make("Service", { spec: service(name, gateway) }) },
        { key: "pod-disruption-budget", object: make("PodDisruptionBudget", { spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: labels } } }) },
        // Not after the Service: Pulumi waits for a Service's endpoints, which are these pods.
        { key: "deployment", after: ["service-account", "role-binding"], object: make("Deployment", { spec: podsOf(object, gateway, deployment) }) },
        ...(deployment.maxReplicas > deployment.minReplicas ? [{ key: "autoscaler", after: ["deployment"], object: make("HorizontalPodAutoscaler", { spec: autoscaler(object, deployment) }) }] : []),
    ];
}

const VERSIONS = {
    ServiceAccount: "v1", Service: "v1", Role: "rbac.authorization.k8s.io/v1", RoleBinding: "rbac.authorization.k8s.io/v1",
    PodDisruptionBudget: "policy/v1", Deployment: "apps/v1", HorizontalPodAutoscaler: "autoscaling/v2",
} as const;

function service(name: string, gateway: Gateway): object {
    const { ports, selector } = gatewayReference(name, gateway);
    return { type: "ClusterIP", selector, ports: ports.map(({ number, targetPort }) => ({ name: `tls-${number}`, port: number, targetPort, protocol: "TCP" })) };
}

function podsOf(object: string, gateway: Gateway, deployment: GatewayDeployment): object {
    const labels = { [GATEWAY_LABEL]: object }, { drainSeconds, graceSeconds } = decideTermination(deployment);
    const spread = (topologyKey: string): object => ({ topologyKey, maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels }, matchLabelKeys: ["pod-template-hash"] });
    return {
        // An autoscaler's own figure is left alone.
        ...(deployment.maxReplicas > deployment.minReplicas ? {} : { replicas: deployment.minReplicas }),
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: {
            metadata: {
                labels: { ...labels, "sidecar.istio.io/inject": "true", ...(deployment.revision === undefined ? {} : { "istio.io/rev": deployment.revision }) },
                annotations: {
                    "inject.istio.io/templates": "gateway",
                    "proxy.istio.io/config": JSON.stringify({
                        terminationDrainDuration: toSeconds(drainSeconds * 1000),
                        // Of all listeners together. The agent reads it from Istio 1.29 on (its change notes), and here only: as the container's environment it has no effect (measured).
                        proxyMetadata: { ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS: String(decideMaxConnections(deployment)) },
                    }),
                    ...STATISTICS,
                },
            },
            spec: {
                serviceAccountName: object,
                automountServiceAccountToken: false,
                terminationGracePeriodSeconds: graceSeconds,
                securityContext: {
                    runAsNonRoot: true, runAsUser: PROXY_USER, runAsGroup: PROXY_USER, fsGroup: PROXY_USER, seccompProfile: { type: "RuntimeDefault" },
                    // Ports below 1024 without a privilege; the injection template of gateways sets the same.
                    sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
                },
                topologySpreadConstraints: [spread("topology.kubernetes.io/zone"), spread("kubernetes.io/hostname")],
                containers: [proxy(gateway, deployment)],
            },
        },
    };
}

/** What istiod's template leaves open. */
function proxy({ ports }: Gateway, deployment: GatewayDeployment): object {
    const { cpuRequest, memoryRequest, memoryLimit } = deployment;
    const listened = [...new Set((ports ?? [{ number: 443, targetPort: 443 }]).map(({ number, targetPort = number }) => targetPort))];
    return {
        name: "istio-proxy",
        image: "auto",
        ports: listened.map((containerPort) => ({ containerPort, protocol: "TCP" })),
        // The drain ends with the last connection; the agent then waits without a limit of its own (istio, pkg/envoy/agent.go): the grace period is the limit.
        env: [{ name: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS", value: "true" }],
        // Kubernetes takes the pod's address out of the Service and ends the pod at the same moment; the proxies learn of it a moment later.
        lifecycle: { preStop: { sleep: { seconds: decideTermination(deployment).preStopSeconds } } },
        resources: { requests: { cpu: cpuRequest, memory: memoryRequest }, limits: { memory: memoryLimit } },
        securityContext: { allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
    };
}

function autoscaler(object: string, { minReplicas, maxReplicas, targetCpuUtilization }: GatewayDeployment): object {
    return {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: object },
        minReplicas, maxReplicas,
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: targetCpuUtilization } } }],
        // A pod that goes takes its streams with it after the drain: one at a time, and not for a moment's lull.
        behavior: { scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: "Pods", value: 1, periodSeconds: 300 }] } },
    };
}
