// Looks at the cluster: what the checks need, and nothing else. Nothing is written; access reviews are questions.
import type { AppsV1Api, CoreV1Api } from "@kubernetes/client-node";
import { parse } from "yaml";
import { AUTHORIZATION_POLICY, type IstioKind, SECURITY_VERSION } from "../../model";
import { isMap } from "../plain";
import { collectDenied } from "./access";
import { ISTIO_GROUP } from "./checks/crds";
import { rootNamespace } from "./checks/mesh-values";
import { RESOURCES } from "./checks/permissions";
import { type Client, type Cluster, absentAsUndefined } from "./client";
import { injectorOf, istiodOf, istioObjectOf, namespaceOf, podOf, serviceOf } from "./convert";
import type { GatewayNeed, Needs } from "./needs";
import type { IstioObject, Listed, MeshConfig, Pod, Seen, Service, Snapshot } from "./snapshot";

interface Apis {
    readonly core: CoreV1Api;
    readonly apps: AppsV1Api;
    readonly client: Client;
    readonly cluster: Cluster;
}

/** Enough of a consumer's pods to know whether they ask for sidecars themselves. */
const CONSUMER_PODS = 200;
const DEFAULT_REVISION = "default";
const INJECTION_LABELS = ["istio-injection", "istio.io/rev"];

export async function collect(client: Client, cluster: Cluster, needs: Needs, istioNamespace: string): Promise<Snapshot> {
    const apis: Apis = { client, cluster, core: cluster.api(client.CoreV1Api), apps: cluster.api(client.AppsV1Api) };
    const [served, control, injectors, namespaces, gateways, denied] = await Promise.all([
        collectServed(apis), collectControlPlane(apis, istioNamespace), collectInjectors(apis), collectNamespaces(apis, needs), collectGateways(apis, needs), collectDenied(client, cluster, needs),
    ]);
    const root = rootNamespace({ meshes: control.meshes, istioNamespace });
    const [objects, policies] = await Promise.all([collectObjects(apis, needs, istioNamespace, served), collectPolicies(apis, needs, root)]);
    return { served, istioNamespace, ...control, injectors, ...namespaces, ...gateways, denied, ...objects, policies };
}

function collectServed({ client, cluster }: Apis): Promise<Snapshot["served"]> {
    const apis = cluster.api(client.ApisApi), custom = cluster.api(client.CustomObjectsApi), action = `discover the kinds of ${ISTIO_GROUP}`;
    return chain(cluster.look(action, () => apis.getAPIVersions()), async ({ groups }) => {
        const versions = groups.find(({ name }) => name === ISTIO_GROUP)?.versions.map(({ version }) => version) ?? [];
        const kinds = await Promise.all(versions.map((version) => cluster.look(action, () => custom.getAPIResources({ group: ISTIO_GROUP, version }))));
        const unseen = kinds.find((one) => !one.seen);
        if (unseen !== undefined) return unseen;
        return { seen: true, value: new Map(versions.map((version, index) => [version, kinds[index]?.seen === true ? kinds[index].value.resources.map(({ kind }) => kind) : []])) };
    });
}

async function collectControlPlane({ cluster, apps, core }: Apis, namespace: string): Promise<Pick<Snapshot, "istiods" | "meshes">> {
    const action = `list deployments in namespace ${namespace}`;
    const istiods = await chain(cluster.look(action, () => apps.listNamespacedDeployment({ namespace, labelSelector: "app=istiod" })), ({ items }) => ({ seen: true, value: items.map(istiodOf) }));
    const revisions = istiods.seen ? [...new Set(istiods.value.map(({ revision }) => revision))] : [];
    const names = (revisions.length === 0 ? [DEFAULT_REVISION] : revisions).map((revision) => (revision === DEFAULT_REVISION ? "istio" : `istio-${revision}`));
    const meshes = await meshConfigs(cluster, core, namespace, names);
    return { istiods, meshes };
}

