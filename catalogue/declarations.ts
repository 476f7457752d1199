// A merged layer → checked declarations: defaults under each host, gateways by name, then the model's verdicts.
import { z } from "zod";
import { checkDeclaration } from "../model/check";
import { findConflicts } from "../model/conflicts";
import { type Declaration, type DeclarationInput, gatewayReferenceSchema } from "../model/declaration";
import { formatPath, show } from "../model/problem";
import { Route } from "../model/routes";
import { checkStructure } from "../model/structure";
import type { Finding, Findings } from "./errors";
import { type Check, type Knows, judge } from "./judge";
import { type Position, formatPosition } from "./position";
import { knownProperties } from "./schema";
import { type Layer, namesIn, suggest } from "./sections";
import { type Entry, type MapNode, childOf, locate, mergeMaps, toPlain, withEntry } from "./tree";

export interface CatalogueEntry {
    /** The declaration's name: the key under hosts. */
    readonly name: string;
    /** Checked, with its defaults filled in. */
    readonly declaration: Declaration;
    /** What the files say, merged, as it would be written in one piece. */
    readonly input: DeclarationInput;
    /** The key under hosts, in the file that declares it. */
    readonly origin: Position;
}

/** A declaration with the place of each of its values. */
interface Located extends CatalogueEntry {
    readonly entry: Entry;
}

/** The declarations of a catalogue; what is wrong with them is in `findings`. */
export function readDeclarations(layer: Layer, findings: Findings): readonly CatalogueEntry[] {
    const knows = knownProperties(), used = new Set<string>(), good: Located[] = [];
    for (const [name, host] of layer.hosts.entries) {
        if (host.node.kind === "removed") {
            if (!host.node.used) findings.add(removesNothing(name, "hosts", host.node.origin));
            continue;
        }
        if (host.node.kind !== "map") continue;
        const checked = readHost({ key: host.key, node: host.node }, layer, used);
        const all = [...checked.findings, ...judge(checked.entry, checked.check, knows)];
        for (const finding of all) findings.add(finding.path[0] === "hosts" ? finding : { ...finding, host: name });
        if (all.length > 0) continue;
        const input = toPlain(checked.entry.node), result = checkDeclaration(input);
        if (result.ok) good.push({ name, declaration: result.declaration, input: input as DeclarationInput, origin: host.key, entry: checked.entry });
    }
    checkOtherGateways(layer.gateways, used, knows, findings);
    reportConflicts(good, findings);
    return good.map(({ name, declaration, input, origin }) => ({ name, declaration, input, origin }));
}

interface CheckedHost {
    readonly entry: Entry;
    readonly check: Check;
    readonly findings: readonly Finding[];
}

function readHost({ key, node: own }: { readonly key: Position; readonly node: MapNode }, layer: Layer, used: Set<string>): CheckedHost {
    const route = childOf(own, "route") ?? childOf(layer.defaults, "route");
    const direct = route?.kind === "scalar" && route.value === Route.Direct;
    // A direct host has no use for the default gateway; one that it names itself is an error, which the model knows.
    const defaults = direct && !own.entries.has("gateway") ? withEntry(layer.defaults, "gateway", undefined) : layer.defaults;
    const merged = mergeMaps(defaults, own), named = merged.entries.get("gateway");
    const all: Check = (raw) => {
        const result = checkDeclaration(raw);
        return result.ok ? [] : result.problems;
    };
    if (named === undefined || named.node.kind === "removed") return { entry: { key, node: merged }, check: all, findings: [] };
    const reference = lookUp(named, layer.gateways);
    if (reference.kind === "found") {
        used.add(reference.name);
        return { entry: { key, node: withEntry(merged, "gateway", { key: named.key, path: named.node.path, node: reference.map }) }, check: all, findings: [] };
    }
    const withoutGateway: Check = (raw) => all(raw).filter(({ path }) => path[0] !== "gateway");
    return { entry: { key, node: withEntry(merged, "gateway", undefined) }, check: withoutGateway, findings: reference.kind === "wrong" ? [reference.finding] : [] };
}

type Lookup =
    | { readonly kind: "found"; readonly name: string; readonly map: MapNode }
    | { readonly kind: "wrong"; readonly finding: Finding }
    /** What is wrong has been reported where it is written. */
    | { readonly kind: "unreadable" };

function lookUp({ node }: Entry, gateways: MapNode): Lookup {
    const at = { position: node.origin, path: node.path };
    if (node.kind !== "scalar" || typeof node.value !== "string") {
        return { kind: "wrong", finding: { ...at, text: `is ${show(toPlain(node))}, but must be the name of a gateway: write its reference under gateways, and its name here.` } };
    }
    const gateway = gateways.entries.get(node.value)?.node;
    if (gateway?.kind === "map") return { kind: "found", name: node.value, map: gateway };
    if (gateway?.kind === "removed" && gateway.unreadable === true) return { kind: "unreadable" };
    return { kind: "wrong", finding: { ...at, restsOnAbsence: true, text: `is ${show(node.value)}, but no gateway is called so: ${suggest(node.value, namesIn(gateways))}` } };
}

function removesNothing(name: string, section: string, position: Position): Finding {
    return {
        position, path: [section, name], restsOnAbsence: true,
        text: "is null (or empty), which removes what an extended file declares, and none declares this name: write its properties, or remove the line.",
    };
}

/** Those that no host names; the others are judged with their hosts. */
function checkOtherGateways(gateways: MapNode, used: ReadonlySet<string>, knows: Knows, findings: Findings): void {
    // As a declaration's property, so that messages call it a gateway.
    const schema = z.object({ gateway: gatewayReferenceSchema });
    const check: Check = (raw) => {
        const result = checkStructure(schema, { gateway: raw });
        return result.ok ? [] : result.problems.map((problem) => ({ ...problem, path: problem.path.slice(1) }));
    };
    for (const [name, { key, node }] of gateways.entries) {
        if (node.kind === "removed" && !node.used) findings.add(removesNothing(name, "gateways", node.origin));
        if (node.kind !== "map" || used.has(name)) continue;
        for (const finding of judge({ key, node }, check, (path) => knows(["gateway", ...path]))) findings.add(finding);
    }
}

function reportConflicts(good: readonly Located[], findings: Findings): void {
    const byName = new Map(good.map((each) => [each.name, each])), seen = new Set<string>();
    for (const { names: [first, second], path, text } of findConflicts(good)) {
        const one = byName.get(first), other = byName.get(second);
        if (one === undefined || other === undefined) continue;
        const earlier = locate(one.entry, path, false), later = locate(other.entry, path, false);
        const key = `${formatPosition(earlier.position)} ${formatPosition(later.position)}`;
        // Gateways are shared: one conflict of two of them is not one for each pair of hosts.
        if (seen.has(key)) continue;
        seen.add(key);
        findings.add({
            position: later.position, path: later.path, restsOnAbsence: true,
            text: `conflicts with ${formatPath(earlier.path)} (${formatPosition(earlier.position)}): ${text}`,
        });
    }
}
