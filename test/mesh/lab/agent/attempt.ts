// One connection of an application: TCP, TLS and one or more requests, with the reason when it fails.
import { connect as connectTcp } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TLSSocket } from "node:tls";
import type { WhoAmI } from "./vips";

export interface Target {
    /** The name that the application asks for: its SNI, its Host header, and what the certificate must say. */
    readonly host: string;
    /** The address that is dialled. In a mesh it matters only where nobody knows the host. */
    readonly address: string;
    /** Default 443. */
    readonly port?: number;
    /** `tls` (default), `plaintext` HTTP, for a proxy that opens the TLS, or `tcp`, where the server speaks first. */
    readonly protocol?: "tls" | "plaintext" | "tcp";
    /** Certificates of the authority to trust, PEM. */
    readonly authority: string;
    /** Default 10,000; for the connection with its first request. */
    readonly timeoutMs?: number;
    /** Default `/`. */
    readonly path?: string;
}

/** `refused` and `reset` by RST, `closed` without an answer, `tls` a handshake that is refused, `cut` a response that is not whole. */
export type FailureReason = "refused" | "reset" | "closed" | "timeout" | "tls" | "unreachable" | "cut" | "http";

export class AttemptError extends Error {
    constructor(readonly reason: FailureReason, message: string) {
        super(message);
    }
}

export interface Reply {
    readonly status: number;
    readonly who: WhoAmI | undefined;
    readonly bytes: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** A connection that is ready for a request; rejects with an AttemptError. */
export function open({ host, address, port = 443, protocol = "tls", authority, timeoutMs = DEFAULT_TIMEOUT_MS }: Target): Promise<Socket | TLSSocket> {
    return new Promise((resolve, reject) => {
        const socket = protocol === "tls" ? connectTls({ host: address, port, servername: host, ca: authority, ALPNProtocols: ["http/1.1"] }) : connectTcp({ host: address, port });
        const timer = setTimeout(() => fail(new AttemptError("timeout", `no connection within ${String(timeoutMs)} ms`)), timeoutMs);
        const fail = (error: Error): void => {
            clearTimeout(timer);
            socket.on("error", () => undefined).destroy();
            reject(asAttemptError(error));
        };
        socket.once("error", fail).once(protocol === "tls" ? "secureConnect" : "connect", () => {
            clearTimeout(timer);
            socket.off("error", fail).setNoDelay();
            resolve(socket);
        });
    });
}

/** One request on a connection that stays open for the next. */
export function ask(socket: Socket, { host, timeoutMs = DEFAULT_TIMEOUT_MS, path = "/" }: Pick<Target, "host" | "timeoutMs" | "path">): Promise<Reply> {
    if (socket.destroyed || socket.readableEnded) return Promise.reject(new AttemptError("closed", "closed before the request"));
    return new Promise((resolve, reject) => {
        let received = Buffer.alloc(0);
        const finish = (error?: Error): void => {
            clearTimeout(timer);
            socket.off("data", onData).off("close", onClose).off("error", finish);
            if (error === undefined) return;
            socket.on("error", () => undefined).destroy();
            reject(asAttemptError(error));
        };
        const onData = (data: Buffer): void => {
            received = Buffer.concat([received, data]);
            const reply = readReply(received);
            if (reply === undefined) return;
            finish();
            resolve(reply);
        };
        const onClose = (): void => finish(received.length === 0 ? new AttemptError("closed", "closed before an answer") : new AttemptError("cut", `closed after ${String(received.length)} bytes of an answer`));
        const timer = setTimeout(() => finish(new AttemptError("timeout", `no whole answer within ${String(timeoutMs)} ms`)), timeoutMs);
        socket.on("data", onData).once("close", onClose).once("error", finish);
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
}

/** Undefined while the response is not whole. The lab's servers always tell the length or use chunks. */
function readReply(received: Buffer): Reply | undefined {
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const head = received.subarray(0, end).toString("latin1"), rest = received.subarray(end + 4);
    const status = Number(head.split(" ")[1]);
    const length = /^content-length: (\d+)/im.exec(head)?.[1];
    if (length === undefined) return rest.includes("\r\n0\r\n\r\n") || rest.indexOf("0\r\n\r\n") === 0 ? { status, who: readWho(rest), bytes: rest.length } : undefined;
    return rest.length < Number(length) ? undefined : { status, who: readWho(rest), bytes: rest.length };
}

function readWho(body: Buffer): WhoAmI | undefined {
    const line = body.subarray(0, 1000).toString("utf8").split("\n").find((one) => one.startsWith("{"));
    return line === undefined ? undefined : JSON.parse(line) as WhoAmI;
}

/** A plain connection: sends a line and reads what comes back, the greeting first. */
export function talkPlain({ address, port = 443, timeoutMs = DEFAULT_TIMEOUT_MS }: Omit<Target, "authority" | "host">, line: string): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
        const socket = connectTcp({ host: address, port });
        let received = "";
        const timer = setTimeout(() => fail(new AttemptError("timeout", `no answer within ${String(timeoutMs)} ms`)), timeoutMs);
        const fail = (error: Error): void => {
            clearTimeout(timer);
            socket.on("error", () => undefined).destroy();
            reject(asAttemptError(error));
        };
        socket.setEncoding("utf8").once("error", fail).once("close", () => fail(new AttemptError("closed", "closed before an answer"))).on("data", (text: string) => {
            if (received === "") socket.write(`${line}\n`);
            received += text;
            if (!received.endsWith(`${line}\n`)) return;
            clearTimeout(timer);
            socket.destroy();
            resolve(received.trimEnd().split("\n"));
        });
    });
}

export function asAttemptError(error: Error): AttemptError {
    if (error instanceof AttemptError) return error;
    return new AttemptError(reasonOf(error), error.message);
}

function reasonOf({ code = "", message }: NodeJS.ErrnoException): FailureReason {
    if (code === "ECONNREFUSED") return "refused";
    if (message.includes("socket disconnected before secure TLS")) return "closed";
    if (code === "ECONNRESET" || code === "EPIPE") return "reset";
    if (code === "ETIMEDOUT") return "timeout";
    if (code === "EHOSTUNREACH" || code === "ENETUNREACH") return "unreachable";
    return "tls";
}
