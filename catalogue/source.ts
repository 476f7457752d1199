// The bytes of a catalogue file → text: what is no UTF-8 text of a sensible size is refused here, with the reason.
import { readFileSync, statSync } from "node:fs";

/** Gives the content of a file by its absolute path; throws as node:fs does when it cannot. */
export type ReadFile = (path: string) => string | Uint8Array;

/** Far above any catalogue (1,000 hosts are about 1 MB), far below what makes a parser slow. */
export const MAX_FILE_BYTES = 10_000_000;

/** The text without its byte order mark, or why there is none and at which offset of what could be read. */
export type SourceText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly text: string; readonly offset: number; readonly reason: string };

/** Reads from the disk; a file that is too large is not read. */
export const readFromDisk: ReadFile = (path) => {
    const status = statSync(path);
    if (status.isDirectory()) throw Object.assign(new Error("is a directory"), { code: "EISDIR" });
    if (!status.isFile()) throw new Error("is not a regular file");
    if (status.size > MAX_FILE_BYTES) throw new Error(tooLarge(status.size));
    return readFileSync(path);
};

/** Why a file could not be read, to follow its name: `does not exist`. */
export function readFailure(error: unknown): string {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return "does not exist: check the path";
    if (code === "EISDIR") return "is a directory: name a YAML file in it";
    if (code === "EACCES" || code === "EPERM") return "cannot be read, permission denied: change the file's mode";
    if (code === "ELOOP") return "is a symbolic link that leads to itself: name a file";
    return error instanceof Error ? error.message : String(error);
}

/** Decodes a file's content. */
export function decode(content: string | Uint8Array): SourceText {
    if (typeof content === "string") return checkText(content, content.length);
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (bytes.length > MAX_FILE_BYTES) return refuse("", 0, tooLarge(bytes.length));
    const [first, second] = bytes;
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
        return refuse("", 0, "is UTF-16, not UTF-8: save it as UTF-8");
    }
    const text = bytes.toString("utf8"), invalid = invalidUtf8(bytes, text);
    if (invalid !== undefined) {
        return bytes.includes(0) ? refuse(text, invalid, "is a binary file, not a text: name a YAML file")
            : refuse(text, invalid, "is not UTF-8 from here on: save it as UTF-8");
    }
    return checkText(text, bytes.length);
}

function checkText(text: string, size: number): SourceText {
    if (size > MAX_FILE_BYTES) return refuse("", 0, tooLarge(size));
    const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
    // YAML 1.2, 5.1: no control characters but tab, line feed and carriage return.
    // eslint-disable-next-line no-control-regex
    const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.exec(body);
    if (control === null) return { ok: true, text: body };
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return refuse(body, control.index, `holds the control character U+${code} here, which no YAML text may: name a YAML file, or remove the character`);
}

function refuse(text: string, offset: number, reason: string): SourceText {
    return { ok: false, text, offset, reason };
}

/** The offset in `text` of the first replacement character that stands for bytes that are no UTF-8. */
function invalidUtf8(bytes: Buffer, text: string): number | undefined {
    let byte = 0, from = 0;
    for (let at = text.indexOf("\uFFFD"); at !== -1; at = text.indexOf("\uFFFD", at + 1)) {
        byte += Buffer.byteLength(text.slice(from, at));
        if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return at;
        from = at;
    }
    return undefined;
}

function tooLarge(size: number): string {
    return `has ${size.toLocaleString("en-US")} bytes, and a catalogue has at most ${MAX_FILE_BYTES.toLocaleString("en-US")}: split it over several catalogues`;
}
