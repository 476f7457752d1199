// The agents of a lab: compiled once per lab, one process per namespace, asked over a socket in the lab's folder.
import { connect } from "node:net";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { build } from "esbuild";
import { Daemons } from "../../support/daemons";
import type { Call, CallResult, Methods } from "./agent/main";
import { folderOf } from "./folder";
import { inNamespace } from "./network";

type Params<Name extends keyof Methods> = Parameters<Methods[Name]>[0];
type Result<Name extends keyof Methods> = Awaited<ReturnType<Methods[Name]>>;

const READY_MS = 10_000;

/** One file that plain Node starts in 50 ms; loading the sources takes ten times as long, in each namespace. */
export async function buildAgent(lab: string): Promise<void> {
    await build({ entryPoints: [path.join(__dirname, "agent/main.ts")], outfile: agentFile(lab), bundle: true, platform: "node", target: "node20", logLevel: "silent" });
}

export function startAgent(lab: string, node: string): void {
    const daemons = new Daemons(path.join(folderOf(lab), "logs"), { prefix: inNamespace(lab, node), lifetime: "free" });
    daemons.start(process.execPath, [agentFile(lab), socketFile(lab, node)], { name: `agent-${node}` });
    daemons.release();
}

export class Agent {
    private socket: Promise<Socket> | undefined;
    private nextId = 0;
    private readonly waiting = new Map<number, { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void }>();

    constructor(private readonly lab: string, readonly node: string) {}

    /** Asks for something to be done in the namespace; an error there is an error here. */
    async call<Name extends keyof Methods>(method: Name, ...[params]: Params<Name> extends undefined ? [] : [Params<Name>]): Promise<Result<Name>> {
        this.socket ??= this.open();
        const socket = await this.socket, id = this.nextId++;
        const result = await new Promise<unknown>((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            socket.ref(); // While an answer is due, this process stays.
            socket.write(`${JSON.stringify({ id, method, params } satisfies Call)}\n`);
        });
        return result as Result<Name>;
    }

    close(): void {
        void this.socket?.then((socket) => socket.destroy(), () => undefined);
        this.socket = undefined;
    }

    private async open(): Promise<Socket> {
        const file = socketFile(this.lab, this.node);
        for (const deadline = Date.now() + READY_MS; ; await wait(20)) {
            try {
                return this.listen(await connected(file));
            } catch (error) {
                if (Date.now() > deadline) throw new Error(`The agent of ${this.node} does not answer on ${file}: ${String(error)}; its log is ${path.join(folderOf(this.lab), "logs", `agent-${this.node}.log`)}`, { cause: error });
            }
        }
    }

    private listen(socket: Socket): Socket {
        createInterface({ input: socket }).on("line", (line) => {
            const { id, result, error } = JSON.parse(line) as CallResult;
            const call = this.waiting.get(id);
            this.waiting.delete(id);
            if (this.waiting.size === 0) socket.unref();
            if (error === undefined) call?.resolve(result);
            else call?.reject(new Error(`${this.node}: ${error}`));
        });
        socket.on("error", () => undefined).once("close", () => {
            this.socket = undefined;
            for (const { reject } of this.waiting.values()) reject(new Error(`The agent of ${this.node} has ended.`));
            this.waiting.clear();
        });
        return socket;
    }
}

function connected(file: string): Promise<Socket> {
    return new Promise((resolve, reject) => {
        const socket = connect(file);
        socket.once("error", reject).once("connect", () => resolve(socket.off("error", reject)));
    });
}

function agentFile(lab: string): string {
    return path.join(folderOf(lab), "agent.cjs");
}

function socketFile(lab: string, node: string): string {
    return path.join(folderOf(lab), `${node}.sock`);
}
