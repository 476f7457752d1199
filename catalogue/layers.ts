// A catalogue file and the files that it extends → one layer: an overlay says what it changes, and nothing is copied.
import { dirname, resolve } from "node:path";
import type { Findings } from "./errors";
import { type Position, displayPath } from "./position";
import { type FileContent, type Layer, namesIn, readSections, suggest } from "./sections";
import { type ReadFile, decode, readFailure } from "./source";
import { type Entry, type MapNode, childOf, merge, mergeMaps } from "./tree";
import { parseTree } from "./yaml";

/** A bound for chains that a link in the file system makes endless. */
const MAX_CHAIN = 20;

export interface Sources {
    readonly readFile: ReadFile;
    /** What shown paths are relative to. */
    readonly cwd: string;
}

export interface Layers {
    readonly merged: Layer;
    /** Every file that was read, the extended ones first, as they are shown. */
    readonly files: readonly string[];
}

/** Reads `path` and what it extends; undefined when nothing of it can be used. `content` spares the reading of `path` itself. */
export function readLayers(path: string, sources: Sources, findings: Findings, content?: string): Layers | undefined {
    const absolute = resolve(sources.cwd, path), file = displayPath(absolute, sources.cwd);
    const own = content === undefined ? readContent(absolute, sources) : { ok: true as const, content };
    if (!own.ok) {
        findings.addUnreadable({ file, line: 1, column: 1 }, [], `the catalogue ${own.reason}.`);
        return undefined;
    }
    return readChain(absolute, own.content, [absolute], sources, findings);
}

function readContent(absolute: string, { readFile }: Sources): { readonly ok: true; readonly content: string | Uint8Array } | { readonly ok: false; readonly reason: string } {
    try {
        return { ok: true, content: readFile(absolute) };
    } catch (error) {
        return { ok: false, reason: readFailure(error) };
    }
}

function readChain(absolute: string, content: string | Uint8Array, chain: readonly string[], sources: Sources, findings: Findings): Layers | undefined {
    const file = displayPath(absolute, sources.cwd), source = decode(content);
    if (!source.ok) {
        const before = source.text.slice(0, source.offset).split("\n");
        findings.addUnreadable({ file, line: before.length, column: (before.at(-1) ?? "").length + 1 }, [], `the file ${source.reason}.`);
        return undefined;
    }
    const tree = parseTree(file, source.text, findings);
    const layer = tree === undefined ? undefined : readSections(tree, findings);
    if (layer === undefined) return undefined;
    if (layer.extends === undefined) return { merged: layer, files: [file] };
    const base = readBase(layer.extends, absolute, chain, sources, findings);
    if (base === undefined) return { merged: layer, files: [file] };
    return { merged: overlay(base, layer, findings), files: [...base.files, file] };
}

function readBase({ path, position }: NonNullable<FileContent["extends"]>, from: string, chain: readonly string[], sources: Sources, findings: Findings): Layers | undefined {
    const absolute = resolve(dirname(from), path), shown = displayPath(absolute, sources.cwd);
    const refuse = (position: Position, text: string): undefined => {
        findings.addUnreadable(position, ["extends"], text);
        return undefined;
    };
    if (chain.includes(absolute)) {
        const circle = [...chain.slice(chain.indexOf(absolute)), absolute].map((each) => displayPath(each, sources.cwd));
        return refuse(position, `leads back to a file that extends this one (${circle.join(" → ")}): remove one of these extends.`);
    }
    if (chain.length >= MAX_CHAIN) return refuse(position, `makes a chain of more than ${MAX_CHAIN} files: extend fewer.`);
    const content = readContent(absolute, sources);
    if (!content.ok) return refuse(position, `names ${shown} (relative to this file), which ${content.reason}.`);
    return readChain(absolute, content.content, [...chain, absolute], sources, findings);
}

function overlay({ merged: base, files }: Layers, upper: FileContent, findings: Findings): Layer {
    return {
        gateways: mergeMaps(base.gateways, upper.gateways),
        defaults: mergeMaps(base.defaults, upper.defaults),
        hosts: overlayHosts(base, upper, files.at(-1) ?? "", findings),
    };
}

/** Hosts keep the key of the file that declares them: what a declaration lacks is missing there. */
function overlayHosts(base: Layer, upper: Layer, baseFile: string, findings: Findings): MapNode {
    const entries = new Map<string, Entry>(base.hosts.entries), known = namesIn(base.hosts);
    for (const [name, entry] of upper.hosts.entries) {
        const below = base.hosts.entries.get(name);
        if (below !== undefined && below.node.kind !== "removed") {
            entries.set(name, { key: below.key, node: merge(below.node, entry.node) });
        } else if (findings.complete && entry.node.kind === "map" && childOf(entry.node, "host") === undefined) {
            findings.add({
                position: entry.key, path: ["hosts", name], restsOnAbsence: true,
                text: `has no host, as a new declaration must, and ${baseFile}, which this file extends, declares none of this name to change: ${suggest(name, known)}`,
            });
        } else {
            entries.set(name, entry);
        }
    }
    return { ...upper.hosts, entries };
}
