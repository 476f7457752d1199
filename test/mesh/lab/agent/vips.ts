// The lab's external servers: one TLS server answers on every VIP's address and tells which one was reached; plain TCP beside it.
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { createSecureServer } from "node:http2";
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import path from "node:path";
import { createSecureContext } from "node:tls";
import type { SecureContext, TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { readClientHello } from "./client-hello";
import type { ClientHello } from "./client-hello";

/** What `/` answers. */
export interface WhoAmI {
    /** The VIP's address that was reached. */
    readonly vip: string;
    readonly sni: string | null;
    readonly http: string;
    /** Who holds the other end: in the mesh a gateway or an application's pod. */
    readonly peer: string;
    readonly path: string;
    /** The name in the client's certificate; null without one. */
    readonly client: string | null;
    /** The names of the request's headers, in the order of the alphabet. */
    readonly headers: readonly string[];
}

/** One connection, as a VIP saw it. */
export interface VipConnection extends Partial<ClientHello> {
    readonly at: number;
    readonly vip: string;
    readonly port: number;
    readonly peer: string;
    /** When it ended, milliseconds since 1970; undefined while it is open. */
    readonly ended?: number;
}

export interface VipBehaviour {
    /** Every connection is closed this long after it was accepted. */
    readonly closeAfterMs?: number;
    /** The TLS handshake is answered this much later. */
    readonly delayMs?: number;
    /** The certificate is for this name, whatever name is asked for. */
    readonly certificateFor?: string;
    /** Only clients with a certificate of the lab's authority are let in. */
    readonly needsClient?: boolean;
}

/** Who signs the certificates. */
export interface Authority { readonly folder: string; readonly certificate: string; readonly key: string }

const KEPT_CONNECTIONS = 50_000;
const MAX_SECONDS = 1_200;
const STREAM_CHUNK = Buffer.alloc(10_240, "X");

let connections: VipConnection[] = [];
const behaviours = new Map<string, VipBehaviour>();
const contexts = new Map<string, Promise<SecureContext>>();
const open = new Set<Socket>();

export const vipMethods = {
    /** @param plainPorts ports of plain TCP: the server greets first and then echoes, as databases do */
    async vipsListen({ tlsPorts, plainPorts, authority }: { readonly tlsPorts: readonly number[]; readonly plainPorts: readonly number[]; readonly authority: Authority }): Promise<void> {
        const servers = new Map<string, Http2SecureServer>();
        const serverFor = ({ certificateFor, needsClient = false }: VipBehaviour): Http2SecureServer => {
            const key = JSON.stringify([certificateFor, needsClient]), server = servers.get(key) ?? tlsServer(authority, needsClient, certificateFor);
            servers.set(key, server);
            return server;
        };
        const accept = (socket: Socket): void => {
            const record = remember(socket);
            const behaviour = behaviours.get(record().vip) ?? {};
            sniff(socket, (hello) => {
                record(hello);
                setTimeout(() => serverFor(behaviour).emit("connection", socket), behaviour.delayMs ?? 0);
            });
        };
        await Promise.all([
            ...tlsPorts.map((port) => listen(port, accept)),
            ...plainPorts.map((port) => listen(port, (socket) => {
                const record = remember(socket);
                socket.write(`220 ${record().vip} ready\n`);
                socket.pipe(socket);
            })),
        ]);
    },
    /** For VIPs by address; an empty behaviour is the plain one. */
    vipsBehave({ address, behaviour }: { readonly address: string; readonly behaviour: VipBehaviour }): void {
        behaviours.set(address, behaviour);
    },
    vipsConnections({ since = 0 }: { readonly since?: number }): readonly VipConnection[] {
        return connections.filter(({ at }) => at >= since);
    },
    /** How many connections each VIP holds now; by this a drain is judged. */
    vipsOpen(): Readonly<Record<string, number>> {
        const counts: Record<string, number> = {};
        for (const { localAddress = "" } of open) counts[localAddress] = (counts[localAddress] ?? 0) + 1;
        return counts;
    },
    /** Ends what is open on an address, on every one by default. */
    vipsReset({ address }: { readonly address?: string }): void {
        for (const socket of open) if (address === undefined || socket.localAddress === address) socket.resetAndDestroy();
    },
    vipsClear(): void {
        behaviours.clear();
        connections = [];
    },
};

function tlsServer(authority: Authority, needsClient: boolean, certificateFor: string | undefined): Http2SecureServer {
    const server = createSecureServer({
        allowHTTP1: true, requestCert: needsClient,
        SNICallback: (name, done) => void contextFor(certificateFor ?? name, authority).then((context) => done(null, context), (error: Error) => done(error)),
    });
    return server.on("request", respond).on("tlsClientError", () => undefined).on("sessionError", () => undefined);
}

function listen(port: number, accept: (socket: Socket) => void): Promise<void> {
    const server = createServer({ noDelay: true }, accept);
    return new Promise((resolve, reject) => server.once("error", reject).listen({ port, host: "0.0.0.0", backlog: 1024 }, resolve));
}

/** Adds a connection to the list; what it returns reads its entry, with more when more is known. */
function remember(socket: Socket): (more?: Partial<VipConnection>) => VipConnection {
    let entry: VipConnection = { at: Date.now(), vip: socket.localAddress ?? "", port: socket.localPort ?? 0, peer: socket.remoteAddress ?? "" };
    const update = (more: Partial<VipConnection> = {}): VipConnection => {
        // The entry is replaced in place: it is the same connection.
        const index = connections.lastIndexOf(entry);
        entry = { ...entry, ...more };
        if (index >= 0) connections[index] = entry;
        return entry;
    };
    connections.push(entry);
    if (connections.length > KEPT_CONNECTIONS) connections = connections.slice(-KEPT_CONNECTIONS / 2);
    open.add(socket);
    const { closeAfterMs } = behaviours.get(entry.vip) ?? {};
    const timer = closeAfterMs === undefined ? undefined : setTimeout(() => socket.destroy(), closeAfterMs);
    socket.on("error", () => undefined).once("close", () => {
        clearTimeout(timer);
        open.delete(socket);
        update({ ended: Date.now() });
    });
    return update;
}

/** Reads the ClientHello and puts it back for the TLS server. */
function sniff(socket: Socket, then: (hello: Partial<ClientHello>) => void): void {
    let seen = Buffer.alloc(0);
    const onData = (data: Buffer): void => {
        seen = Buffer.concat([seen, data]);
        const hello = readClientHello(seen);
        if (hello === "incomplete") return;
        socket.off("data", onData).pause();
        socket.unshift(seen);
        then(hello ?? {});
    };
    socket.on("data", onData);
}

function contextFor(name: string, authority: Authority): Promise<SecureContext> {
    const known = contexts.get(name) ?? issue(name, authority);
    contexts.set(name, known);
    return known;
}

/** A certificate for the name that was asked for, from the lab's own authority. */
async function issue(name: string, { folder, certificate, key }: Authority): Promise<SecureContext> {
    const keyFile = path.join(folder, `${name}.key`);
    const { stdout } = await promisify(execFile)("openssl", [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-keyout", keyFile,
        "-subj", `/CN=${name.slice(0, 64)}`, "-addext", `subjectAltName=DNS:${name}`, "-CA", certificate, "-CAkey", key,
    ]);
    // With the authority, by which a server judges clients: the context of a name replaces the server's own.
    const context = createSecureContext({ cert: stdout, key: await readFile(keyFile), ca: await readFile(certificate) });
    await rm(keyFile);
    return context;
}

/** `/` who am I; `/slow/N` a response of N seconds; `/wait/N` an answer after N seconds; `/close` an answer, and the end of the connection (HTTP/2: GOAWAY). */
function respond(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const socket = request.socket as TLSSocket;
    const [, verb = "", argument = ""] = request.url.split("/");
    const seconds = Math.min(Number(argument) || 0, MAX_SECONDS);
    const whoAmI: WhoAmI = {
        vip: socket.localAddress ?? "", sni: typeof socket.servername === "string" ? socket.servername : null, http: request.httpVersion,
        peer: socket.remoteAddress ?? "", path: request.url, client: clientOf(socket), headers: Object.keys(request.headers).sort(),
    };
    const body = `${JSON.stringify(whoAmI)}\n`;
    response.setHeader("content-type", "application/json");
    if (verb === "slow") return slow(response, body, seconds);
    if (verb === "close" && request.httpVersion.startsWith("1.")) response.setHeader("connection", "close");
    if (verb === "close" && request.httpVersion === "2.0") request.stream.session?.close(); // GOAWAY; streams that run are finished.
    setTimeout(() => response.end(body), verb === "wait" ? seconds * 1000 : 0);
}

function clientOf(socket: TLSSocket): string | null {
    const name: unknown = (socket.getPeerCertificate() as { readonly subject?: { readonly CN?: unknown } } | undefined)?.subject?.CN;
    return typeof name === "string" ? name : null;
}

/** The length is known beforehand, so that a response that is cut is seen as cut. */
function slow(response: Http2ServerResponse, body: string, seconds: number): void {
    let left = seconds;
    response.setHeader("content-length", Buffer.byteLength(body) + seconds * STREAM_CHUNK.length);
    response.write(body);
    const timer = setInterval(() => {
        left -= 1;
        if (left < 0) response.end();
        else response.write(STREAM_CHUNK);
        if (left < 0) clearInterval(timer);
    }, 1000);
    response.once("close", () => clearInterval(timer));
}
