// Every manifest of a declaration, in the order in which it is written; the mesh leg, which moves the traffic, is last.
import { type Declaration, mergePatch, patchesFor } from "../model";
import { authorizationPolicy } from "./authorization-policy";
import { hostDestinationRule, subsetDestinationRules } from "./destination-rule";
import { gatewayFilter, sidecarFilters } from "./envoy-filter";
import { gatewayServers } from "./gateway";
import type { KubernetesObject, Manifest } from "./manifest";
import { clientServiceEntries, hostServiceEntry } from "./service-entry";
import { gatewayLeg, meshLeg } from "./virtual-service";

export { gatewayDeployment } from "./gateway-deployment";
export { lockdownObjects } from "./lockdown";
export { type KubernetesObject, type Manifest, writtenBy } from "./manifest";
export type { PlainObject, SupportManifest } from "./support";

/** The manifests of a checked declaration, with its overrides merged in. */
export function manifestsOf(name: string, declaration: Declaration): readonly Manifest[] {
    const manifests = [
        hostServiceEntry(name, declaration),
        ...clientServiceEntries(name, declaration),
        hostDestinationRule(name, declaration),
        ...subsetDestinationRules(name, declaration),
        ...gatewayServers(name, declaration),
        ...authorizationPolicy(name, declaration),
        ...gatewayFilter(name, declaration),
        ...sidecarFilters(name, declaration),
        ...gatewayLeg(name, declaration),
        ...meshLeg(name, declaration),
    ];
    return manifests.map((manifest) => {
        const patches = patchesFor(manifest.role, declaration.manifestOverrides);
        return { ...manifest, object: patches.reduce<KubernetesObject>((object, patch) => mergePatch(object, patch) as KubernetesObject, manifest.object) };
    });
}
