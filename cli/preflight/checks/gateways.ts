// The gateways that hosts use: their Service, its ports, and who sees it.
import { ALL_CONSUMERS } from "../../../model";
import { isVisible } from "../../../model/preflight";
import type { GatewayNeed, Needs } from "../needs";
import { Group, type Result, Results, count, enumerate } from "../result";
import type { Pod, Seen, Service, ServicePort, Snapshot } from "../snapshot";
import { checkGatewayPods, servedBy } from "./gateway-pods";
import { exportDefault } from "./mesh-values";

/** Istio's annotation by which a Service says who sees it. */
const EXPORT_TO = "networking.istio.io/exportTo";

type Seens = Pick<Snapshot, "services" | "gatewayPods" | "meshes">;

export function checkGateways({ gateways }: Needs, snapshot: Seens): readonly Result[] {
    return gateways.flatMap((gateway) => {
        const service = snapshot.services.get(gateway.reference.serviceHost), pods = snapshot.gatewayPods.get(gateway.key);
        if (service === undefined || pods === undefined) return [];
        const results = checkService(gateway, service);
        const found = service.seen ? service.value : undefined;
        return [
            ...results,
            ...(found === undefined ? [] : [...checkPorts(gateway, found, pods), ...checkVisibility(gateway, found, snapshot)]),
            ...checkGatewayPods(gateway, found, pods),
        ];
    });
}

export const serviceObject = ({ service }: GatewayNeed): string => `Service ${service.namespace}/${service.name}`;

function checkService(gateway: GatewayNeed, service: Seen<Service | undefined>): readonly Result[] {
    const results = new Results("gateway-service", Group.Gateways), object = serviceObject(gateway);
    if (!service.seen) results.unseen(object, service.why);
    else if (service.value === undefined) {
        results.missing(object, `does not exist, but is the gateway of ${enumerate(gateway.declarations)}: every connection to these hosts would fail.`,
            "Install the gateway (Helm chart istio/gateway), or correct the gateway's serviceHost in the catalogue.");
    } else if (service.value.type === "ExternalName") {
        results.missing(object, "is of type ExternalName: it stands for a name elsewhere and has no pods, so no gateway is behind it.", "Give the gateway's serviceHost in the catalogue the Service of its pods.");
    } else results.ok(object, "exists.");
    return results.list;
}

function checkPorts(gateway: GatewayNeed, service: Service, pods: Seen<readonly Pod[]>): readonly Result[] {
    const results = new Results("gateway-port", Group.Gateways);
    for (const { number, targetPort } of gateway.reference.ports) {
        const object = `${serviceObject(gateway)} port ${number}`, ports = service.ports.filter((port) => port.number === number);
        const port = ports.find(({ protocol }) => protocol === "TCP");
        if (port === undefined) {
            const there = enumerate(service.ports.filter(({ protocol }) => protocol === "TCP").map((other) => String(other.number)), 12);
            results.missing(object, ports.length > 0 ? `is ${ports[0]?.protocol} only, and egress is TCP.` : `does not exist${there === "" ? "" : `; the Service has ${there}`}: connections that are sent to it go nowhere.`,
                `Add {name: tls-${number}, port: ${number}, targetPort: ${targetPort}, protocol: TCP} to the Service, or correct the gateway's ports in the catalogue.`);
        } else checkTargetPort({ object, port, declared: targetPort, pods: pods.seen ? { seen: true, value: servedBy(service, pods.value) } : pods }, results);
    }
    return results.list;
}

interface PortCheck {
    readonly object: string;
    readonly port: ServicePort;
    readonly declared: number;
    /** The pods behind the Service. */
    readonly pods: Seen<readonly Pod[]>;
}

function checkTargetPort({ object, port, declared, pods }: PortCheck, results: Results): void {
    const fix = `Correct the port's targetPort in the catalogue, or the Service's to ${declared}.`;
    if (typeof port.targetPort === "number") {
        if (port.targetPort === declared) results.ok(object, `leads to targetPort ${declared}.`);
        else results.missing(object, `leads to targetPort ${port.targetPort}, but ${declared} is declared.`, fix);
        return;
    }
    const name = port.targetPort;
    if (!pods.seen) return results.unseen(object, pods.why, `leads to the targetPort named "${name}", whose number is not known`);
    if (pods.value.length === 0) return results.unknown(object, `leads to the targetPort named "${name}", and no pod is there to tell its number.`);
    const numbers = pods.value.map(({ ports }) => ports.find((one) => one.name === name)?.number);
    const known = [...new Set(numbers.filter((number) => number !== undefined))];
    if (known.length === 0) results.missing(object, `leads to the targetPort named "${name}", which no container of the gateway's pods declares: Kubernetes sends it nowhere.`, `Name the container's port ${declared} "${name}", or set the Service's targetPort to ${declared}.`);
    else if (known.length === 1 && known[0] === declared && !numbers.includes(undefined)) results.ok(object, `leads to targetPort ${declared}, named "${name}".`);
    else if (known.every((number) => number === declared)) results.warning(object, `leads to the targetPort named "${name}", which ${count(numbers.filter((number) => number === undefined).length, "pod")} of ${numbers.length} do not declare: they get no connection.`, `Name their container's port ${declared} "${name}".`);
    else results.missing(object, `leads to the targetPort named "${name}", which is ${enumerate(known.map(String))} in the gateway's pods, but ${declared} is declared.`, fix);
}

/** Sidecars of a consumer have no cluster for a Service that is not exported to them. */
function checkVisibility(gateway: GatewayNeed, service: Service, { meshes }: Seens): readonly Result[] {
    const results = new Results("gateway-visible", Group.Gateways), written = service.annotations[EXPORT_TO];
    const exportTo = written === undefined ? exportDefault(meshes, "defaultServiceExportTo") : written.split(",").map((word) => word.trim());
    const blind = gateway.consumers.filter((namespace) => !isVisible(exportTo, gateway.service.namespace, namespace));
    if (blind.length === 0) results.ok(serviceObject(gateway), "is seen by all consumers.");
    else {
        const by = written === undefined ? "meshConfig.defaultServiceExportTo" : `its annotation ${EXPORT_TO}`, all = blind.includes(ALL_CONSUMERS);
        results.missing(serviceObject(gateway), `is exported to ${enumerate(exportTo)} by ${by}, so that ${all ? "other sidecars" : `the sidecars of ${enumerate(blind)}`} do not see it: their connections to the hosts fail.`,
            written === undefined ? `Give the Service the annotation ${EXPORT_TO}: "${all ? "*" : [...exportTo, ...blind].join(",")}".` : `Add ${all ? '"*"' : enumerate(blind)} to the annotation, or take it off.`);
    }
    return results.list;
}
