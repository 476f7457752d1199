// An egress gateway as users declare it: one that exists, or one to deploy; and what declarations refer to.
import { z } from "zod";
import { type Declaration, type GatewayReference, LABEL_PATTERN, Lockdown, gatewayReferenceSchema } from "./declaration";
import { DURATION_PATTERN, formatDuration, milliseconds } from "./duration";
import { gatewayPort } from "./ports";
import { type Path, Problems, show } from "./problem";
import { usesGateway } from "./routes";

export const GatewayMode = {
    /** The gateway is somebody else's: it is referred to, and nothing is created. */
    Existing: "existing",
    /** The gateway is created, with all that it needs. */
    Deploy: "deploy",
} as const;
export type GatewayMode = (typeof GatewayMode)[keyof typeof GatewayMode];

/** Ports that istio-proxy itself listens on (istio.io, "Ports used by Istio", sidecar and gateway). */
const PROXY_PORTS = [15000, 15001, 15004, 15006, 15008, 15020, 15021, 15053, 15090];
/** Istio's own charts name a gateway's objects so; taking them over would be an accident. */
const CHART_NAMES = ["istio-egressgateway", "istio-ingressgateway"];
/** No limit, to Istio (istio, pkg/bootstrap/config.go). */
const MAX_INT32 = 2 ** 31 - 1;
/** What a connection that waits for a failover takes of a pod's memory (measured, 2,000 of them: docs/measurements/waiting-limits.md). */
const WAITING_CONNECTION_BYTES = 20 * 1024;
const DEFAULT_MAX_CONNECTIONS = 10_000;
/** Of its memory limit a pod may give a third to connections that wait: its hosts and the connections that are open need the rest. */
const WAITING_SHARE = 1 / 3;
/** Room in a Service's name for nothing else: it is a DNS label. */
const MAX_LABEL = 63;

const port = (text: string): z.ZodInt => z.int().min(1).max(65535).describe(text);
const duration = (text: string): z.ZodString => z.string().regex(DURATION_PATTERN).describe(`${text} A Go duration such as "10s" or "1m30s".`);
const quantity = (text: string): z.ZodString => z.string().regex(/^\d+(\.\d+)?(m|k|M|G|Ki|Mi|Gi)?$/).describe(text);

const deploymentSchema = z.strictObject({
    longestConnection: duration("The longest time that a connection through the gateway may last: a pod that is to go lets its connections end for that long, and goes as soon as the last one has. Required: below it streams are cut, above it a stuck one holds up a node's drain."),
    name: z.string().regex(LABEL_PATTERN).optional().describe("The name of the gateway's objects. Default: egressgateway-NAME."),
    revision: z.string().min(1).optional().describe("The revision of istiod that injects the pods (label istio.io/rev). Default: the one that the namespace's labels choose."),
    endpointRemoval: duration("How long a pod that is to go still serves, until no sidecar knows its address any more. Default 10s.").default("10s"),
    minReplicas: z.int().min(1).max(1000).default(2).describe("Pods at least. Default 2: one may go at any time."),
    maxReplicas: z.int().min(1).max(1000).default(5).describe("Pods at most. The same as minReplicas: no autoscaler. Default 5."),
    targetCpuUtilization: z.int().min(1).max(100).default(70).describe("The share of the requested CPU, in percent, at which the autoscaler adds pods. Default 70."),
    cpuRequest: quantity("The CPU that a pod requests. Default 200m.").default("200m"),
    memoryRequest: quantity("The memory that a pod requests. Default 256Mi.").default("256Mi"),
    memoryLimit: quantity("The memory at which a pod is ended. Default 1Gi.").default("1Gi"),
    maxConnections: z.int().min(1).max(MAX_INT32).optional().describe("Connections of applications that a pod takes at most at a time; it closes each further one at once. It bounds the memory and the sockets of connections that wait for a failover. Without effect before Istio 1.29. Default 10000, or what a third of memoryLimit holds, at 20 KiB each."),
    readSecrets: z.boolean().default(false).describe("Whether the gateway may read the Secrets of its namespace, which credentialName needs. Default false."),
}).describe("How the gateway is deployed, with mode deploy.");

// EgressLockdown sets the lockdown, in the reference that it publishes.
const { shape: referenceShape } = gatewayReferenceSchema.omit({ lockdown: true });

