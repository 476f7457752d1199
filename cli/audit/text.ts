// The bytes of a document → text: UTF-8 as Kubernetes reads it; what is none is refused with the reason.

import { isAscii } from "node:buffer";

export type DecodedText =
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly reason: string };

const UTF8 = new TextDecoder("utf-8", { fatal: true });

export function decodeText(bytes: Buffer): DecodedText {
    const [first, second] = bytes;
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return refuse("is UTF-16, which no Kubernetes tool reads: save it as UTF-8.");
    if (bytes.includes(0)) return refuse("is binary, no text: name files that hold manifests, or leave this one out with --exclude.");
    // As nearly every manifest is, and quicker.
    if (isAscii(bytes)) return { ok: true, text: bytes.toString("latin1") };
    try {
        // The decoder takes a byte order mark off.
        return { ok: true, text: UTF8.decode(bytes) };
    } catch {
        return refuse("is not UTF-8: save it as UTF-8.");
    }
}

function refuse(reason: string): DecodedText {
    return { ok: false, reason };
}
