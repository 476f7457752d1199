// Conflicts between declarations: what each one may say alone and two may not say together.
import type { Declaration } from "./declaration";
import { normaliseHost } from "./host";
import type { Path } from "./problem";
import { usesGateway } from "./routes";

export const ConflictKind = { SameHost: "same-host", SameSni: "same-gateway-port-and-sni", MixedConsumerModes: "mixed-consumer-modes" } as const;
export type ConflictKind = (typeof ConflictKind)[keyof typeof ConflictKind];

export interface NamedDeclaration {
    readonly name: string;
    readonly declaration: Declaration;
}

export interface Conflict {
    readonly kind: ConflictKind;
    /** The two declarations, the earlier one first. */
    readonly names: readonly [string, string];
    /** The property at fault, the same in both. */
    readonly path: Path;
    /** One sentence that names both, with the way out. */
    readonly text: string;
}

/** Every conflict, in the order of the later declaration. Linear in the number of declarations. */
export function findConflicts(entries: readonly NamedDeclaration[]): readonly Conflict[] {
    const conflicts: Conflict[] = [];
    const hosts = new Map<string, NamedDeclaration>(), gateways = new Map<string, NamedDeclaration>();
    for (const entry of entries) {
        const host = normaliseHost(entry.declaration.host), first = hosts.get(host);
        if (first === undefined) hosts.set(host, entry);
        else conflicts.push(sameHost(first, entry, host));
        const gateway = gatewayOf(entry.declaration);
        if (gateway === undefined) continue;
        const other = gateways.get(gateway);
        if (other === undefined) gateways.set(gateway, entry);
        else if (other.declaration.gateway?.consumers !== entry.declaration.gateway?.consumers) conflicts.push(mixedModes(other, entry, gateway));
    }
    return conflicts;
}

function gatewayOf({ route, gateway }: Declaration): string | undefined {
    return usesGateway(route) && gateway !== undefined ? gateway.serviceHost.toLowerCase() : undefined;
}

function sameHost(first: NamedDeclaration, second: NamedDeclaration, host: string): Conflict {
    const gateway = gatewayOf(second.declaration);
    const shared = gateway !== undefined && gateway === gatewayOf(first.declaration)
        ? second.declaration.ports.find(({ number }) => first.declaration.ports.some((port) => port.number === number)) : undefined;
    const names = [first.name, second.name] as const, both = `${JSON.stringify(first.name)} and ${JSON.stringify(second.name)}`;
    if (shared !== undefined) {
        return {
            kind: ConflictKind.SameSni, names, path: ["host"],
            text: `${both} both put ${host} on port ${shared.number} of the gateway ${gateway}: Istio silently drops the later server; make them one declaration.`,
        };
    }
    return {
        kind: ConflictKind.SameHost, names, path: ["host"],
        text: `${both} both declare ${host}: two ServiceEntries of one host break or shadow each other; make them one declaration, with the ports and consumers of both.`,
    };
}

function mixedModes(first: NamedDeclaration, second: NamedDeclaration, gateway: string): Conflict {
    const mode = ({ declaration }: NamedDeclaration): string => declaration.gateway?.consumers ?? "";
    return {
        kind: ConflictKind.MixedConsumerModes, names: [first.name, second.name], path: ["gateway", "consumers"],
        text: `${JSON.stringify(first.name)} says that the gateway ${gateway} serves ${mode(first)} consumers and ${JSON.stringify(second.name)} says ${mode(second)}: subsets of the two modes hide each other, so the whole gateway must have one mode.`,
    };
}
