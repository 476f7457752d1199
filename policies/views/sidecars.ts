// What Sidecar objects leave a namespace's sidecars of what is exported to them.
import { covers } from "../../model/preflight";
import type { Viewers } from "../../model/visibility";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { UNKNOWN } from "../plain";
import { hops } from "./routes";
import { groupBy } from "./service-entries";

/** The viewers that are known to take a host from every one of some namespaces: those whose default Sidecar leaves one out do not see it there. */
export function importing(mesh: Mesh, viewers: Viewers, host: string, homes: readonly string[]): Viewers {
    if (viewers === "everywhere") return viewers;
    if (!mesh.isSure("Sidecar")) return new Set();
    return new Set([...viewers].filter((viewer) => homes.every((home) => imports(mesh, viewer, home, host))));
}

/** Gateways ignore Sidecars, and a namespace without a default one imports all. */
function imports(mesh: Mesh, viewer: string, home: string, host: string): boolean {
    const gateways = mesh.once("gateway namespaces", () => new Set(hops(mesh).map(({ gatewayNamespace }) => gatewayNamespace)));
    if (gateways.has(viewer)) return true;
    const sidecar = defaultSidecar(mesh, viewer) ?? defaultSidecar(mesh, mesh.root);
    const listeners = sidecar?.indexes(["spec", "egress"]) ?? [];
    if (sidecar === undefined || listeners.length === 0) return true;
    return listeners.some((index) => {
        const entries = sidecar.texts(["spec", "egress", index, "hosts"]);
        if (entries === undefined || entries === UNKNOWN) return entries === undefined;
        return entries.some((entry) => {
            const slash = entry.indexOf("/"), from = entry.slice(0, Math.max(slash, 0));
            return (from === "*" || (from === "." ? viewer : from) === home) && covers(entry.slice(slash + 1), host);
        });
    });
}

/** The Sidecar of a namespace that selects no workloads. */
function defaultSidecar(mesh: Mesh, namespace: string): MeshObject | undefined {
    return mesh.once("default sidecars", () => groupBy(
        mesh.of("Sidecar").filter((sidecar) => sidecar.namespace !== UNKNOWN && sidecar.at(["spec", "workloadSelector"]) === undefined),
        (sidecar) => String(sidecar.namespace),
    )).get(namespace)?.[0];
}