export const gatewaySchema = z.strictObject({
    ...referenceShape,
    mode: z.enum(GatewayMode).default(GatewayMode.Existing).describe("Whether the gateway exists, or is to be deployed. Default existing."),
    selector: gatewayReferenceSchema.shape.selector.optional(),
    serviceHost: gatewayReferenceSchema.shape.serviceHost.optional(),
    ports: z.array(z.strictObject({
        number: port("The port of the gateway's Service."),
        targetPort: port("The port on which the gateway's pods listen for it. With mode deploy the default is the same number.").optional(),
    })).min(1).optional().describe("The ports of the gateway's Service that egress may use. With mode deploy the default is 443."),
    deployment: deploymentSchema.optional(),
}).describe("An egress gateway.");

export type Gateway = z.output<typeof gatewaySchema>;
export type GatewayDeployment = z.output<typeof deploymentSchema>;

/** What tells the pods of a deployed gateway from all others, those of Istio's charts included. */
export const GATEWAY_LABEL = "istio-egress/gateway";

export const gatewayObjectName = (name: string, { deployment }: Pick<Gateway, "deployment">): string => deployment?.name ?? `egressgateway-${name}`;

/** What declarations take as `gateway`; what is missing or wrong is gatewayProblems' to say. */
export function gatewayReference(name: string, gateway: Gateway): GatewayReference {
    const { namespace, istioVersion, consumers, envoyFilters } = gateway;
    const ports = (gateway.ports ?? [{ number: 443 }]).map(({ number, targetPort = number }) => ({ number, targetPort }));
    if (gateway.mode === GatewayMode.Existing) return { namespace, selector: gateway.selector ?? {}, serviceHost: gateway.serviceHost ?? "", ports, istioVersion, consumers, lockdown: Lockdown.Off, envoyFilters };
    const object = gatewayObjectName(name, gateway);
    return { namespace, selector: { [GATEWAY_LABEL]: object }, serviceHost: `${object}.${namespace}.svc.cluster.local`, ports, istioVersion, consumers, lockdown: Lockdown.Off, envoyFilters };
}

/** What contradicts the mode, so that nobody deploys beside, or refers to, a gateway by accident. */
export function checkGatewayMode(name: string, gateway: Gateway): Problems {
    const problems = new Problems(), mode: readonly Path[] = [["mode"]];
    if (gateway.mode === GatewayMode.Existing) {
        for (const field of ["selector", "serviceHost", "ports"] as const) {
            if (gateway[field] === undefined) problems.add([field], `is missing: a gateway that exists is found by it; with mode deploy one is created.`, mode);
        }
        (gateway.ports ?? []).forEach(({ targetPort }, index) => {
            if (targetPort === undefined) problems.add(["ports", index, "targetPort"], "is missing: The port on which the gateway's pods listen for it.", mode);
        });
        if (gateway.deployment !== undefined) problems.add(["deployment"], "has no effect on a gateway that exists: choose mode deploy, or remove it.", mode);
        return problems;
    }
    for (const field of ["selector", "serviceHost"] as const) {
        if (gateway[field] !== undefined) problems.add([field], `is ${show(gateway[field])}, which names a gateway that exists, but the mode is deploy: choose mode existing, or remove it; the gateway that is created has its own.`, mode);
    }
    if (gateway.deployment === undefined) problems.add(["deployment"], "is missing: mode deploy needs at least deployment.longestConnection, how long connections through the gateway may last.", mode);
    else checkDeployment(problems, name, gateway, gateway.deployment);
    return problems;
}

function checkDeployment(problems: Problems, name: string, gateway: Gateway, deployment: GatewayDeployment): void {
    const object = gatewayObjectName(name, gateway);
    if (object.length > MAX_LABEL || !LABEL_PATTERN.test(object)) problems.add(["deployment", "name"], `is ${show(object)}, which is not the name of a Service (RFC 1123 label, ${MAX_LABEL} characters at most): give a name.`);
    else if (CHART_NAMES.includes(object)) problems.add(["deployment", "name"], `is ${show(object)}, the name of the gateway of Istio's charts, whose objects this one would take over: choose another, or mode existing.`);
    if (deployment.minReplicas > deployment.maxReplicas) problems.add(["deployment", "maxReplicas"], `is ${deployment.maxReplicas}, but minReplicas is ${deployment.minReplicas}: raise it.`, [["deployment", "minReplicas"]]);
    checkMaxConnections(problems, deployment);
    for (const field of ["longestConnection", "endpointRemoval"] as const) {
        const ms = milliseconds(deployment[field]);
        if (ms % 1000 !== 0) problems.add(["deployment", field], `is ${show(deployment[field])}, but Kubernetes takes whole seconds: round it.`);
    }
    (gateway.ports ?? []).forEach(({ number, targetPort = number }, index) => {
        if (PROXY_PORTS.includes(targetPort)) problems.add(["ports", index, "targetPort"], `is ${targetPort}, on which istio-proxy itself listens: give another targetPort.`, [["ports", index, "number"]]);
    });
}

