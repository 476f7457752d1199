// Bytes → documents: a stream of YAML documents is cut at its markers, so that each is parsed, and fails, by itself.

/** A part of a file between two `---` lines. */
export interface RawDocument {
    readonly bytes: Buffer;
    /** The file's line, from 1, at which the bytes begin. */
    readonly line: number;
    /** More than one document may have: the bytes are not kept, only how many there are. */
    readonly tooLarge?: number;
}

/**
 * Far above what one object is. A list of a whole cluster's objects in one document may come near it; a live cluster and
 * a stream of documents are read piece by piece and have no limit.
 */
export const MAX_DOCUMENT_BYTES = 64_000_000;

const MARKER = Buffer.from("\n---"), LINE_FEED = 10;

/**
 * Cuts before each line that starts a document: `---` at the line's begin and white space after it, which YAML 1.2 (9.1.2)
 * gives that meaning everywhere, block and quoted texts included. Memory holds one document, however long the stream.
 */
export async function* documentsOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, limit = MAX_DOCUMENT_BYTES): AsyncGenerator<RawDocument> {
    const cutter = new Cutter(limit);
    for await (const chunk of chunks) yield* cutter.feed(chunk);
    yield* cutter.end();
}

/** The same for bytes that are all there. */
export function* documentsIn(bytes: Buffer, limit = MAX_DOCUMENT_BYTES): Generator<RawDocument> {
    // As most files are.
    if (bytes.length > 0 && bytes.length <= limit && !bytes.includes(MARKER)) {
        yield { bytes, line: 1 };
        return;
    }
    const cutter = new Cutter(limit);
    yield* cutter.feed(bytes);
    yield* cutter.end();
}

class Cutter {
    /** What is read of the current document, and of a marker that may go on in the next chunk. */
    private rest: Buffer = Buffer.alloc(0);
    private parts: Buffer[] = [];
    private size = 0;
    private dropped = 0;
    private droppedLines = 0;
    /** Of the current document's begin. */
    private line = 1;

    constructor(private readonly limit: number) {}

    *feed(chunk: Buffer): Generator<RawDocument> {
        const data = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
        let from = 0;
        for (let at = data.indexOf(MARKER); at !== -1; at = data.indexOf(MARKER, at + 1)) {
            const after = data[at + MARKER.length];
            // The byte behind the marker decides, and may not be here yet.
            if (after === undefined) break;
            if (after !== 32 && after !== 9 && after !== 10 && after !== 13) continue;
            this.keep(data.subarray(from, at + 1));
            yield this.take();
            from = at + 1;
        }
        // A marker may lie across two chunks.
        const safe = Math.max(from, data.length - MARKER.length);
        this.keep(data.subarray(from, safe));
        this.rest = data.subarray(safe);
    }

    *end(): Generator<RawDocument> {
        this.keep(this.rest);
        if (this.size + this.dropped > 0) yield this.take();
    }

    private keep(bytes: Buffer): void {
        const isDropping = this.dropped > 0;
        if (!isDropping && this.size + bytes.length <= this.limit) {
            if (bytes.length > 0) this.parts.push(bytes);
            this.size += bytes.length;
            return;
        }
        this.droppedLines += [...this.parts, bytes].reduce((sum, part) => sum + countLines(part), 0);
        this.dropped += this.size + bytes.length;
        this.parts = [];
        this.size = 0;
    }

    private take(): RawDocument {
        const [only] = this.parts, bytes = this.parts.length === 1 && only !== undefined ? only : Buffer.concat(this.parts);
        const document = this.dropped > 0 ? { bytes, line: this.line, tooLarge: this.dropped } : { bytes, line: this.line };
        this.line += countLines(bytes) + this.droppedLines;
        this.parts = [];
        this.size = this.dropped = this.droppedLines = 0;
        return document;
    }
}

function countLines(bytes: Buffer): number {
    let lines = 0;
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_FEED) lines++;
    return lines;
}
