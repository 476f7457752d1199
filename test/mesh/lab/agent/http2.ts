// An HTTP/2 client of an application: one session over one TLS connection, as many requests on it as are asked for.
import { randomUUID } from "node:crypto";
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { performance } from "node:perf_hooks";
import { AttemptError, asAttemptError } from "./attempt";
import type { Target } from "./attempt";
import type { Exchange } from "./client";
import type { WhoAmI } from "./vips";

const DEFAULT_TIMEOUT_MS = 10_000;

const sessions = new Map<string, ClientHttp2Session>();

export const http2Methods = {
    /** Opens a session that stays; a failure is an error. */
    async sessionOpen({ host, address, port = 443, authority, timeoutMs = DEFAULT_TIMEOUT_MS }: Target): Promise<string> {
        const session = connect(`https://${host}:${String(port)}`, { host: address, servername: host, ca: authority });
        await new Promise<void>((resolve, reject) => {
            const timer = setTimeout(() => session.destroy(new AttemptError("timeout", `no session within ${String(timeoutMs)} ms`)), timeoutMs);
            session.once("connect", () => resolve()).once("error", reject).once("close", () => clearTimeout(timer)).once("connect", () => clearTimeout(timer));
        });
        session.on("error", () => undefined);
        const id = randomUUID();
        sessions.set(id, session);
        return id;
    },
    async sessionAsk({ id, path = "/", timeoutMs = DEFAULT_TIMEOUT_MS }: { readonly id: string; readonly path?: string; readonly timeoutMs?: number }): Promise<Exchange> {
        const session = sessions.get(id), begin = performance.now();
        if (session === undefined) throw new Error(`There is no session ${id}.`);
        const localPort = session.socket.localPort;
        const ms = (): number => Math.round(performance.now() - begin);
        try {
            const { status, body } = await request(session, path, timeoutMs);
            const line = body.split("\n").find((one) => one.startsWith("{"));
            return { ok: status === 200, reply: { status, bytes: body.length, who: line === undefined ? undefined : JSON.parse(line) as WhoAmI }, ms: ms(), ...(localPort === undefined ? {} : { localPort }) };
        } catch (error) {
            const { reason, message } = asAttemptError(error as Error);
            return { ok: false, reason, message, ms: ms() };
        }
    },
    /** Whether the server has said that it takes no new requests on the session (GOAWAY), or has ended it. */
    sessionOver({ id }: { readonly id: string }): boolean {
        const session = sessions.get(id);
        return session === undefined || session.closed || session.destroyed;
    },
    sessionClose({ id }: { readonly id: string }): void {
        sessions.get(id)?.destroy();
        sessions.delete(id);
    },
};

function request(session: ClientHttp2Session, path: string, timeoutMs: number): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
        const stream = session.request({ ":path": path });
        let status = 0, body = "", isWhole = false;
        const timer = setTimeout(() => stream.destroy(new AttemptError("timeout", `no whole answer within ${String(timeoutMs)} ms`)), timeoutMs);
        stream.setEncoding("utf8").on("response", (headers) => status = headers[":status"] ?? 0).on("data", (text: string) => body += text).once("end", () => isWhole = true);
        stream.once("error", reject).once("close", () => {
            clearTimeout(timer);
            if (isWhole && status > 0 && stream.rstCode === 0) resolve({ status, body });
            else reject(new AttemptError(body === "" ? "closed" : "cut", `the stream ended with code ${String(stream.rstCode)} after ${String(body.length)} bytes`));
        });
    });
}
