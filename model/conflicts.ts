// Conflicts between declarations, of one catalogue or of several stacks: what each one may say alone and two may not together.
import { ALL_CONSUMERS, type Declaration } from "./declaration";
import { normaliseHost } from "./host";
import { gatewayPort } from "./ports";
import type { Path } from "./problem";
import { Protocol, usesGateway } from "./routes";

export const ConflictKind = {
    SameHost: "same-host", SameSni: "same-gateway-port-and-sni", DifferentProtocols: "different-protocols", SameAddress: "same-address-and-port",
    MixedConsumerModes: "mixed-consumer-modes", MixedLockdown: "mixed-lockdown", DifferentGateway: "different-gateway",
} as const;
export type ConflictKind = (typeof ConflictKind)[keyof typeof ConflictKind];

/** What of a declaration another one can contradict. */
export type Claim = Pick<Declaration, "host" | "route" | "ports" | "addresses" | "consumers" | "gateway">;

export interface NamedDeclaration {
    readonly name: string;
    readonly declaration: Claim;
    /** The stack that declares it, `project/stack`; absent for the one at hand. */
    readonly stack?: string;
}

export interface Conflict {
    readonly kind: ConflictKind;
    /** The two declarations, the earlier one first. */
    readonly names: readonly [string, string];
    /** The stacks of both, where they have one. */
    readonly stacks?: readonly [string | undefined, string | undefined];
    /** The property at fault, the same in both. */
    readonly path: Path;
    /** One sentence that names both, with the way out. */
    readonly text: string;
}

/** Every conflict, in the order of the later declaration. Linear in the number of declarations, their ports and addresses. */
export function findConflicts(entries: readonly NamedDeclaration[]): readonly Conflict[] {
    const conflicts: Conflict[] = [];
    const hosts = new Map<string, NamedDeclaration>(), gateways = new Map<string, NamedDeclaration>(), sockets = new Map<string, NamedDeclaration[]>();
    for (const entry of entries) {
        const host = normaliseHost(entry.declaration.host), first = hosts.get(host);
        if (first === undefined) hosts.set(host, entry);
        else conflicts.push(sameHost(first, entry, host));
        conflicts.push(...sameAddress(entry, sockets));
        const gateway = gatewayOf(entry.declaration);
        if (gateway === undefined) continue;
        const other = gateways.get(gateway);
        if (other === undefined) gateways.set(gateway, entry);
        else conflicts.push(...gatewayConflicts(other, entry, gateway));
    }
    return conflicts;
}

function conflict(kind: ConflictKind, first: NamedDeclaration, second: NamedDeclaration, path: Path, text: string): Conflict {
    const stacks = first.stack === undefined && second.stack === undefined ? {} : { stacks: [first.stack, second.stack] as const };
    return { kind, names: [first.name, second.name], ...stacks, path, text };
}

/** `"a"`, or `"a" of stack egress/prod`. */
function named({ name, stack }: NamedDeclaration): string {
    return stack === undefined ? JSON.stringify(name) : `${JSON.stringify(name)} of stack ${stack}`;
}

function gatewayOf({ route, gateway }: Claim): string | undefined {
    return usesGateway(route) && gateway !== undefined ? gateway.serviceHost.toLowerCase() : undefined;
}