/** The mesh configurations in istiod's ConfigMaps. */
export function meshConfigs(cluster: Cluster, core: CoreV1Api, namespace: string, names: readonly string[]): Promise<readonly MeshConfig[]> {
    return Promise.all(names.map(async (name): Promise<MeshConfig> => ({
        object: `${namespace}/${name}`,
        config: await chain(cluster.lookUp(`get configmap ${name} in namespace ${namespace}`, () => core.readNamespacedConfigMap({ name, namespace })), (map) => ({ seen: true, value: meshOf(map?.data?.["mesh"]) })),
    })));
}

/** What a ConfigMap's text holds; undefined where it is not the YAML of a map. */
function meshOf(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
    try {
        const value: unknown = text === undefined ? undefined : parse(text);
        return isMap(value) ? value : undefined;
    } catch {
        return undefined;
    }
}

function collectInjectors({ client, cluster }: Apis): Promise<Snapshot["injectors"]> {
    const api = cluster.api(client.AdmissionregistrationV1Api);
    return chain(cluster.look("list mutatingwebhookconfigurations", () => api.listMutatingWebhookConfiguration({ labelSelector: "app=sidecar-injector" })), ({ items }) => ({ seen: true, value: items.map(injectorOf) }));
}

async function collectNamespaces({ cluster, core }: Apis, { namespaces }: Needs): Promise<Pick<Snapshot, "namespaces" | "consumerPods">> {
    const consumerPods = new Map<string, Seen<readonly Pod[]>>();
    const seen = await Promise.all(namespaces.map(async ({ name, consumed }) => {
        const found = await chain(cluster.lookUp(`get namespace ${name}`, () => core.readNamespace({ name })), (namespace) => ({ seen: true, value: namespace === undefined ? undefined : namespaceOf(namespace) }));
        const labels = found.seen ? found.value?.labels : undefined;
        if (consumed.length > 0 && labels !== undefined && !INJECTION_LABELS.some((label) => label in labels)) {
            const pods = await cluster.look(`list pods in namespace ${name}`, () => core.listNamespacedPod({ namespace: name, limit: CONSUMER_PODS }));
            consumerPods.set(name, pods.seen ? { seen: true, value: livePods(pods.value) } : pods);
        }
        return [name, found] as const;
    }));
    return { namespaces: new Map(seen), consumerPods };
}

async function collectGateways(apis: Apis, { gateways }: Needs): Promise<Pick<Snapshot, "services" | "gatewayPods">> {
    const services = new Map<string, Seen<Service | undefined>>();
    const gatewayPods = await Promise.all(gateways.map(async (gateway) => {
        const { name, namespace } = gateway.service;
        const service = await chain(apis.cluster.lookUp(`get service ${name} in namespace ${namespace}`, () => apis.core.readNamespacedService({ name, namespace })), (found) => ({ seen: true, value: found === undefined ? undefined : serviceOf(found) }));
        services.set(gateway.reference.serviceHost, service);
        return [gateway.key, await collectGatewayPods(apis, gateway, service.seen ? service.value : undefined)] as const;
    }));
    return { services, gatewayPods: new Map(gatewayPods) };
}

/** The pods that the gateway's selector takes, and those that the Service takes. */
async function collectGatewayPods({ cluster, core }: Apis, { reference: { namespace, selector } }: GatewayNeed, service: Service | undefined): Promise<Seen<readonly Pod[]>> {
    const selectors = [selector, ...(service === undefined || Object.keys(service.selector).length === 0 ? [] : [service.selector])];
    const lists = await Promise.all(selectors.map((labels) => {
        const labelSelector = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(",");
        return cluster.lookThrough(`list pods in namespace ${namespace}`, (limit, _continue) => core.listNamespacedPod({ namespace, labelSelector, limit, _continue }));
    }));
    const pods = new Map<string, Pod>();
    for (const list of lists) {
        if (!list.seen) return list;
        for (const pod of livePods({ items: list.value })) pods.set(pod.name, pod);
    }
    return { seen: true, value: [...pods.values()] };
}

