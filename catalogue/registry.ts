// The registry: one file in which several stacks write which external hosts they declare, so that none declares another's.
import { resolve } from "node:path";
import { parseDocument, stringify } from "yaml";
import { z } from "zod";
import { type Claim, findConflicts } from "../model/conflicts";
import { type Declaration, declarationSchema, gatewayReferenceSchema } from "../model/declaration";
import { formatPath, show } from "../model/problem";
import { checkStructure } from "../model/structure";
import type { CatalogueEntry } from "./declarations";
import { formatPosition } from "./position";
import { type ReadFile, decode, readFailure, readFromDisk } from "./source";

const HEADER = "# Which stack declares which external host. Written by `istio-egress register`; by hand only to remove a stack that is gone.\n";

const { host, route, ports, addresses, consumers } = declarationSchema.shape;
const stackSchema = z.strictObject({
    gateways: z.record(z.string().min(1), gatewayReferenceSchema.omit({ serviceHost: true })).default({}).describe("The gateways that the stack's hosts use, by the full name of their Services."),
    hosts: z.record(z.string().min(1), z.strictObject({ host, route, ports, addresses, consumers, gateway: z.string().min(1).optional() })).default({}).describe("The hosts, by the names of their declarations."),
});
const registrySchema = z.strictObject({ stacks: z.record(z.string().min(1), stackSchema).default({}) }).describe("A registry of declared hosts.");

type StackSection = z.output<typeof stackSchema>;

/** The stacks' sections by `project/stack`. */
export type Registry = ReadonlyMap<string, StackSection>;

export type RegistryResult = { readonly ok: true; readonly registry: Registry } | { readonly ok: false; readonly errors: readonly string[] };

/** Reads a registry's text; every error is a line with the file's name. An empty text is an empty registry. */
export function parseRegistry(text: string, file: string): RegistryResult {
    const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true }), [syntax] = document.errors;
    if (syntax !== undefined) {
        const line = text.slice(0, syntax.pos[0]).split("\n").length;
        return { ok: false, errors: [`${file}:${line}: ${syntax.message}`] };
    }
    const structure = checkStructure(registrySchema, plain(document) ?? {});
    if (!structure.ok) return { ok: false, errors: structure.problems.map((problem) => `${file}: ${formatPath(problem.path)} ${problem.text}`) };
    const { stacks } = structure.value, errors: string[] = [];
    for (const [stack, section] of Object.entries(stacks)) {
        for (const [name, { gateway }] of Object.entries(section.hosts)) {
            if (gateway !== undefined && section.gateways[gateway] === undefined) errors.push(`${file}: stacks.${JSON.stringify(stack)}.hosts.${name}.gateway is ${show(gateway)}, but the stack's gateways have none of that name: run \`istio-egress register\` for that stack.`);
        }
    }
    return errors.length > 0 ? { ok: false, errors } : { ok: true, registry: new Map(Object.entries(stacks)) };
}

/** Reads a registry file; one that does not exist is an error, since a mistyped path would compare nothing. */
export function readRegistry(file: string, readFile: ReadFile = readFromDisk): RegistryResult {
    let content: string | Uint8Array;
    try {
        content = readFile(resolve(file));
    } catch (error) {
        return { ok: false, errors: [`${file}: the registry ${readFailure(error)}.`] };
    }
    const source = decode(content);
    return source.ok ? parseRegistry(source.text, file) : { ok: false, errors: [`${file}: the registry ${source.reason}.`] };
}

function plain(document: { toJS(): unknown }): unknown {
    try {
        return document.toJS();
    } catch {
        // Aliases that stand for too much.
        return "what cannot be read";
    }
}

/** The conflicts of a stack's declarations with those of the other stacks, each a line with its place in the catalogue. */
export function registryConflicts(entries: readonly CatalogueEntry[], registry: Registry, stack: string, file: string): readonly string[] {
    const others = [...registry].filter(([name]) => name !== stack).flatMap(([name, section]) => claimsOf(section).map((claim) => ({ ...claim, stack: name })));
    const own = new Map(entries.map((entry) => [entry.name, entry]));
    return findConflicts([...others, ...entries]).flatMap(({ names: [, second], stacks, path, text }) => {
        const entry = own.get(second);
        // Two of one stack are that stack's to resolve; its own catalogue has said so.
        if (entry === undefined || stacks === undefined || stacks[1] !== undefined || stacks[0] === undefined) return [];
        return [`${formatPosition(entry.origin)}: ${formatPath(["hosts", second, ...path])} conflicts with stack ${stacks[0]} (${file}): ${text}`];
    });
}

/** The registry's text with one stack's section as its declarations say; stacks and names in alphabetical order, so that changes are small. */
export function withStack(registry: Registry, stack: string, entries: readonly Pick<CatalogueEntry, "name" | "declaration">[]): string {
    return render(new Map([...registry, [stack, sectionOf(entries)]]));
}

export function withoutStack(registry: Registry, stack: string): string {
    return render(new Map([...registry].filter(([name]) => name !== stack)));
}

/** Whether the registry says of a stack what its declarations say. */
export function isRegistered(registry: Registry, stack: string, entries: readonly Pick<CatalogueEntry, "name" | "declaration">[]): boolean {
    const section = registry.get(stack);
    return section !== undefined && render(new Map([[stack, section]])) === render(new Map([[stack, sectionOf(entries)]]));
}

function claimsOf(section: StackSection): readonly { readonly name: string; readonly declaration: Claim }[] {
    return Object.entries(section.hosts).map(([name, { gateway, ...claim }]) => {
        const reference = gateway === undefined ? undefined : section.gateways[gateway];
        return { name, declaration: { ...claim, gateway: reference === undefined || gateway === undefined ? undefined : { ...reference, serviceHost: gateway } } };
    });
}

function sectionOf(entries: readonly Pick<CatalogueEntry, "name" | "declaration">[]): StackSection {
    const gateways: StackSection["gateways"] = {}, hosts: StackSection["hosts"] = {};
    for (const { name, declaration } of entries) {
        const { gateway } = declaration;
        if (gateway !== undefined) gateways[gateway.serviceHost] = mergePorts(gateways[gateway.serviceHost], gateway);
        hosts[name] = {
            host: declaration.host, route: declaration.route, ports: declaration.ports, addresses: declaration.addresses,
            consumers: declaration.consumers, gateway: gateway?.serviceHost,
        };
    }
    return { gateways, hosts };
}

function mergePorts(known: StackSection["gateways"][string] | undefined, gateway: NonNullable<Declaration["gateway"]>): StackSection["gateways"][string] {
    const reference = gatewayReferenceSchema.omit({ serviceHost: true }).strip().parse(gateway);
    const ports = [...(known?.ports ?? []), ...reference.ports].filter((port, index, all) => all.findIndex(({ number }) => number === port.number) === index);
    return { ...(known ?? reference), ports };
}

function render(registry: Registry): string {
    const stacks = Object.fromEntries([...registry].map(([name, { gateways, hosts }]) => [name, defined({ gateways: isEmpty(gateways) ? undefined : gateways, hosts })]));
    // Without undefined, and in one order for all who write it.
    return HEADER + stringify(JSON.parse(JSON.stringify({ stacks })), { sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false });
}

const isEmpty = (map: object): boolean => Object.keys(map).length === 0;
const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
