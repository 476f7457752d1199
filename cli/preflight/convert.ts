// Objects of the Kubernetes client → what a snapshot keeps of them.
import type { V1Deployment, V1MutatingWebhookConfiguration, V1Namespace, V1Pod, V1Service } from "@kubernetes/client-node";
import type { Labels } from "../../model/preflight";
import { isMap } from "../plain";
import type { Injector, Istiod, IstioObject, Namespace, Pod, Service } from "./snapshot";

const PROXY = "istio-proxy", REVISION = "istio.io/rev", TAG = "istio.io/tag";
/** The injector's own record on a pod, JSON; revisions stand in it since labels of pods may be tags. */
const STATUS = "sidecar.istio.io/status";

export function namespaceOf({ metadata, status }: V1Namespace): Namespace {
    return { name: metadata?.name ?? "", labels: metadata?.labels ?? {}, terminating: status?.phase === "Terminating" };
}

export function serviceOf({ metadata, spec }: V1Service): Service {
    return {
        type: spec?.type ?? "ClusterIP", selector: spec?.selector ?? {}, annotations: metadata?.annotations ?? {},
        ports: (spec?.ports ?? []).map(({ port, name, protocol, targetPort }) => ({ number: port, protocol: protocol ?? "TCP", targetPort: targetPort ?? port, ...(name === undefined ? {} : { name }) })),
    };
}

export function podOf({ metadata, spec, status }: V1Pod): Pod {
    // Since Kubernetes' native sidecars, a sidecar may be an init container.
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always")];
    const proxyImage = containers.find(({ name }) => name === PROXY)?.image;
    const revision = revisionOf(metadata?.annotations ?? {});
    return {
        name: metadata?.name ?? "", labels: metadata?.labels ?? {},
        ready: (status?.conditions ?? []).some((condition) => condition.type === "Ready" && condition.status === "True"),
        ports: containers.flatMap(({ ports }) => ports ?? []).flatMap(({ name, containerPort, protocol }) => (name === undefined || (protocol ?? "TCP") !== "TCP" ? [] : [{ name, number: containerPort }])),
        ...(proxyImage === undefined ? {} : { proxyImage }),
        ...(revision === undefined ? {} : { revision }),
    };
}

/** The control plane that a pod was injected by; its label may be a tag. */
function revisionOf(annotations: Labels): string | undefined {
    try {
        const status: unknown = JSON.parse(annotations[STATUS] ?? "null");
        if (isMap(status) && typeof status["revision"] === "string") return status["revision"];
    } catch {
        // Not written by the injector.
    }
    return annotations[REVISION];
}

export function istiodOf({ metadata, spec, status }: V1Deployment): Istiod {
    const containers = spec?.template.spec?.containers ?? [], image = (containers.find(({ name }) => name === "discovery") ?? containers[0])?.image;
    return { name: metadata?.name ?? "", revision: metadata?.labels?.[REVISION] ?? "default", readyReplicas: status?.readyReplicas ?? 0, ...(image === undefined ? {} : { image }) };
}

export function injectorOf({ metadata }: V1MutatingWebhookConfiguration): Injector {
    const revision = metadata?.labels?.[REVISION], tag = metadata?.labels?.[TAG];
    return { name: metadata?.name ?? "", ...(revision === undefined ? {} : { revision }), ...(tag === undefined ? {} : { tag }) };
}

/** An entry of a list of custom resources, which may be anything. */
export function istioObjectOf(kind: IstioObject["kind"], item: unknown): IstioObject | undefined {
    if (!isMap(item) || !isMap(item["metadata"])) return undefined;
    const { name, namespace, labels, annotations, managedFields } = item["metadata"];
    if (typeof name !== "string" || typeof namespace !== "string") return undefined;
    return { kind, namespace, name, labels: words(labels), annotations: words(annotations), spec: isMap(item["spec"]) ? item["spec"] : {}, fieldManagers: managersOf(managedFields) };
}

function managersOf(managedFields: unknown): readonly string[] {
    return Array.isArray(managedFields) ? managedFields.map((entry: unknown) => (isMap(entry) && typeof entry["manager"] === "string" ? entry["manager"] : "")) : [];
}

function words(value: unknown): Labels {
    return Object.fromEntries(Object.entries(isMap(value) ? value : {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