/** Without those that have ended or are being deleted: they serve nobody. */
function livePods({ items }: { readonly items: readonly Parameters<typeof podOf>[0][] }): readonly Pod[] {
    return items.filter(({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed").map(podOf);
}

async function collectObjects({ client, cluster }: Apis, needs: Needs, istioNamespace: string, served: Snapshot["served"]): Promise<Pick<Snapshot, "objects" | "sidecars">> {
    const custom = cluster.api(client.CustomObjectsApi), wanted = new Set(needs.objects.map(({ kind }) => kind));
    // Without the right to see all namespaces, the ones that the catalogue names say most.
    const namespaces = [...new Set([...needs.namespaces.map(({ name }) => name), istioNamespace])];
    const list = async (kind: IstioObject["kind"], plural: string): Promise<Listed> => {
        // Kinds that are not served cannot be listed, and the check of the served kinds has said so.
        const version = served.seen ? [...served.value].find(([, kinds]) => kinds.includes(kind))?.[0] : "v1";
        if (version === undefined) return { objects: [], unseen: [] };
        const everywhere = await cluster.lookThrough<unknown>(`list ${plural} in all namespaces`, (limit, _continue) => custom.listClusterCustomObject({ group: ISTIO_GROUP, version, plural, limit, _continue }) as Promise<{ items: unknown[] }>);
        if (everywhere.seen) return { objects: istioObjects(kind, everywhere.value), unseen: [] };
        const some = await Promise.all(namespaces.map((namespace) => cluster.lookThrough<unknown>(`list ${plural} in namespace ${namespace}`, (limit, _continue) => custom.listNamespacedCustomObject({ group: ISTIO_GROUP, version, plural, namespace, limit, _continue }) as Promise<{ items: unknown[] }>)));
        return { objects: some.flatMap((one) => (one.seen ? istioObjects(kind, one.value) : [])), unseen: [everywhere.why, ...some.flatMap((one) => (one.seen ? [] : [one.why]))] };
    };
    const kinds = Object.keys(RESOURCES) as IstioKind[];
    const [sidecars, ...lists] = await Promise.all([list("Sidecar", "sidecars"), ...kinds.map((kind) => (wanted.has(kind) ? list(kind, RESOURCES[kind]) : { objects: [], unseen: [] }))]);
    return { sidecars, objects: Object.fromEntries(kinds.map((kind, index) => [kind, lists[index]])) as Record<IstioKind, Listed> };
}

/** What decides at the gateways whom they let in. */
async function collectPolicies({ client, cluster }: Apis, { gateways }: Needs, root: string): Promise<Listed> {
    const custom = cluster.api(client.CustomObjectsApi), [group = "", version = ""] = SECURITY_VERSION.split("/"), plural = "authorizationpolicies";
    const namespaces = gateways.length === 0 ? [] : [...new Set([...gateways.map(({ reference }) => reference.namespace), root])];
    const lists = await Promise.all(namespaces.map((namespace) => cluster.lookThrough<unknown>(`list ${plural} in namespace ${namespace}`, async (limit, _continue) => {
        const page = await absentAsUndefined(() => custom.listNamespacedCustomObject({ group, version, plural, namespace, limit, _continue }) as Promise<{ items: unknown[] }>);
        return page ?? { items: [] }; // The kind is not served: then there is none.
    })));
    return { objects: lists.flatMap((one) => (one.seen ? istioObjects(AUTHORIZATION_POLICY, one.value) : [])), unseen: lists.flatMap((one) => (one.seen ? [] : [one.why])) };
}

function istioObjects(kind: IstioObject["kind"], items: readonly unknown[]): readonly IstioObject[] {
    return items.flatMap((item) => istioObjectOf(kind, item) ?? []);
}

/** Goes on with what was seen. */
async function chain<T, U>(first: Promise<Seen<T>>, next: (value: T) => Seen<U> | Promise<Seen<U>>): Promise<Seen<U>> {
    const seen = await first;
    return seen.seen ? next(seen.value) : seen;
}
