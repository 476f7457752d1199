// What the tests of the checks share: a cluster that has all that a catalogue of two hosts needs, and ways to change it.
import { judge } from "../../../cli/preflight/checks";
import { gatewayKey, type Needs, needsOf } from "../../../cli/preflight/needs";
import type { Result } from "../../../cli/preflight/result";
import type { IstioObject, Listed, Namespace, Pod, Seen, Service, Snapshot, Unseen } from "../../../cli/preflight/snapshot";
import type { DeclarationInput, IstioKind } from "../../../model";
import { accept, input } from "../../support/declarations";

export const SERVICE_HOST = "istio-egressgateway.istio-egress.svc.cluster.local";
export const NOTHING: Listed = { objects: [], unseen: [] };

export const seen = <T>(value: T): Seen<T> => ({ seen: true, value });
export const unseen = (why: Unseen): Seen<never> => ({ seen: false, why });
export const forbidden = (action: string): Seen<never> => unseen({ kind: "forbidden", action });

/** partner-api through the gateway for payments, and a rotating pool, direct for build; or others. */
export function needs(declarations: Readonly<Record<string, Partial<DeclarationInput>>> = DECLARATIONS): Needs {
    return needsOf(Object.entries(declarations).map(([name, changes]) => ({ name, declaration: accept(input(changes)) })));
}

export const DIRECT: Partial<DeclarationInput> = { host: "api.code.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating" }, consumers: [{ namespace: "build" }] };
export const DECLARATIONS = { "partner-api": {}, "source-code": DIRECT };

export const POD: Pod = {
    name: "egress-1", labels: { istio: "egressgateway", app: "egress" }, ready: true, revision: "default",
    ports: [{ name: "tls", number: 8443 }, { name: "tls-alt", number: 9443 }], proxyImage: "docker.io/istio/proxyv2:1.31.2",
};
export const SERVICE: Service = {
    type: "ClusterIP", selector: { istio: "egressgateway" }, annotations: {},
    ports: [{ number: 443, protocol: "TCP", targetPort: 8443 }, { number: 8443, protocol: "TCP", targetPort: 9443 }],
};
export const INJECTED = { "istio-injection": "enabled" };

export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}, terminating = false): [string, Seen<Namespace>] => [name, seen({ name, labels, terminating })];

const KINDS: readonly IstioKind[] = ["ServiceEntry", "DestinationRule", "Gateway", "VirtualService", "EnvoyFilter"];

/** A complete cluster, changed as a test needs it. */
export function cluster(changes: Partial<Snapshot> = {}, of = needs()): Snapshot {
    return {
        served: seen(new Map([["v1", KINDS], ["v1beta1", KINDS], ["v1alpha3", KINDS]])),
        istioNamespace: "istio-system",
        istiods: seen([{ name: "istiod", revision: "default", image: "docker.io/istio/pilot:1.31.2", readyReplicas: 2 }]),
        injectors: seen([{ name: "istio-sidecar-injector", revision: "default" }]),
        meshes: [mesh({})],
        namespaces: new Map([namespace("istio-egress"), namespace("egress"), namespace("payments", INJECTED), namespace("build", INJECTED)]),
        services: new Map([[SERVICE_HOST, seen(SERVICE)]]),
        gatewayPods: new Map(of.gateways.map(({ reference }) => [gatewayKey(reference), seen([POD])])),
        consumerPods: new Map(),
        denied: new Map([...new Set(of.objects.map((object) => object.namespace))].map((name) => [name, seen([])])),
        objects: { ServiceEntry: NOTHING, DestinationRule: NOTHING, Gateway: NOTHING, VirtualService: NOTHING, EnvoyFilter: NOTHING },
        sidecars: NOTHING, policies: NOTHING,
        ...changes,
    };
}

export const mesh = (config: Readonly<Record<string, unknown>>): Snapshot["meshes"][number] => ({ object: "istio-system/istio", config: seen(config) });

export const pods = (...list: readonly Pod[]): Partial<Snapshot> => ({ gatewayPods: new Map([[needs().gateways[0]?.key ?? "", seen(list)]]) });

/** An object of others. */
export function foreign(kind: IstioObject["kind"], place: string, spec: Readonly<Record<string, unknown>>, changes: Partial<IstioObject> = {}): IstioObject {
    const [home = "", name = ""] = place.split("/");
    return { kind, namespace: home, name, labels: {}, annotations: {}, spec, fieldManagers: [], ...changes };
}

export function objects(...list: readonly IstioObject[]): Partial<Snapshot> {
    const ofKind = (kind: IstioKind): Listed => ({ objects: list.filter((object) => object.kind === kind), unseen: [] });
    return { objects: { ServiceEntry: ofKind("ServiceEntry"), DestinationRule: ofKind("DestinationRule"), Gateway: ofKind("Gateway"), VirtualService: ofKind("VirtualService"), EnvoyFilter: ofKind("EnvoyFilter") } };
}

export const line = ({ id, status, object, text, fix }: Result): string => `${id} ${status}: ${object} ${text}${fix === undefined ? "" : ` → ${fix}`}`;

/** What is not well, each as one line. */
export function complaints(changes: Partial<Snapshot>, of = needs()): readonly string[] {
    return judge(of, cluster(changes, of)).filter(({ status }) => status !== "ok").map(line);
}

/** All lines of one check. */
export function linesOf(id: string, changes: Partial<Snapshot> = {}, of = needs()): readonly string[] {
    return judge(of, cluster(changes, of)).filter((result) => result.id === id).map(line);
}
