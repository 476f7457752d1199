// The agent: one process per network namespace that does there what the lab asks for over a socket, one JSON message a line.
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { captureMethods } from "./capture";
import { clientMethods } from "./client";
import { commonMethods } from "./common";
import { dnsMethods } from "./dns";
import { http2Methods } from "./http2";
import { vipMethods } from "./vips";

const methods = { ...commonMethods, ...dnsMethods, ...vipMethods, ...clientMethods, ...http2Methods, ...captureMethods };

/** What can be asked of an agent. */
export type Methods = typeof methods;
export interface Call { readonly id: number; readonly method: keyof Methods; readonly params: unknown }
export interface CallResult { readonly id: number; readonly result?: unknown; readonly error?: string }

const [socketFile = ""] = process.argv.slice(2);
// An agent that hangs on one odd connection is worth less than one that tells of it.
process.on("uncaughtException", (error) => process.stderr.write(`${error.stack ?? error.message}\n`));

createServer((socket) => {
    socket.on("error", () => undefined);
    createInterface({ input: socket }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line) as Call;
        const answer = (result: CallResult): void => void socket.write(`${JSON.stringify(result)}\n`);
        const handler = (given: unknown): unknown => (methods as Record<string, (given: unknown) => unknown>)[method]?.(given);
        Promise.resolve().then(() => handler(params)).then((result) => answer({ id, result }), (error: unknown) => answer({ id, error: error instanceof Error ? error.message : String(error) }));
    });
}).listen(socketFile);
