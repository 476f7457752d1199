// Objects of ours with a second owner of their fields: a creation that was cut off, after which a change of the object is refused.
import type { IstioKind } from "../../../model";
import type { Needs } from "../needs";
import { Group, type Result, Results } from "../result";
import type { Snapshot } from "../snapshot";
import { ownerOf, placeOf, titleOf } from "./foreign";
import { RESOURCES } from "./permissions";

/** Pulumi's Kubernetes provider names itself so, with a suffix of chance for each resource. */
const PROVIDER = /^pulumi-kubernetes-/;

export function checkFieldOwners(needs: Needs, { objects }: Pick<Snapshot, "objects">): readonly Result[] {
    const results = new Results("field-owners", Group.InTheWay), places = new Map(needs.objects.map((need) => [placeOf(need), need.declaration]));
    for (const object of Object.values(objects).flatMap((listed) => listed.objects)) {
        const owners = object.fieldManagers.flatMap((manager, index) => (PROVIDER.test(manager) ? [{ manager, index }] : []));
        const [first, ...later] = owners, { namespace, name } = object;
        // The one that ended well wrote last, and Kubernetes lists the entries by time.
        if (first === undefined || later.length === 0 || places.get(placeOf(object)) !== ownerOf(object)) continue;
        const at = `/metadata/managedFields/${String(first.index)}`;
        const patch = JSON.stringify([{ op: "test", path: `${at}/manager`, value: first.manager }, { op: "remove", path: at }]);
        results.warning(titleOf(object), `has fields that ${first.manager} owns beside ${later.map(({ manager }) => manager).join(", ")}, since a creation of it was cut off: a later change is refused with a conflict, and a field that a change removes stays.`,
            `kubectl -n ${namespace} patch ${RESOURCES[object.kind as IstioKind]}.networking.istio.io ${name} --type=json -p '${patch}'`);
    }
    return results.list;
}
