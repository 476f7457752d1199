// E408: a port of a Gateway, or of a route to it, that the gateway's Service does not have.
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import type { SetRule, SetVerdict } from "../rule";
import { UNKNOWN } from "../plain";
import { servers, servicesOf } from "../views/gateways";
import { hops } from "../views/routes";
import { enumerate } from "../views/words";

export const portNotOnService: SetRule = {
    code: "E408",
    name: "port-not-on-service",
    level: "mandatory",
    severity: "high",
    description: "Every port of an egress Gateway, and of the routes to it, must be a port of the gateway's Service.",
    remediation: "Add the port to the gateway's Service, or use one that it has.",
    remediates: false,
    kinds: ["Gateway", "VirtualService"],
    configuration: noConfiguration,
    checkSet(mesh) {
        return mesh.isSure("Service") ? [...ofServers(mesh), ...ofRoutes(mesh)] : [];
    },
};

function ofServers(mesh: Mesh): readonly SetVerdict[] {
    return servers(mesh).flatMap((server): SetVerdict[] => {
        const services = servicesOf(mesh, server), path = [...server.path, "port", "number"];
        const ports = services.map(portsOf);
        // One of unknown ports may have it; a number that is a targetPort is the pods' own.
        if (services.length === 0 || ports.some((known) => known === undefined || known.some(({ number, target }) => number === server.port || target === server.port))) return [];
        return [{
            object: server.object, path,
            text: `is ${server.port}, but ${enumerate(services.map(({ label }) => label))}, which stands before the same pods, has ${enumerate(ports.flatMap((known) => (known ?? []).map(({ number }) => String(number)))) || "no port"} only: nothing is sent to the server. Add the port to the Service, or use one that it has.`,
        }];
    });
}

function ofRoutes(mesh: Mesh): readonly SetVerdict[] {
    const byHost = mesh.once("services by host", () => new Map(mesh.of("Service").filter(({ name, namespace }) => name !== UNKNOWN && namespace !== UNKNOWN)
        .map((service) => [`${String(service.name)}.${String(service.namespace)}.svc.${mesh.domain}`, service])));
    const seen = new Set<string>();
    return hops(mesh).flatMap(({ leg, destination: { host, port, path: at } }): SetVerdict[] => {
        const service = byHost.get(host), ports = service === undefined ? undefined : portsOf(service), path = [...at, "port", "number"];
        const key = `${leg.object.label} ${path.join(".")}`;
        if (service === undefined || ports === undefined || port === undefined || seen.has(key) || ports.some(({ number }) => number === port)) return [];
        seen.add(key);
        return [{
            object: leg.object, path,
            text: `is ${leg.object.show(path, port)}, but ${service.label} has ${enumerate(ports.map(({ number }) => String(number))) || "no port"} only: the sidecars have no cluster for it, and every connection of the route fails. Add the port to the Service, or use one that it has.`,
        }];
    });
}

/** The ports of a Service; undefined where they are not known. */
function portsOf(service: MeshObject): readonly { readonly number: number; readonly target: number | undefined }[] | undefined {
    const list = ["spec", "ports"];
    if (service.at(list) === UNKNOWN) return undefined;
    const ports = service.indexes(list).map((index) => ({ number: service.number([...list, index, "port"]), target: service.number([...list, index, "targetPort"]) }));
    if (ports.some(({ number }) => typeof number !== "number")) return undefined;
    return ports.map(({ number, target }) => ({ number: Number(number), target: typeof target === "number" ? target : undefined }));
}
