// Namespaces: whether they exist, whether istiod looks at them, and whether the consumers' pods have sidecars.
import { selects } from "../../../model/preflight";
import type { NamespaceNeed, Needs } from "../needs";
import { Group, type Result, Results, count, enumerate } from "../result";
import type { Namespace, Pod, Seen, Snapshot } from "../snapshot";
import { maps } from "./mesh-values";

const INJECTION = "istio-injection", REVISION = "istio.io/rev", DATAPLANE_MODE = "istio.io/dataplane-mode";
/** The revision of a control plane that has none, and the tag that stands for the one that istio-injection means. */
const DEFAULT_REVISION = "default";

type Seens = Pick<Snapshot, "namespaces" | "consumerPods" | "injectors" | "meshes">;

export function checkNamespaces({ namespaces }: Needs, snapshot: Seens): readonly Result[] {
    return namespaces.flatMap((need) => {
        const results = new Results("namespace", Group.Namespaces), object = `Namespace ${need.name}`, seen = snapshot.namespaces.get(need.name);
        if (seen === undefined) return [];
        if (!seen.seen) results.unseen(object, seen.why);
        else if (seen.value === undefined) results.missing(object, `does not exist, but ${roles(need)}.`, `Create it: kubectl create namespace ${need.name}`);
        else if (seen.value.terminating) results.missing(object, `is being deleted, but ${roles(need)}: nothing can be created in it.`, "Wait until it is gone and create it again, or take it out of the catalogue.");
        else {
            results.ok(object, "exists.");
            return [...results.list, ...checkDiscovery(seen.value, snapshot), ...(need.consumed.length === 0 ? [] : checkInjection(need, seen.value, snapshot))];
        }
        return results.list;
    });
}

/** What a namespace is for, as a clause. */
function roles({ declarations, consumed, isGateway }: NamespaceNeed): string {
    return enumerate([
        ...(isGateway ? ["a gateway is declared in it"] : []),
        ...(declarations.length > 0 ? [`the objects of ${enumerate(declarations)} belong in it`] : []),
        ...(consumed.length > 0 ? [`it is a consumer of ${enumerate(consumed)}`] : []),
    ]);
}

function checkDiscovery({ name, labels }: Namespace, { meshes }: Seens): readonly Result[] {
    const results = new Results("discovery-selectors", Group.Namespaces);
    for (const { object, config } of meshes) {
        const selectors = config.seen ? maps(config.value?.["discoverySelectors"]) : [];
        if (selectors.length === 0) continue;
        const verdicts = selectors.map((selector) => selects(selector, labels));
        if (verdicts.includes(true)) results.ok(`Namespace ${name}`, "is selected by meshConfig.discoverySelectors.");
        else if (verdicts.includes(undefined)) results.unknown(`Namespace ${name}`, `may not be selected by meshConfig.discoverySelectors (${object}): they have an operator that is not known.`);
        else results.missing(`Namespace ${name}`, `is not selected by meshConfig.discoverySelectors (${object}): istiod ignores what is in it.`, "Give the namespace labels that one of the selectors takes.");
    }
    return results.list;
}

function checkInjection(need: NamespaceNeed, { name, labels }: Namespace, snapshot: Seens): readonly Result[] {
    const results = new Results("injection", Group.Namespaces), object = `Namespace ${name}`;
    const consumes = `it is a consumer of ${enumerate(need.consumed)}`, injection = labels[INJECTION], revision = labels[REVISION];
    const enable = `kubectl label namespace ${name} ${INJECTION}=enabled --overwrite (or ${REVISION}=REVISION), then restart its pods.`;
    const isAmbient = labels[DATAPLANE_MODE] === "ambient", wanted = injection === "enabled" ? DEFAULT_REVISION : injection === undefined ? revision : undefined;
    if (wanted !== undefined) {
        if (isAmbient) results.warning(object, `has sidecars and the label ${DATAPLANE_MODE}=ambient: ambient mode is not supported, and pods that have no sidecar yet are taken by it.`, `Take the label off: kubectl label namespace ${name} ${DATAPLANE_MODE}-`);
        checkInjector({ object, wanted, label: injection === "enabled" ? `${INJECTION}=enabled` : `${REVISION}=${wanted}` }, snapshot, results);
    } else if (isAmbient) {
        results.missing(object, `is in ambient mode (label ${DATAPLANE_MODE}=ambient), which is not supported, but ${consumes}: its traffic would not take the route.`, `Take the label off, and enable sidecars: ${enable}`);
    } else if (injection !== undefined) {
        results.missing(object, `has injection off (label ${INJECTION}=${injection}), but ${consumes}: pods without a sidecar do not take the route.`, `Enable it: ${enable}`);
    } else checkOwnPods({ object, consumes, enable }, snapshot.consumerPods.get(name), results);
    return results.list;
}

/** A label injects only where a control plane answers to it. */
function checkInjector({ object, wanted, label }: { object: string; wanted: string; label: string }, { injectors }: Seens, results: Results): void {
    if (!injectors.seen) return results.ok(object, `has injection on (label ${label}).`);
    const known = [...new Set(injectors.value.flatMap(({ revision, tag }) => tag ?? revision ?? []))];
    if (known.includes(wanted)) results.ok(object, `has injection on (label ${label}).`);
    else {
        results.missing(object, `has injection on (label ${label}), but no control plane answers to it: ${known.length === 0 ? "the cluster has no sidecar injector" : `the injectors are of ${enumerate(known)}`}; new pods get no sidecar.`,
            known.length === 0 ? "Install istiod, or name its revision." : `Label the namespace ${REVISION}=${known[0]} (without ${INJECTION}), or set a tag: istioctl tag set ${wanted} --revision REVISION`);
    }
}

/** Without a label of the namespace, pods may still ask for a sidecar themselves. */
function checkOwnPods({ object, consumes, enable }: { object: string; consumes: string; enable: string }, pods: Seen<readonly Pod[]> | undefined, results: Results): void {
    const off = `has no label for injection (${INJECTION}, ${REVISION})`;
    if (pods === undefined) return;
    if (!pods.seen) return results.unseen(object, pods.why, `${off}, and whether its pods ask for a sidecar themselves is not known`);
    const injected = pods.value.filter(({ proxyImage }) => proxyImage !== undefined).length, all = pods.value.length;
    if (all > 0 && injected === all) results.ok(object, `${off}, and its pods have sidecars by their own labels (${count(all, "pod")}).`);
    else if (injected > 0) results.warning(object, `${off}, and ${all - injected} of ${count(all, "pod")} ${all - injected === 1 ? "has" : "have"} no sidecar, but ${consumes}: these pods do not take the route.`, `Enable it for all: ${enable}`);
    else results.missing(object, `${off}${all === 0 ? "" : `, and none of its ${count(all, "pod")} has a sidecar`}, but ${consumes}: pods without a sidecar do not take the route.`, `Enable it: ${enable}`);
}