function sameHost(first: NamedDeclaration, second: NamedDeclaration, host: string): Conflict {
    const [one, other] = [first.declaration, second.declaration], both = `${named(first)} and ${named(second)}`, gateway = gatewayOf(other);
    const differs = other.ports.flatMap(({ number, protocol }) => {
        const twin = one.ports.find((port) => port.number === number && port.protocol !== protocol);
        return twin === undefined ? [] : [`${first.name} says ${twin.protocol} and ${second.name} says ${protocol} on port ${number}`];
    })[0];
    if (differs !== undefined) {
        return conflict(ConflictKind.DifferentProtocols, first, second, ["ports"], `${both} declare ${host} with different protocols (${differs}): a sidecar takes one of them for everybody; make them one declaration.`);
    }
    const shared = gateway !== undefined && gateway === gatewayOf(one)
        ? other.ports.find((port) => one.ports.some((twin) => gatewayPort(twin, one.route) === gatewayPort(port, other.route))) : undefined;
    if (shared !== undefined) {
        return conflict(ConflictKind.SameSni, first, second, ["host"], `${both} both put ${host} on port ${gatewayPort(shared, other.route)} of the gateway ${gateway}: Istio silently drops the later server; make them one declaration.`);
    }
    return conflict(ConflictKind.SameHost, first, second, ["host"], `${both} both declare ${host}: two ServiceEntries of one host break or shadow each other; make them one declaration, with the ports and consumers of both.`);
}

/** TCP hosts are told apart by address and port, in each sidecar that sees both. */
function sameAddress(entry: NamedDeclaration, sockets: Map<string, NamedDeclaration[]>): readonly Conflict[] {
    const { ports, addresses = [] } = entry.declaration, found: Conflict[] = [];
    for (const { number } of ports.filter(({ protocol }) => protocol === Protocol.Tcp)) {
        for (const address of addresses) {
            const key = `${address.toLowerCase()} ${number}`, others = sockets.get(key) ?? [];
            const other = others.find((one) => normaliseHost(one.declaration.host) !== normaliseHost(entry.declaration.host) && shareConsumers(one.declaration, entry.declaration));
            if (other !== undefined && !found.some(({ names }) => names[0] === other.name)) {
                found.push(conflict(ConflictKind.SameAddress, other, entry, ["addresses"], `${named(other)} (${other.declaration.host}) and ${named(entry)} (${entry.declaration.host}) both are TCP on ${address}:${number} for the same consumers: TCP carries no name, so a sidecar gives every connection to one of them; give them different ports or addresses.`));
            }
            sockets.set(key, [...others, entry]);
        }
    }
    return found;
}

function shareConsumers(one: Claim, other: Claim): boolean {
    const names = one.consumers.map(({ namespace }) => namespace);
    return names.includes(ALL_CONSUMERS) || other.consumers.some(({ namespace }) => namespace === ALL_CONSUMERS || names.includes(namespace));
}

function gatewayConflicts(first: NamedDeclaration, second: NamedDeclaration, gateway: string): readonly Conflict[] {
    const one = first.declaration.gateway, other = second.declaration.gateway, found: Conflict[] = [];
    if (one === undefined || other === undefined) return [];
    if (one.consumers !== other.consumers) {
        found.push(conflict(ConflictKind.MixedConsumerModes, first, second, ["gateway", "consumers"],
            `${named(first)} says that the gateway ${gateway} serves ${one.consumers} consumers and ${named(second)} says ${other.consumers}: subsets of the two modes hide each other, so the whole gateway must have one mode.`));
    }
    if (one.lockdown !== other.lockdown) {
        found.push(conflict(ConflictKind.MixedLockdown, first, second, ["gateway", "lockdown"],
            `${named(first)} says that the lockdown of the gateway ${gateway} is ${one.lockdown} and ${named(second)} says ${other.lockdown}: the first policy that allows a host makes the gateway deny those without one, so the whole gateway must have one mode.`));
    }
    const moved = other.ports.find(({ number, targetPort }) => one.ports.some((port) => port.number === number && port.targetPort !== targetPort));
    if (moved !== undefined) {
        found.push(conflict(ConflictKind.DifferentGateway, first, second, ["gateway", "ports"],
            `${named(first)} and ${named(second)} disagree about port ${moved.number} of the gateway ${gateway}, on which its pods listen on ${one.ports.find(({ number }) => number === moved.number)?.targetPort} or on ${moved.targetPort}: look at the Service, and correct one.`));
    }
    return found;
}
