// Reads the first message of a TLS connection: the server name and the protocols that a client asks for.

export interface ClientHello {
    /** The server name (SNI); undefined when the client names none. */
    readonly sni?: string;
    /** The protocols offered (ALPN); none when the client offers none. */
    readonly alpn: readonly string[];
}

const HANDSHAKE = 22, CLIENT_HELLO = 1, SERVER_NAME = 0, ALPN = 16;
const RECORD_HEADER = 5, MESSAGE_HEADER = 4, VERSION_AND_RANDOM = 34;

/** `incomplete` while more bytes may make it one; undefined when the bytes are no ClientHello. */
export function readClientHello(bytes: Buffer): ClientHello | "incomplete" | undefined {
    if (bytes.length < RECORD_HEADER + 1) return bytes.length > 0 && bytes[0] !== HANDSHAKE ? undefined : "incomplete";
    if (bytes[0] !== HANDSHAKE || bytes[RECORD_HEADER] !== CLIENT_HELLO) return undefined;
    if (bytes.length < RECORD_HEADER + bytes.readUInt16BE(3)) return "incomplete";
    return readExtensions(bytes, extensionsOffset(bytes));
}

function extensionsOffset(bytes: Buffer): number {
    let offset = RECORD_HEADER + MESSAGE_HEADER + VERSION_AND_RANDOM;
    offset += 1 + bytes.readUInt8(offset); // Session.
    offset += 2 + bytes.readUInt16BE(offset); // Cipher suites.
    return offset + 1 + bytes.readUInt8(offset); // Compression methods.
}

function readExtensions(bytes: Buffer, start: number): ClientHello {
    let sni: string | undefined, alpn: string[] = [];
    const end = start + 2 + bytes.readUInt16BE(start);
    for (let offset = start + 2; offset + 4 <= end;) {
        const type = bytes.readUInt16BE(offset), length = bytes.readUInt16BE(offset + 2);
        const value = bytes.subarray(offset + 4, offset + 4 + length);
        // A list with one entry: its length, the kind of name, the name's length.
        if (type === SERVER_NAME) sni = value.subarray(5).toString("ascii");
        if (type === ALPN) alpn = readNames(value);
        offset += 4 + length;
    }
    return { ...(sni === undefined ? {} : { sni }), alpn };
}

function readNames(value: Buffer): string[] {
    const names: string[] = [];
    for (let offset = 2; offset < value.length; offset += 1 + value.readUInt8(offset)) names.push(value.subarray(offset + 1, offset + 1 + value.readUInt8(offset)).toString("ascii"));
    return names;
}
