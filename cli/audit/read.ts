// Files, folders and standard input → the objects that rules read, each with the place where it is written, and what could not be read.
import { createReadStream, readFileSync } from "node:fs";
import type { MeshObject } from "../../policies/objects";
import { mayBeUnknown } from "../../policies/plain";
import { type FoundFile, findFiles, whyUnreadable } from "./files";
import { type Parsed, parseTexts } from "./parse";
import type { AuditProblem } from "./problem";
import { type RawDocument, documentsIn, documentsOf } from "./stream";
import { decodeText } from "./text";
import { unpack } from "./unpack";

/** The text that an object is written in. */
export interface Written {
    /** As it is shown. */
    readonly file: string;
    /** The line of the file, from 1, at which the text begins. */
    readonly line: number;
    readonly text: string;
    /** The template of a chart that Helm rendered it from, by Helm's own comment. */
    readonly template?: string;
}

export interface ReadObject {
    readonly object: MeshObject;
    /** As it is shown: a file, or a cluster. */
    readonly source: string;
    /** Where it is written; absent for an object of a live cluster. */
    readonly written?: Written;
    /** Which of the text's documents: 0 but for texts with `...` lines. */
    readonly document: number;
}

export interface Reading {
    readonly objects: ReadObject[];
    readonly problems: AuditProblem[];
    /** As they are shown. */
    readonly sources: string[];
    /** Kubernetes objects of any kind. */
    total: number;
}

export interface ReadOptions {
    /** Glob patterns of paths, as they are shown, that are left out in folders. */
    readonly exclude?: readonly string[];
    /** Told before each source: what is read, how many are done, how many there are. */
    readonly onProgress?: (what: string, done: number, all: number) => void;
    readonly stdin?: AsyncIterable<Buffer>;
}

export const STDIN = "-";
const STDIN_SHOWN = "standard input";
/** Files up to this size are read at once, which is quicker. */
const MAX_AT_ONCE = 16_000_000, CHUNK = 1_000_000;
/** How many documents are parsed at once, unless one is large. */
const BATCH = 16, MAX_BATCHED = 100_000;

export async function readPaths(paths: readonly string[], options: ReadOptions = {}): Promise<Reading> {
    const reading: Reading = { objects: [], problems: [], sources: [], total: 0 };
    const disk = paths.filter((path) => path !== STDIN), named = new Set(disk), found = findFiles(disk, options.exclude), all = found.files.length + (disk.length < paths.length ? 1 : 0);
    reading.problems.push(...found.problems);
    if (disk.length > 0 && found.files.length === 0 && found.problems.length === 0) {
        reading.problems.push({ file: disk.join(", "), text: "holds no .yaml, .yml or .json file: name the folder of the manifests." });
    }
    for (const [index, file] of found.files.entries()) {
        options.onProgress?.(file.shown, index, all);
        await readOne(reading, file.shown, (take) => readFile(file, take), named.has(file.path));
    }
    if (disk.length < paths.length) {
        options.onProgress?.(STDIN_SHOWN, found.files.length, all);
        await readOne(reading, STDIN_SHOWN, (take) => readStream(options.stdin ?? process.stdin, take), true);
    }
    return reading;
}

/** @param named whether the user named this source itself, so that finding nothing in it is worth a word */
async function readOne(reading: Reading, source: string, read: (take: (raw: RawDocument) => void) => Promise<void> | undefined, named: boolean): Promise<void> {
    const before = reading.total, problems = reading.problems.length;
    reading.sources.push(source);
    try {
        let batch: RawDocument[] = [];
        const reads = read((raw) => {
            batch.push(raw);
            if (batch.length < BATCH && raw.bytes.length < MAX_BATCHED) return;
            readDocuments(reading, source, batch);
            batch = [];
        });
        // A turn of the event loop for each of thousands of small files is time for nothing.
        if (reads !== undefined) await reads;
        readDocuments(reading, source, batch);
    } catch (error) {
        reading.problems.push({ file: source, text: whyUnreadable(error) });
    }
    if (named && reading.total === before && reading.problems.length === problems) {
        reading.problems.push({ file: source, text: "holds no Kubernetes object: was it meant, or did the command before it fail?" });
    }
}

function readFile({ path, size }: FoundFile, take: (raw: RawDocument) => void): Promise<void> | undefined {
    if (size === undefined || size > MAX_AT_ONCE) return readStream(createReadStream(path, { highWaterMark: CHUNK }) as AsyncIterable<Buffer>, take);
    for (const raw of documentsIn(readFileSync(path))) take(raw);
    return undefined;
}

async function readStream(chunks: AsyncIterable<Buffer>, take: (raw: RawDocument) => void): Promise<void> {
    for await (const raw of documentsOf(chunks)) take(raw);
}

function readDocuments(reading: Reading, file: string, documents: readonly RawDocument[]): void {
    const texts: { readonly line: number; readonly text: string }[] = [];
    const refuse = (line: number, text: string, column?: number): void => {
        reading.problems.push({ file, line, ...(column === undefined ? {} : { column }), text });
    };
    for (const { bytes, line, tooLarge } of documents) {
        if (tooLarge !== undefined) {
            refuse(line, `is one document of ${tooLarge.toLocaleString("en-US")} bytes, too large to be read: split it into documents (---), or audit the cluster itself (--context).`);
            continue;
        }
        const decoded = decodeText(bytes);
        if (decoded.ok) texts.push({ line, text: decoded.text });
        else refuse(line, decoded.reason);
    }
    for (const [index, parsed] of parseTexts(texts.map(({ text }) => text)).entries()) {
        const { line, text } = texts[index] ?? { line: 1, text: "" };
        if (!parsed.ok) refuse(line + (parsed.line ?? 1) - 1, parsed.reason, parsed.column);
        else readValues(reading, file, line, text, parsed);
    }
}

function readValues(reading: Reading, file: string, line: number, text: string, { values, isOwn = false }: Extract<Parsed, { ok: true }>): void {
    let written: Written | undefined;
    const isPlain = isOwn && !mayBeUnknown(text);
    for (const [document, value] of values.entries()) {
        const { objects, total } = unpack(value, `no name (${file}:${line})`, isPlain);
        reading.total += total;
        for (const object of objects) {
            written ??= { file, line, text, template: templateOf(text) };
            reading.objects.push({ object, source: file, written, document });
        }
    }
}

/** `# Source: chart/templates/egress.yaml`, as `helm template` writes it. */
function templateOf(text: string): string | undefined {
    return /^(?:---\s*\n)?# Source: (\S+)/.exec(text)?.[1];
}