const connectionsThatFit = (memoryLimit: string): number => Math.floor((bytes(memoryLimit) * WAITING_SHARE) / WAITING_CONNECTION_BYTES);

/** The limit in force: no fewer than one, however small the pod. */
export function decideMaxConnections({ maxConnections, memoryLimit }: GatewayDeployment): number {
    return maxConnections ?? Math.max(1, Math.min(DEFAULT_MAX_CONNECTIONS, connectionsThatFit(memoryLimit)));
}

function checkMaxConnections(problems: Problems, { maxConnections, memoryLimit }: GatewayDeployment): void {
    const most = connectionsThatFit(memoryLimit);
    if (maxConnections === undefined || maxConnections <= most) return;
    problems.add(["deployment", "maxConnections"], `is ${maxConnections}: so many connections that wait for a failover take ${Math.ceil((maxConnections * WAITING_CONNECTION_BYTES) / MEBI)} MiB of a pod, more than a third of memoryLimit (${memoryLimit}), which may end it: ${most < 1 ? "" : `set it to ${most} or less, or `}raise memoryLimit.`, [["deployment", "memoryLimit"]]);
}

const MEBI = 2 ** 20;
const UNITS: Readonly<Record<string, number>> = { m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: MEBI, Gi: 2 ** 30 };

/** A quantity of Kubernetes as the schema takes it, in bytes. */
function bytes(text: string): number {
    const unit = /[a-zA-Z]*$/.exec(text)?.[0] ?? "";
    return Number(text.slice(0, text.length - unit.length)) * (UNITS[unit] ?? NaN);
}

/** How a pod goes: first no sidecar knows it any more, then its connections end, then it does. */
export interface Termination {
    readonly preStopSeconds: number;
    readonly drainSeconds: number;
    readonly graceSeconds: number;
    readonly text: string;
}

/** Envoy's exit, and the agent's look at the last connection once a second. */
const EXIT_SECONDS = 15;

export function decideTermination({ longestConnection, endpointRemoval }: GatewayDeployment): Termination {
    const preStopSeconds = milliseconds(endpointRemoval) / 1000, drainSeconds = milliseconds(longestConnection) / 1000;
    const graceSeconds = preStopSeconds + drainSeconds + EXIT_SECONDS;
    return {
        preStopSeconds, drainSeconds, graceSeconds,
        text: `a pod that is to go serves on for ${formatDuration(preStopSeconds * 1000)}, then lets its connections end for up to ${formatDuration(drainSeconds * 1000)}, and is ended after ${formatDuration(graceSeconds * 1000)} at the latest`,
    };
}

/** What a host says that its gateway must know. */
export type GatewayUser = Pick<Declaration, "route" | "ports" | "failover">;

/** The ports of the Service that a gateway needs for its hosts, in order of number. */
export function gatewayPorts(hosts: readonly GatewayUser[]): { number: number }[] {
    const numbers = hosts.filter(({ route }) => usesGateway(route)).flatMap(({ route, ports }) => ports.map((port) => gatewayPort(port, route)));
    return [...new Set(numbers)].sort((a, b) => a - b).map((number) => ({ number }));
}

/** The longest connection that any of a gateway's hosts declares (failover.longestConnection); undefined when none does. */
export function longestConnection(hosts: readonly GatewayUser[]): string | undefined {
    const declared = hosts.flatMap(({ failover }) => failover?.longestConnection ?? []);
    return declared.reduce<string | undefined>((longest, text) => (longest === undefined || milliseconds(text) > milliseconds(longest) ? text : longest), undefined);
}
