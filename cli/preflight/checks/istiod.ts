// The control plane: whether it runs, and whether its version carries the routes and is the one that gateways declare.
import { compareIstio, parseHost, parseIstioVersion, refuseRoute } from "../../../model";
import type { GatewayNeed, Needs } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { Istiod, Snapshot } from "../snapshot";
import { imageTag, imageVersion, sameMinor } from "./versions";

export function checkIstiod(needs: Needs, { istiods, istioNamespace, gatewayPods }: Pick<Snapshot, "istiods" | "istioNamespace" | "gatewayPods">): readonly Result[] {
    const results = new Results("istiod", Group.Istio);
    if (!istiods.seen) {
        results.unseen(`istiod in ${istioNamespace}`, istiods.why);
        return results.list;
    }
    if (istiods.value.length === 0) {
        results.unknown(`istiod in ${istioNamespace}`, "is not there: no Deployment has the label app=istiod, so the control plane runs elsewhere, or not at all.", "Name its namespace with --istio-namespace; of a control plane outside the cluster nothing can be seen.");
        return results.list;
    }
    for (const istiod of istiods.value) checkOne(istiod, istioNamespace, needs, results);
    for (const gateway of needs.gateways) {
        const pods = gatewayPods.get(gateway.key), revisions = pods?.seen === true ? pods.value.map(({ revision }) => revision) : [];
        const own = istiods.value.filter(({ revision }) => revisions.includes(revision));
        checkDeclaredVersion(gateway, own.length > 0 ? own : istiods.value, results);
    }
    return results.list;
}

function checkOne({ name, image, readyReplicas }: Istiod, namespace: string, { declarations }: Needs, results: Results): void {
    const object = `Deployment ${namespace}/${name}`, found = imageVersion(image);
    if (readyReplicas === 0) {
        results.missing(object, "has no ready pod: what is written reaches no proxy.", `Look why: kubectl -n ${namespace} describe deployment ${name}`);
    }
    if (found === undefined) {
        const tag = image === undefined ? undefined : imageTag(image);
        results.unknown(object, `tells no version: ${tag === undefined ? "its image has no tag" : `its image's tag is "${tag}"`}.`, "Look yourself: istioctl version");
        return;
    }
    const refused = declarations.flatMap(({ name: declaration, declaration: { route, ports, host, pool } }) => {
        const verdict = parseHost(host), wildcard = verdict.ok && verdict.host.wildcard;
        return ports.some(({ protocol }) => refuseRoute({ route, protocol, wildcard, membership: pool.membership, istioVersion: found.tag })?.at === "istioVersion") ? [declaration] : [];
    });
    if (refused.length > 0) {
        results.missing(object, `is Istio ${found.tag}, which does not carry the routes of ${enumerate(refused)}.`, "Upgrade Istio, or take the route that its version carries: docs/limits.md.");
    } else if (readyReplicas > 0) {
        results.ok(object, `is Istio ${found.tag}, with ${readyReplicas} ready.`);
    }
}

function checkDeclaredVersion({ reference, service }: GatewayNeed, istiods: readonly Istiod[], results: Results): void {
    const declared = parseIstioVersion(reference.istioVersion), object = `Gateway ${service.namespace}/${service.name}`;
    const versions = istiods.flatMap(({ image }) => imageVersion(image) ?? []);
    if (declared === undefined || versions.length === 0) return;
    if (versions.some(({ version }) => sameMinor(version, declared))) {
        results.ok(object, `is declared with istioVersion ${reference.istioVersion}, and so is its istiod.`);
        return;
    }
    const tags = enumerate([...new Set(versions.map(({ tag }) => tag))]), older = versions.every(({ version }) => compareIstio(version, declared) < 0);
    results.warning(object, `is declared with istioVersion ${reference.istioVersion}, but istiod is ${tags}: what is supported is decided by the declared version${older ? ", and a gateway newer than its istiod is not supported by Istio" : ""}.`,
        "Correct istioVersion in the catalogue, or upgrade the one that is behind.");
}
