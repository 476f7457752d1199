// The way in: a catalogue file, or its text, → declarations or all errors.
import { resolve } from "node:path";
import { type CatalogueEntry, readDeclarations } from "./declarations";
import { type CatalogueError, Findings } from "./errors";
import { readLayers } from "./layers";
import { type ReadFile, readFromDisk } from "./source";

export interface Catalogue {
    /** In the order of the files, an extended file's hosts first. */
    readonly entries: readonly CatalogueEntry[];
    /** Every file that was read, extended ones first, relative to the working directory when below it. */
    readonly files: readonly string[];
}

export type CatalogueResult = { readonly ok: true; readonly catalogue: Catalogue } | { readonly ok: false; readonly errors: readonly CatalogueError[] };

export interface LoadOptions {
    /** Reads a file by its absolute path. Default: from the disk. */
    readonly readFile?: ReadFile;
    /** What paths are relative to, given ones and shown ones. Default: the process's working directory. */
    readonly cwd?: string;
}

/** Reads a catalogue file and those that it extends. Never throws for what stands in them, or for missing files. */
export function loadCatalogue(path: string, options: LoadOptions = {}): CatalogueResult {
    return load(path, undefined, options);
}

/** The same for a text that would stand in `file`, for tests and editors. */
export function parseCatalogue(text: string, file: string, readFile?: ReadFile): CatalogueResult {
    return load(file, text, readFile === undefined ? {} : { readFile });
}

function load(path: string, text: string | undefined, { readFile = readFromDisk, cwd = process.cwd() }: LoadOptions): CatalogueResult {
    const findings = new Findings();
    const layers = readLayers(path, { readFile, cwd: resolve(cwd) }, findings, text);
    const entries = layers === undefined ? [] : readDeclarations(layers.merged, findings);
    const errors = findings.errors();
    if (errors.length > 0 || layers === undefined) return { ok: false, errors };
    return { ok: true, catalogue: { entries, files: layers.files } };
}
