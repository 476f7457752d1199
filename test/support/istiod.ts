// A real istiod beside the API server of a test, with its validating webhook in force for every object of Istio's.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { locate } from "../../tools/setup/install";
import type { ApiServer } from "./api-server";
import { type DaemonsPlace, freePorts, startDaemons } from "./daemons";

const WEBHOOK = "istio-validator-istio-system";
const WEBHOOK_URL = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const DISCOVERY = "istiod.istio-system.svc:15012";

export interface Istiod {
    readonly stop: () => Promise<void>;
}

/** Where istiod runs when not on this machine's loopback: in a network namespace that proxies reach, on Istio's own ports. */
export interface IstiodPlace extends DaemonsPlace {
    /** Over the settings of every test. */
    readonly env: NodeJS.ProcessEnv;
    /** The mesh's configuration. */
    readonly mesh: Readonly<Record<string, unknown>>;
}

/** istiod's own ports in a namespace of its own. */
export const ISTIOD_PORTS = { http: 8080, webhook: 15017, secure: 15012, monitoring: 15014 } as const;
/** The name by which proxies and the API server know istiod. */
export const ISTIOD_HOST = "istiod.istio-system.svc";

/** Starts istiod and waits until its webhook refuses what is wrong. */
export async function startIstiod(server: ApiServer, place?: IstiodPlace): Promise<Istiod> {
    return startDaemons(place, async (daemons, folder) => {
        const { addresses, webhook } = place === undefined ? await onLoopback() : inNamespace();
        await registerWebhook(server, webhook);
        const mesh = path.join(folder, "mesh.yaml");
        await writeFile(mesh, stringify(place?.mesh ?? { defaultConfig: { discoveryAddress: DISCOVERY } }));
        daemons.start(await locate("pilot-discovery"), [
            "discovery", `--kubeconfig=${server.kubeconfig}`, `--meshConfig=${mesh}`, "--namespace=istio-system", "--clusterID=Kubernetes", "--domain=cluster.local",
            "--registries=Kubernetes", "--ctrlz_port=0", ...addresses,
        ], { env: { ...SETTINGS, ...place?.env } });
        await daemons.until("istiod's webhook", async () => {
            const { status, body } = await server.request("POST", "/apis/networking.istio.io/v1/namespaces/default/destinationrules?dryRun=All", REFUSED);
            return status === 400 && body.message?.includes("denied the request") === true;
        });
        return {};
    });
}

const SETTINGS = {
    POD_NAME: "istiod-0", POD_NAMESPACE: "istio-system", CLUSTER_ID: "Kubernetes", REVISION: "default", PILOT_CERT_PROVIDER: "istiod",
    VALIDATION_WEBHOOK_CONFIG_NAME: WEBHOOK, INJECTION_WEBHOOK_CONFIG_NAME: "", INJECT_ENABLED: "false", ENABLE_LEADER_ELECTION: "false", PILOT_ENABLE_GATEWAY_API: "false",
};

/** The schema accepts it, and Istio's own validation does not: consecutiveLocalOriginFailures without the split. */
const REFUSED = {
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "refused", namespace: "default" },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutiveLocalOriginFailures: 3 } } },
};

interface Addresses { readonly addresses: readonly string[]; readonly webhook: Readonly<Record<string, unknown>> }

/** The API server finds the webhook as in a cluster, by a Service; this one leads to loopback. */
async function onLoopback(): Promise<Addresses> {
    const ports = await freePorts(5);
    const flags = ["httpAddr", "httpsAddr", "grpcAddr", "secureGRPCAddr", "monitoringAddr"];
    return {
        addresses: flags.map((flag, index) => `--${flag}=127.0.0.1:${String(ports[index])}`),
        webhook: { service: { name: "istiod", namespace: "istio-system", path: "/validate", port: ports[1] } },
    };
}

function inNamespace(): Addresses {
    const { http, webhook, secure, monitoring } = ISTIOD_PORTS;
    return {
        addresses: [`--httpAddr=127.0.0.1:${String(http)}`, `--httpsAddr=:${String(webhook)}`, "--grpcAddr=127.0.0.1:15010", `--secureGRPCAddr=:${String(secure)}`, `--monitoringAddr=127.0.0.1:${String(monitoring)}`],
        webhook: { url: `https://${ISTIOD_HOST}:${String(webhook)}/validate` },
    };
}

/** istiod writes its certificate into the configuration. */
async function registerWebhook({ request }: ApiServer, clientConfig: Addresses["webhook"]): Promise<void> {
    await request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "istio-system" } });
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "istiod", namespace: "istio-system" }, spec: { type: "ExternalName", externalName: "localhost" } };
    const webhook = {
        name: "validation.istio.io", failurePolicy: "Ignore", sideEffects: "None", admissionReviewVersions: ["v1"], clientConfig,
        rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: ["networking.istio.io", "security.istio.io"], apiVersions: ["*"], resources: ["*"] }],
    };
    const configuration = {
        apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration",
        metadata: { name: WEBHOOK, labels: { "istio.io/rev": "default", app: "istiod" } }, webhooks: [webhook],
    };
    const objects = [...("service" in clientConfig ? [["/api/v1/namespaces/istio-system/services", service] as const] : []), [WEBHOOK_URL, configuration] as const];
    for (const [url, object] of objects) {
        const { status, body } = await request("POST", url, object);
        if (status !== 201) throw new Error(`The API server refuses ${object.kind}: ${body.message ?? String(status)}`);
    }
}
