// Whether the API server serves Istio's kinds in the versions that are written.
import { API_VERSIONS, type IstioKind, OLDEST_ISTIO, formatIstio } from "../../../model";
import type { Needs } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { Snapshot } from "../snapshot";

export const ISTIO_GROUP = "networking.istio.io";

export function checkServedKinds({ objects }: Needs, { served }: Pick<Snapshot, "served">): readonly Result[] {
    const results = new Results("served-kinds", Group.Istio), kinds = [...new Set(objects.map(({ kind }) => kind))];
    if (kinds.length === 0) return [];
    if (!served.seen) {
        results.unseen(ISTIO_GROUP, served.why, "may be served or not");
        return results.list;
    }
    const oldest = formatIstio(OLDEST_ISTIO), absent: IstioKind[] = [];
    for (const kind of kinds) {
        const wanted = API_VERSIONS[kind], version = wanted.slice(wanted.indexOf("/") + 1);
        const versions = [...served.value].filter(([, names]) => names.includes(kind)).map(([name]) => name);
        if (versions.includes(version)) results.ok(kind, `is served as ${wanted}.`);
        else if (versions.length === 0) absent.push(kind);
        else {
            results.missing(kind, `is served as ${enumerate(versions)} of ${ISTIO_GROUP}, but not as ${version}, which is what is written.`,
                `Istio serves ${version} from ${oldest} on: upgrade it, its custom resource definitions included (an upgrade of Helm charts leaves old ones behind).`);
        }
    }
    if (absent.length > 0) {
        const all = absent.length === kinds.length;
        results.missing(enumerate(absent), `${absent.length === 1 ? "is" : "are"} not served: ${all ? "the cluster has no custom resource definitions of Istio's for what is written" : "the cluster lacks these custom resource definitions of Istio's"}.`,
            `Install Istio ${oldest} or later, with its custom resource definitions (Helm chart "base", or istioctl install).`);
    }
    return results.list;
}
