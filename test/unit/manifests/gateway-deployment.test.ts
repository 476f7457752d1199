// The objects of a deployed gateway: exact ones, and what its times and ports lead to.
import { expect } from "chai";
import { gatewayDeployment } from "../../../manifests";
import { type Gateway, checkGateway, formatProblem, gatewayPorts, gatewayReference, longestConnection } from "../../../model";
import { declaration } from "../../support/declarations";

const ARGS = { mode: "deploy", namespace: "istio-egress", istioVersion: "1.31.0", deployment: { longestConnection: "15m" } };

function gateway(changes: object = {}): Gateway {
    const result = checkGateway("platform", { ...ARGS, ...changes });
    if (!result.ok) throw new Error(result.problems.map(formatProblem).join("\n"));
    return result.gateway;
}

const problems = (raw: unknown): readonly string[] => {
    const result = checkGateway("platform", raw);
    return result.ok ? [] : result.problems.map(formatProblem);
};
const objects = (changes: object = {}): Record<string, Record<string, unknown>> => Object.fromEntries(gatewayDeployment("platform", gateway(changes)).map(({ key, object }) => [key, object]));

const NAME = "egressgateway-platform", LABELS = { "istio-egress/gateway": NAME };
const metadata = { name: NAME, namespace: "istio-egress", labels: { "app.kubernetes.io/part-of": "istio-egress", ...LABELS } };

