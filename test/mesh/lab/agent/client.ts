// What an application of the lab does: single requests, kept connections, plain TCP, and load.
import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { ask, asAttemptError, open, talkPlain } from "./attempt";
import type { FailureReason, Reply, Target } from "./attempt";
import { endLoad, runLoad } from "./load";
import type { Load, LoadResult } from "./load";

/** How one request went. */
export interface Exchange {
    readonly ok: boolean;
    readonly reason?: FailureReason;
    readonly message?: string;
    readonly reply?: Reply;
    /** Of the certificate that the application was shown. */
    readonly certificate?: { readonly subject: string; readonly issuer: string };
    readonly localPort?: number;
    readonly ms: number;
}

const kept = new Map<string, { readonly socket: Socket; readonly target: Target }>();

export const clientMethods = {
    /** One connection, one request. */
    async request(target: Target): Promise<Exchange> {
        return exchange(() => open(target), target, "close");
    },
    /** Opens a connection that stays; a failure is an error. */
    async connectionOpen(target: Target): Promise<string> {
        const id = randomUUID();
        kept.set(id, { socket: await open(target), target });
        return id;
    },
    async connectionAsk({ id, path, timeoutMs }: { readonly id: string; readonly path?: string; readonly timeoutMs?: number }): Promise<Exchange> {
        const connection = kept.get(id);
        if (connection === undefined) throw new Error(`There is no connection ${id}.`);
        const { socket, target } = connection;
        return exchange(() => Promise.resolve(socket), { ...target, ...(path === undefined ? {} : { path }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }, "keep");
    },
    /** Waits until the other side ends the connection; `open` when it has not by then. */
    async connectionEnd({ id, timeoutMs }: { readonly id: string; readonly timeoutMs: number }): Promise<{ readonly how: "closed" | "reset" | "open"; readonly ms: number }> {
        const socket = kept.get(id)?.socket, begin = performance.now();
        const how = await new Promise<"closed" | "reset" | "open">((resolve) => {
            if (socket === undefined || socket.destroyed) return resolve("closed");
            const timer = setTimeout(() => resolve("open"), timeoutMs);
            socket.once("error", () => resolve("reset")).once("close", () => resolve("closed")).once("close", () => clearTimeout(timer)).resume();
        });
        return { how, ms: Math.round(performance.now() - begin) };
    },
    connectionClose({ id }: { readonly id: string }): void {
        kept.get(id)?.socket.on("error", () => undefined).destroy();
        kept.delete(id);
    },
    talkPlain({ address, port, line, timeoutMs }: { readonly address: string; readonly port: number; readonly line: string; readonly timeoutMs?: number }): Promise<readonly string[]> {
        return talkPlain({ address, port, ...(timeoutMs === undefined ? {} : { timeoutMs }) }, line);
    },
    load(load: Load): Promise<LoadResult> {
        return runLoad(load);
    },
    loadEnd({ id }: { readonly id?: string }): void {
        endLoad(id);
    },
};

async function exchange(connect: () => Promise<Socket>, target: Target, after: "close" | "keep"): Promise<Exchange> {
    const begin = performance.now();
    const ms = (): number => Math.round(performance.now() - begin);
    try {
        const socket = await connect();
        const shown = socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined, localPort = socket.localPort;
        const reply = await ask(socket, target);
        if (after === "close") socket.on("error", () => undefined).destroy();
        return {
            ok: reply.status === 200, reply, ms: ms(), ...(localPort === undefined ? {} : { localPort }),
            ...(shown === undefined ? {} : { certificate: { subject: shown.subjectaltname ?? String(shown.subject.CN), issuer: String(shown.issuer.CN) } }),
        };
    } catch (error) {
        const { reason, message } = asAttemptError(error as Error);
        return { ok: false, reason, message, ms: ms() };
    }
}
