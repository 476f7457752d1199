// What every namespace's agent does for the lab: HTTP requests to its own loopback, and a way in for a program outside.
import http from "node:http";
import { connect, createServer } from "node:net";

export interface HttpRequest {
    readonly port: number;
    readonly path: string;
    /** Default GET. */
    readonly method?: string;
}
export interface HttpAnswer { readonly status: number; readonly text: string }

const HTTP_MS = 20_000;

export const commonMethods = {
    /** Shows that the agent is there. */
    ping: (): "pong" => "pong",
    http: ({ port, path, method = "GET" }: HttpRequest): Promise<HttpAnswer> => new Promise((resolve, reject) => {
        const request = http.request({ host: "127.0.0.1", port, path, method, timeout: HTTP_MS }, (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        });
        request.on("error", reject).on("timeout", () => request.destroy(new Error(`no answer from port ${String(port)}${path} within ${String(HTTP_MS)} ms`)));
        request.end();
    }),
    /** Connections to a socket of the file system go to a port of this namespace's loopback. */
    relay: ({ socket, port }: { readonly socket: string; readonly port: number }): Promise<void> => new Promise((resolve, reject) => {
        const server = createServer((from) => {
            const to = connect({ host: "127.0.0.1", port });
            from.on("error", () => to.destroy()).pipe(to);
            to.on("error", () => from.destroy()).pipe(from);
        });
        server.once("error", reject).listen(socket, resolve);
    }),
};
