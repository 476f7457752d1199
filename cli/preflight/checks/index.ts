// All checks: pure functions of what a catalogue needs and what was seen of a cluster.
import type { Needs } from "../needs";
import { Group, type Result } from "../result";
import type { Snapshot } from "../snapshot";
import { checkServedKinds } from "./crds";
import { checkGateways } from "./gateways";
import { checkInTheWay } from "./in-the-way";
import { checkIstiod } from "./istiod";
import { checkMesh } from "./mesh";
import { checkNamespaces } from "./namespaces";
import { checkPermissions } from "./permissions";

const CHECKS: readonly ((needs: Needs, snapshot: Snapshot) => readonly Result[])[] = [
    checkServedKinds, checkIstiod, checkGateways, checkNamespaces, checkPermissions, checkInTheWay, checkMesh,
];

/** Every result, in the order of the groups. */
export function judge(needs: Needs, snapshot: Snapshot): readonly Result[] {
    const results = CHECKS.flatMap((check) => check(needs, snapshot));
    return Object.values(Group).flatMap((group) => results.filter((result) => result.group === group));
}
