// The pods of a gateway: whether they are there, ready, behind the Service, and of the declared version.
import { parseIstioVersion } from "../../../model";
import { hasLabels, type Labels } from "../../../model/preflight";
import type { GatewayNeed } from "../needs";
import { Group, type Result, Results, count, enumerate } from "../result";
import type { Pod, Seen, Service } from "../snapshot";
import { imageTag, imageVersion, sameMinor } from "./versions";

/** The pods that a Service sends connections to. */
export function servedBy({ selector }: Service, pods: readonly Pod[]): readonly Pod[] {
    return pods.filter(({ labels }) => hasLabels(labels, selector));
}

const words = (labels: Labels): string => Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(",");
const podsObject = ({ reference: { namespace, selector } }: GatewayNeed): string => `Pods ${words(selector)} in ${namespace}`;
const names = (pods: readonly Pod[]): string => enumerate(pods.map(({ name }) => name), 3);

export function checkGatewayPods(gateway: GatewayNeed, service: Service | undefined, seen: Seen<readonly Pod[]>): readonly Result[] {
    const results = new Results("gateway-pods", Group.Gateways), { reference } = gateway;
    if (!seen.seen) {
        results.unseen(podsObject(gateway), seen.why, "are not known");
        return results.list;
    }
    const pods = seen.value.filter(({ labels }) => hasLabels(labels, reference.selector)), ready = pods.filter((pod) => pod.ready);
    if (pods.length === 0) {
        const [other] = service === undefined ? [] : servedBy(service, seen.value);
        const hint = other === undefined ? "" : `; pods behind the Service, such as ${other.name}, have ${words(other.labels)}`;
        results.missing(podsObject(gateway), `do not exist${hint}: no proxy would get the hosts' listeners.`, "Install the gateway, or correct the gateway's namespace and selector in the catalogue.");
    } else if (ready.length === 0) {
        results.missing(podsObject(gateway), `are not ready, none of ${pods.length}.`, `Look why: kubectl -n ${reference.namespace} describe pod -l ${words(reference.selector)}`);
    } else if (ready.length < pods.length) {
        results.warning(podsObject(gateway), `are ready, ${ready.length} of ${pods.length}.`, `Look why: kubectl -n ${reference.namespace} describe pod ${pods.find((pod) => !pod.ready)?.name ?? ""}`);
    } else results.ok(podsObject(gateway), `are ready, ${ready.length} of ${pods.length}.`);
    return [...results.list, ...(service === undefined ? [] : checkSelection(gateway, service, seen.value, pods)), ...checkProxies(gateway, pods)];
}

/** The Service must send to the pods that get the listeners, and to no others. */
function checkSelection(gateway: GatewayNeed, service: Service, all: readonly Pod[], own: readonly Pod[]): readonly Result[] {
    const results = new Results("gateway-selection", Group.Gateways), { service: { namespace, name } } = gateway, object = `Service ${namespace}/${name}`;
    if (Object.keys(service.selector).length === 0) {
        results.unknown(object, "has no selector: its endpoints are written by hand, and whether they are the gateway's pods is not looked at.");
        return results.list;
    }
    const served = servedBy(service, all), unserved = own.filter((pod) => !served.includes(pod)), strangers = served.filter((pod) => !own.includes(pod));
    if (own.length > 0 && unserved.length === own.length) {
        results.missing(object, `selects ${words(service.selector)}, which none of the gateway's pods has: connections do not reach them.`, "Correct the Service's selector, or the gateway's in the catalogue.");
    } else if (unserved.length > 0) {
        results.warning(object, `does not select ${count(unserved.length, "pod")} of the gateway (${names(unserved)}): they get no connection.`, `Give them the labels ${words(service.selector)}, or correct the gateway's selector in the catalogue.`);
    }
    if (own.length > 0 && strangers.length > 0) {
        results.missing(object, `also selects ${count(strangers.length, "pod")} without the labels ${words(gateway.reference.selector)} (${names(strangers)}): they get no listener, and their share of the connections fails.`, "Narrow the Service's selector to the gateway's pods, or correct the gateway's selector in the catalogue.");
    }
    if (results.list.length === 0 && own.length > 0) results.ok(object, "selects the gateway's pods and no others.");
    return results.list;
}

function checkProxies(gateway: GatewayNeed, pods: readonly Pod[]): readonly Result[] {
    const results = new Results("gateway-version", Group.Gateways), object = podsObject(gateway), { istioVersion, namespace } = gateway.reference;
    const bare = pods.filter(({ proxyImage }) => proxyImage === undefined), waiting = pods.filter(({ proxyImage }) => proxyImage === "auto");
    if (bare.length > 0) results.missing(object, `have no container istio-proxy, ${bare.length} of ${pods.length} (${names(bare)}): no gateway runs there.`, "Give the gateway's selector in the catalogue the labels of an Istio gateway's pods.");
    if (waiting.length > 0) results.missing(object, `were not injected, ${waiting.length} of ${pods.length} (${names(waiting)}): their image is still "auto".`, `Enable injection in ${namespace} (label istio-injection=enabled, or istio.io/rev), then restart the gateway.`);
    const images = pods.flatMap(({ proxyImage }) => proxyImage === undefined || proxyImage === "auto" ? [] : [proxyImage]);
    const declared = parseIstioVersion(istioVersion), found = images.map(imageVersion);
    if (declared === undefined || images.length === 0) return results.list;
    const others = [...new Set(found.flatMap((one) => one === undefined || sameMinor(one.version, declared) ? [] : [one.tag]))];
    const silent = images.filter((image) => imageVersion(image) === undefined);
    if (others.length > 0) results.warning(object, `run Istio ${enumerate(others)}, but istioVersion ${istioVersion} is declared: what is supported is decided by the declared version.`, "Correct the gateway's istioVersion in the catalogue, or upgrade the gateway.");
    else if (silent.length > 0) results.unknown(object, `tell no version: ${describeImage(silent[0] ?? "")}.`, "Look yourself: istioctl proxy-status");
    else results.ok(object, `run Istio ${enumerate([...new Set(found.flatMap((one) => one?.tag ?? []))])}, as declared.`);
    return results.list;
}

function describeImage(image: string): string {
    const tag = imageTag(image);
    return tag === undefined ? "the image of istio-proxy has no tag" : `the tag of istio-proxy is "${tag}"`;
}