describe("a deployed gateway", () => {
    it("has pods that istiod injects, hardened, spread, and last to go of all that knows them", () => {
        const spread = { maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: LABELS }, matchLabelKeys: ["pod-template-hash"] };
        expect(objects()["deployment"]).to.deep.equal({
            apiVersion: "apps/v1", kind: "Deployment", metadata,
            spec: {
                selector: { matchLabels: LABELS },
                strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
                template: {
                    metadata: {
                        labels: { ...LABELS, "sidecar.istio.io/inject": "true" },
                        annotations: { "inject.istio.io/templates": "gateway", "proxy.istio.io/config": '{"terminationDrainDuration":"900s","proxyMetadata":{"ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS":"10000"}}', "sidecar.istio.io/statsInclusionPrefixes": "cluster.outbound" },
                    },
                    spec: {
                        serviceAccountName: NAME, automountServiceAccountToken: false, terminationGracePeriodSeconds: 925,
                        securityContext: { runAsNonRoot: true, runAsUser: 1337, runAsGroup: 1337, fsGroup: 1337, seccompProfile: { type: "RuntimeDefault" }, sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] },
                        topologySpreadConstraints: [{ topologyKey: "topology.kubernetes.io/zone", ...spread }, { topologyKey: "kubernetes.io/hostname", ...spread }],
                        containers: [{
                            name: "istio-proxy", image: "auto", ports: [{ containerPort: 443, protocol: "TCP" }],
                            env: [{ name: "EXIT_ON_ZERO_ACTIVE_CONNECTIONS", value: "true" }],
                            lifecycle: { preStop: { sleep: { seconds: 10 } } },
                            resources: { requests: { cpu: "200m", memory: "256Mi" }, limits: { memory: "1Gi" } },
                            securityContext: { allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
                        }],
                    },
                },
            },
        });
    });

    it("has a Service, an account, a budget and an autoscaler", () => {
        const { deployment, ...others } = objects({ ports: [{ number: 443 }, { number: 5432, targetPort: 15432 }] });
        expect(deployment).to.have.deep.nested.property("spec.template.spec.containers[0].ports", [{ containerPort: 443, protocol: "TCP" }, { containerPort: 15432, protocol: "TCP" }]);
        expect(others).to.deep.equal({
            "service-account": { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
            service: {
                apiVersion: "v1", kind: "Service", metadata,
                spec: { type: "ClusterIP", selector: LABELS, ports: [{ name: "tls-443", port: 443, targetPort: 443, protocol: "TCP" }, { name: "tls-5432", port: 5432, targetPort: 15432, protocol: "TCP" }] },
            },
            "pod-disruption-budget": { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: LABELS } } },
            autoscaler: {
                apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata,
                spec: {
                    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: NAME }, minReplicas: 2, maxReplicas: 5,
                    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
                    behavior: { scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: "Pods", value: 1, periodSeconds: 300 }] } },
                },
            },
        });
    });

    it("has a fixed number of pods without an autoscaler, and may read Secrets only when asked to", () => {
        const found = objects({ deployment: { longestConnection: "1h", endpointRemoval: "20s", minReplicas: 3, maxReplicas: 3, readSecrets: true, revision: "canary", name: "partners" } });
        expect(found).to.not.have.property("autoscaler");
        expect(found["deployment"]).to.deep.nested.include({ "spec.replicas": 3, "spec.template.spec.terminationGracePeriodSeconds": 3635, "spec.template.metadata.labels.istio\\.io/rev": "canary", "metadata.name": "partners" });
        expect(found["role"]).to.have.deep.property("rules", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch", "list"] }]);
        expect(found["role-binding"]).to.deep.include({ roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "partners" }, subjects: [{ kind: "ServiceAccount", name: "partners", namespace: "istio-egress" }] });
    });

    it("is what its reference says", () => {
        expect(gatewayReference("platform", gateway({ ports: [{ number: 443 }, { number: 636, targetPort: 1636 }] }))).to.deep.equal({
            namespace: "istio-egress", selector: LABELS, serviceHost: `${NAME}.istio-egress.svc.cluster.local`, consumers: "declared", istioVersion: "1.31.0", lockdown: "off", envoyFilters: "allowed",
            ports: [{ number: 443, targetPort: 443 }, { number: 636, targetPort: 1636 }],
        });
    });

    it("takes its ports and its drain from its hosts", () => {
        const hosts = [
            declaration({ failover: { detectionTime: "1s", dnsTtl: "1s", longestConnection: "15m" } }),
            declaration({ route: "tls-origination", ports: [{ number: 80, protocol: "HTTP", targetPort: 8443 }] }),
            declaration({ route: "direct", gateway: undefined, ports: [{ number: 9000 }], failover: { detectionTime: "1s", dnsTtl: "1s", longestConnection: "14m" } }),
        ];
        expect(gatewayPorts(hosts)).to.deep.equal([{ number: 443 }, { number: 8443 }]);
        expect(longestConnection(hosts)).to.equal("15m");
        expect(longestConnection([declaration({ failover: undefined })])).to.equal(undefined);
    });
});

