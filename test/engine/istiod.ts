// A real istiod beside the API server of a test, with its validating webhook in force for every object of Istio's.
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { locate } from "../../tools/setup/install";
import type { ApiServer } from "./api-server";
import { Daemons, freePorts } from "./daemons";
import { temporaryFolder } from "./harness";

const WEBHOOK = "istio-validator-istio-system";
const WEBHOOK_URL = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

export interface Istiod {
    readonly stop: () => Promise<void>;
}

/** Starts istiod on loopback ports and waits until its webhook refuses what is wrong. */
export async function startIstiod(server: ApiServer): Promise<Istiod> {
    const folder = await temporaryFolder(), daemons = new Daemons(folder);
    const stop = async (): Promise<void> => {
        await daemons.stop();
        await rm(folder, { recursive: true, force: true });
    };
    try {
        const [http, https, grpc, secure, monitoring] = await freePorts(5) as [number, number, number, number, number];
        await registerWebhook(server, https);
        const mesh = path.join(folder, "mesh.yaml");
        await mkdir(folder, { recursive: true });
        await writeFile(mesh, stringify({ defaultConfig: { discoveryAddress: "istiod.istio-system.svc:15012" } }));
        const settings = {
            POD_NAME: "istiod-0", POD_NAMESPACE: "istio-system", CLUSTER_ID: "Kubernetes", REVISION: "default", PILOT_CERT_PROVIDER: "istiod",
            VALIDATION_WEBHOOK_CONFIG_NAME: WEBHOOK, INJECTION_WEBHOOK_CONFIG_NAME: "", INJECT_ENABLED: "false", ENABLE_LEADER_ELECTION: "false", PILOT_ENABLE_GATEWAY_API: "false",
        };
        daemons.start("env", [
            ...Object.entries(settings).map(([name, value]) => `${name}=${value}`), await locate("pilot-discovery"), "discovery",
            `--kubeconfig=${server.kubeconfig}`, `--meshConfig=${mesh}`, "--namespace=istio-system", "--clusterID=Kubernetes", "--domain=cluster.local", "--registries=Kubernetes",
            `--httpAddr=127.0.0.1:${String(http)}`, `--httpsAddr=127.0.0.1:${String(https)}`, `--grpcAddr=127.0.0.1:${String(grpc)}`,
            `--secureGRPCAddr=127.0.0.1:${String(secure)}`, `--monitoringAddr=127.0.0.1:${String(monitoring)}`, "--ctrlz_port=0",
        ]);
        await daemons.until("istiod's webhook", async () => {
            const { status, body } = await server.request("POST", "/apis/networking.istio.io/v1/namespaces/default/destinationrules?dryRun=All", REFUSED);
            return status === 400 && body.message?.includes("denied the request") === true;
        });
        return { stop };
    } catch (error) {
        await stop();
        throw error;
    }
}

/** The schema accepts it, and Istio's own validation does not: consecutiveLocalOriginFailures without the split. */
const REFUSED = {
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "refused", namespace: "default" },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutiveLocalOriginFailures: 3 } } },
};

/** The API server finds the webhook as in a cluster, by a Service; this one leads to loopback. istiod writes its certificate into the configuration. */
async function registerWebhook({ request }: ApiServer, port: number): Promise<void> {
    await request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "istiod", namespace: "istio-system" }, spec: { type: "ExternalName", externalName: "localhost" } };
    const webhook = {
        name: "validation.istio.io", failurePolicy: "Ignore", sideEffects: "None", admissionReviewVersions: ["v1"],
        clientConfig: { service: { name: "istiod", namespace: "istio-system", path: "/validate", port } },
        rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: ["networking.istio.io", "security.istio.io"], apiVersions: ["*"], resources: ["*"] }],
    };
    const configuration = {
        apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration",
        metadata: { name: WEBHOOK, labels: { "istio.io/rev": "default", app: "istiod" } }, webhooks: [webhook],
    };
    for (const [url, object] of [["/api/v1/namespaces/istio-system/services", service], [WEBHOOK_URL, configuration]] as const) {
        const { status, body } = await request("POST", url, object);
        if (status !== 201) throw new Error(`The API server refuses ${object.kind}: ${body.message ?? String(status)}`);
    }
}
