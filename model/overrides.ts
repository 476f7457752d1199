// manifestOverrides: which objects of a declaration they can name, and what they must leave alone.
import { ANNOTATION_PREFIX, EXEMPTION_PREFIX } from "./annotations";
import { type Declaration, GatewayConsumers, Lockdown } from "./declaration";
import { carriesRequestsOnly, hasProtocol } from "./ports";
import { OBJECT_ROLES, type ObjectRole, isMap, valueAt } from "./patches";
import { type Path, type Problem, Problems, show } from "./problem";
import { Protocol, usesGateway } from "./routes";
import { decideCluster, decideWaiting } from "./waiting";

/** Identity is the declaration's: an object under another name would be another object, and lose its order and its aliases. */
const IDENTITY = [["apiVersion"], ["kind"], ["metadata", "name"], ["metadata", "namespace"]] as const;

/** What every declaration writes there, and policies read. */
const OWN_LABEL = "app.kubernetes.io/part-of";

/** The objects that a declaration has at all; the mesh leg of an inactive one included, since it comes back. */
function rolesOf(declaration: Declaration): readonly ObjectRole[] {
    const { route, gateway } = declaration, { waits } = decideWaiting(declaration);
    if (!usesGateway(route)) return ["ServiceEntry/host", "DestinationRule/host"];
    return OBJECT_ROLES.filter((role) => (role !== "ServiceEntry/client-view" || gateway?.consumers !== GatewayConsumers.All)
        && (role !== "AuthorizationPolicy/consumers" || (gateway !== undefined && gateway.lockdown !== Lockdown.Off))
        && (role !== "EnvoyFilter/gateway" || (waits && !carriesRequestsOnly(declaration)) || decideCluster(declaration) !== undefined)
        && (role !== "EnvoyFilter/sidecar" || (waits && gateway?.consumers !== GatewayConsumers.All && hasProtocol(declaration, Protocol.Tls))));
}

export function overrideProblems(declaration: Declaration): readonly Problem[] {
    const problems = new Problems(), roles = rolesOf(declaration);
    for (const [key, patch] of Object.entries(declaration.manifestOverrides ?? {})) {
        const path: Path = ["manifestOverrides", key];
        if (!OBJECT_ROLES.some((role) => names(key, role))) problems.add(path, `is not an object of a declaration: use a kind or one of ${OBJECT_ROLES.join(", ")}.`);
        else if (!roles.some((role) => names(key, role))) problems.add(path, `has no effect: route ${declaration.route} has no such object, only ${roles.join(", ")}; remove it.`, [["route"], ["gateway"], ["failover"], ["pool"], ["ports"]]);
        else checkPatch(problems, path, patch);
    }
    return problems.list;
}

const names = (key: string, role: ObjectRole): boolean => role === key || role.startsWith(`${key}/`);

function checkPatch(problems: Problems, path: Path, patch: Readonly<Record<string, unknown>>): void {
    for (const part of ["metadata", "spec"] as const) {
        if (part in patch && !isMap(patch[part])) problems.add([...path, part], `is ${show(patch[part])}, but must be a map, which is merged into the object's ${part}.`);
    }
    for (const identity of IDENTITY) {
        const value = valueAt(patch, identity);
        if (value !== undefined) problems.add([...path, ...identity], `is ${show(value)}, but an object's identity is the declaration's and cannot be overridden: remove it.`);
    }
    for (const field of ["annotations", "labels"] as const) {
        const map = valueAt(patch, ["metadata", field]);
        if (map !== undefined && !isMap(map)) problems.add([...path, "metadata", field], `is ${show(map)}, but must be a map, which is merged into the object's ${field}.`);
        for (const [name, value] of Object.entries(isMap(map) ? map : {})) {
            if (typeof value !== "string" && value !== null) problems.add([...path, "metadata", field, name], `is ${show(value)}, but Kubernetes takes texts only as ${field}: quote it; null removes one.`);
            // Exemptions from rules say nothing of the declaration.
            if (name !== OWN_LABEL && (!name.startsWith(ANNOTATION_PREFIX) || name.startsWith(EXEMPTION_PREFIX))) continue;
            problems.add([...path, "metadata", field, name], "carries the declaration's intent to the policies and cannot be overridden: change the declaration itself.");
        }
    }
}