describe("checkGateway", () => {
    const existing = { namespace: "istio-egress", selector: { istio: "egressgateway" }, serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local", ports: [{ number: 443, targetPort: 8443 }], istioVersion: "1.31.0" };
    const bad: readonly (readonly [name: string, raw: object, messages: readonly string[]])[] = [
        ["a gateway that exists, and its deployment", { ...existing, deployment: { longestConnection: "1m" } }, ["deployment has no effect on a gateway that exists: choose mode deploy, or remove it."]],
        ["one to deploy that exists", { ...existing, mode: "deploy", deployment: { longestConnection: "1m" } }, [
            'selector is {"istio":"egressgateway"}, which names a gateway that exists, but the mode is deploy: choose mode existing, or remove it; the gateway that is created has its own.',
            'serviceHost is "istio-egressgateway.istio-egress.svc.cluster.local", which names a gateway that exists, but the mode is deploy: choose mode existing, or remove it; the gateway that is created has its own.',
        ]],
        ["one that exists and is not named", { namespace: "istio-egress", istioVersion: "1.31.0" }, ["selector", "serviceHost", "ports"].map((field) => `${field} is missing: a gateway that exists is found by it; with mode deploy one is created.`)],
        ["a port that nobody knows", { ...existing, ports: [{ number: 443 }] }, ["ports[0].targetPort is missing: The port on which the gateway's pods listen for it."]],
        ["one to deploy of no known lifetime", { ...ARGS, deployment: undefined }, ["deployment is missing: mode deploy needs at least deployment.longestConnection, how long connections through the gateway may last."]],
        ["the name of a chart's gateway", { ...ARGS, deployment: { longestConnection: "1m", name: "istio-egressgateway" } }, ['deployment.name is "istio-egressgateway", the name of the gateway of Istio\'s charts, whose objects this one would take over: choose another, or mode existing.']],
        ["fewer pods at most than at least", { ...ARGS, deployment: { longestConnection: "1m", minReplicas: 3, maxReplicas: 2 } }, ["deployment.maxReplicas is 2, but minReplicas is 3: raise it."]],
        ["more connections than its memory holds", { ...ARGS, deployment: { longestConnection: "1m", memoryLimit: "512Mi", maxConnections: 10_000 } }, ["deployment.maxConnections is 10000: so many connections that wait for a failover take 196 MiB of a pod, more than a third of memoryLimit (512Mi), which may end it: set it to 8738 or less, or raise memoryLimit."]],
        ["a limit of the same size in other units", { ...ARGS, deployment: { longestConnection: "1m", memoryLimit: "0.5G", maxConnections: 8139 } }, ["deployment.maxConnections is 8139: so many connections that wait for a failover take 159 MiB of a pod, more than a third of memoryLimit (0.5G), which may end it: set it to 8138 or less, or raise memoryLimit."]],
        ["a limit that holds no connection at all", { ...ARGS, deployment: { longestConnection: "1m", memoryLimit: "1000m", maxConnections: 10_000 } }, ["deployment.maxConnections is 10000: so many connections that wait for a failover take 196 MiB of a pod, more than a third of memoryLimit (1000m), which may end it: raise memoryLimit."]],
        ["half a second", { ...ARGS, deployment: { longestConnection: "1.5s" } }, ['deployment.longestConnection is "1.5s", but Kubernetes takes whole seconds: round it.']],
        ["a port of the proxy's own", { ...ARGS, ports: [{ number: 15021 }] }, ["ports[0].targetPort is 15021, on which istio-proxy itself listens: give another targetPort."]],
        ["a port twice", { ...ARGS, ports: [{ number: 443 }, { number: 443, targetPort: 8443 }] }, ["ports[1].number is 443, which ports[0] declares already: remove one of them."]],
    ];
    for (const [name, raw, messages] of bad) it(`refuses ${name}`, () => expect(problems(raw)).to.deep.equal(messages));

    it("takes fewer by default where its memory holds fewer, and one at least", () => {
        for (const [memoryLimit, number] of [["1Gi", 10_000], ["512Mi", 8738], ["1000m", 1]] as const) {
            const annotations = objects({ deployment: { longestConnection: "1m", memoryLimit } })["deployment"];
            expect(annotations, memoryLimit).to.have.deep.nested.property("spec.template.metadata.annotations.proxy\\.istio\\.io/config", `{"terminationDrainDuration":"60s","proxyMetadata":{"ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS":"${String(number)}"}}`);
        }
    });

    it("takes as many connections as a third of its memory holds, and writes that number", () => {
        const deployment = { longestConnection: "1m", memoryLimit: "512Mi", maxConnections: 8738 };
        expect(problems({ ...ARGS, deployment })).to.deep.equal([]);
        expect(objects({ deployment })["deployment"]).to.have.deep.nested.property("spec.template.metadata.annotations.proxy\\.istio\\.io/config", '{"terminationDrainDuration":"60s","proxyMetadata":{"ISTIO_META_GLOBAL_DOWNSTREAM_MAX_CONNECTIONS":"8738"}}');
    });

    it("accepts a gateway that exists, as before", () => expect(problems(existing)).to.deep.equal([]));
});
