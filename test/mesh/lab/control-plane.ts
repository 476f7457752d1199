// The lab's control plane in its own namespace: API server, istiod, and the objects that every mesh has before anybody declares a host.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { startApiServer } from "../../support/api-server";
import { ISTIOD_HOST, ISTIOD_PORTS, startIstiod } from "../../support/istiod";
import { Cluster } from "./cluster";
import { folderOf } from "./folder";
import { GATEWAY, GATEWAY_SERVICE, NAMESPACES, SECOND_POD, consumerPod, gatewayPod } from "./layout";
import { inNamespace } from "./network";

/** One JSON object a line, in every proxy's log: who spoke to whom, under which names, and why it ended. */
const ACCESS_LOG = {
    start: "%START_TIME%", durationMs: "%DURATION%", flags: "%RESPONSE_FLAGS%", sni: "%REQUESTED_SERVER_NAME%", cluster: "%UPSTREAM_CLUSTER%", upstream: "%UPSTREAM_HOST%",
    client: "%DOWNSTREAM_REMOTE_ADDRESS%", dialled: "%DOWNSTREAM_LOCAL_ADDRESS%", clientIdentity: "%DOWNSTREAM_PEER_URI_SAN%", ownIdentity: "%DOWNSTREAM_LOCAL_URI_SAN%", tls: "%DOWNSTREAM_TLS_VERSION%",
    upstreamIdentity: "%UPSTREAM_PEER_URI_SAN%", upstreamFailure: "%UPSTREAM_TRANSPORT_FAILURE_REASON%", received: "%BYTES_RECEIVED%", sent: "%BYTES_SENT%", details: "%CONNECTION_TERMINATION_DETAILS%", code: "%RESPONSE_CODE_DETAILS%",
    chain: "%FILTER_CHAIN_NAME%", attempts: "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
} as const;

const MESH = {
    accessLogFile: "/dev/stdout", accessLogEncoding: "JSON", accessLogFormat: JSON.stringify(ACCESS_LOG), enableAutoMtls: true, trustDomain: "cluster.local",
    defaultConfig: { discoveryAddress: `${ISTIOD_HOST}:${String(ISTIOD_PORTS.secure)}` },
};

/** Filters that only Istio's own build of Envoy has. */
const STOCK_ENVOY = { PILOT_ENABLE_METADATA_EXCHANGE: "false", PILOT_ENABLE_ALPN_FILTER: "false" };

export interface ControlPlane { readonly token: string; readonly cluster: Cluster }

export async function startControlPlane(lab: string, relay: string): Promise<ControlPlane> {
    const prefix = inNamespace(lab, "control"), folder = path.join(folderOf(lab), "control");
    mkdirSync(folder);
    const server = await startApiServer({ folder, prefix, relay });
    const cluster = new Cluster(server.request);
    const istiodFolder = path.join(folder, "istiod");
    mkdirSync(istiodFolder);
    await Promise.all([
        startIstiod(server, { folder: istiodFolder, prefix, mesh: MESH, env: STOCK_ENVOY }),
        applyBase(cluster),
    ]);
    writeFileSync(rootCertificateFile(lab), await rootCertificate(cluster));
    return { token: server.token, cluster };
}

/** istiod watches the file. */
export function writeMesh(lab: string, change: Readonly<Record<string, unknown>>): void {
    writeFileSync(path.join(folderOf(lab), "control/istiod/mesh.yaml"), stringify({ ...MESH, ...change }));
}

export function kubeconfigOf(lab: string): string {
    return path.join(folderOf(lab), "control/kubeconfig");
}

/** Of istiod's authority, for the proxies. */
export function rootCertificateFile(lab: string): string {
    return path.join(folderOf(lab), "control/root-cert.pem");
}

async function rootCertificate({ request }: Cluster): Promise<string> {
    const { body } = await request("GET", "/api/v1/namespaces/istio-system/secrets/istio-ca-secret");
    const encoded = (body as { data?: Record<string, string> }).data?.["ca-cert.pem"];
    if (encoded === undefined) throw new Error(`istiod has not published its authority's certificate: ${JSON.stringify(body).slice(0, 300)}`);
    return Buffer.from(encoded, "base64").toString("utf8");
}

async function applyBase(cluster: Cluster): Promise<void> {
    const namespaces = [NAMESPACES.hosts, NAMESPACES.gateway, ...NAMESPACES.consumers];
    const pods = [gatewayPod(0), ...NAMESPACES.consumers.map(consumerPod), SECOND_POD];
    await cluster.apply(namespaces.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
    await cluster.apply([
        { apiVersion: "v1", kind: "Node", metadata: { name: "lab", labels: { "topology.kubernetes.io/region": "r1", "topology.kubernetes.io/zone": "z1" } } },
        ...pods.map(({ namespace, serviceAccount }) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: serviceAccount, namespace } })),
        {
            apiVersion: "v1", kind: "Service", metadata: { name: GATEWAY_SERVICE.name, namespace: NAMESPACES.gateway, labels: GATEWAY.selector },
            spec: { clusterIP: GATEWAY_SERVICE.clusterIp, selector: GATEWAY.selector, ports: GATEWAY.ports.map(({ number, targetPort }) => ({ name: `tls-${String(number)}`, port: number, targetPort, protocol: "TCP" })) },
        },
    ]);
}
