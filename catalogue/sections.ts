// One catalogue file's content → its sections: extends, gateways, defaults and hosts.
import { show } from "../model/problem";
import { nearest } from "../model/nearest";
import type { Findings } from "./errors";
import type { Position } from "./position";
import { type MapNode, type Node, emptyMap, toPlain } from "./tree";

const SECTIONS = ["extends", "gateways", "defaults", "hosts"] as const;

/** The name of a declaration or gateway: it becomes part of Kubernetes names, so it is one of their labels. */
export const NAME_PATTERN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** RFC 1123: a label's length. */
export const MAX_NAME_LENGTH = 63;

/** What one file says, or several after their merge. */
export interface Layer {
    readonly gateways: MapNode;
    readonly defaults: MapNode;
    readonly hosts: MapNode;
}

export interface FileContent extends Layer {
    readonly extends?: { readonly path: string; readonly position: Position };
}

/** Reads the sections; what is not as it should be is reported and left out. Undefined when there is nothing to go on with. */
export function readSections(root: Node, findings: Findings): FileContent | undefined {
    if (root.kind !== "map") {
        const what = root.kind === "list" ? "a list" : root.kind === "scalar" ? `the single value ${show(root.value)}` : "nothing that can be read";
        findings.addUnreadable(root.origin, [], `the file holds ${what}, but a catalogue is a map with the keys ${SECTIONS.join(", ")}.`);
        return undefined;
    }
    for (const [key, entry] of root.entries) {
        if (SECTIONS.some((section) => section === key)) continue;
        const near = nearest(key, SECTIONS);
        findings.add({ position: entry.key, path: [key], text: `is not a section of a catalogue: ${near === undefined ? `use one of ${SECTIONS.join(", ")}` : `did you mean ${near}?`}` });
    }
    return {
        ...extendsOf(root, findings),
        gateways: namedMaps(root, "gateways", "a gateway's reference", findings),
        defaults: sectionOf(root, "defaults", findings),
        hosts: namedMaps(root, "hosts", "a declaration's properties", findings),
    };
}

function extendsOf(root: MapNode, findings: Findings): Pick<FileContent, "extends"> {
    const node = root.entries.get("extends")?.node;
    if (node === undefined) return {};
    if (node.kind === "scalar" && typeof node.value === "string" && node.value !== "") return { extends: { path: node.value, position: node.origin } };
    findings.addUnreadable(node.origin, ["extends"], `is ${node.kind === "removed" ? "empty" : show(toPlain(node))}, but must be the path of a catalogue file, relative to this one.`);
    return {};
}

/** A section's map; an empty section, all of it commented out perhaps, says nothing. */
function sectionOf(root: MapNode, section: string, findings: Findings): MapNode {
    const node = root.entries.get(section)?.node;
    if (node?.kind === "map") return node;
    if (node !== undefined && node.kind !== "removed") {
        findings.add({ position: node.origin, path: [section], text: `is ${show(toPlain(node))}, but must be a map.` });
    }
    return emptyMap(root.origin, [section]);
}

function namedMaps(root: MapNode, section: string, of: string, findings: Findings): MapNode {
    const map = sectionOf(root, section, findings), entries = new Map(map.entries);
    for (const [name, { key, node }] of map.entries) {
        const path = [section, name];
        if (!NAME_PATTERN.test(name) || name.length > MAX_NAME_LENGTH) {
            findings.add({ position: key, path, text: `has a name that is not made of lower-case letters, digits and inner hyphens, ${MAX_NAME_LENGTH} at most: rename it; the name becomes part of Kubernetes names.` });
        }
        if (node.kind === "map" || node.kind === "removed") continue;
        findings.add({ position: node.origin, path, text: `is ${show(toPlain(node))}, but must be a map of ${of}.` });
        entries.delete(name);
    }
    return { ...map, entries };
}

/** The keys of a map that are there and not removed, for messages. */
export function namesIn(map: MapNode): readonly string[] {
    return [...map.entries].filter(([, { node }]) => node.kind !== "removed").map(([name]) => name);
}

/** How many names a message lists. */
const LISTED_NAMES = 10;

/** `did you mean platform? (There are platform, internet.)`, the end of a message about an unknown name. */
export function suggest(name: string, known: readonly string[]): string {
    const near = nearest(name, known), more = known.length > LISTED_NAMES ? ` and ${known.length - LISTED_NAMES} more` : "";
    const list = `${known.length === 1 ? "is only" : "are"} ${known.length === 0 ? "none" : known.slice(0, LISTED_NAMES).join(", ")}${more}.`;
    if (near === undefined) return `there ${list}`;
    return known.length === 1 ? `did you mean ${near}?` : `did you mean ${near}? (There ${list})`;
}
