// Long-running processes of a test: started with a log in the test's folder, waited for, and ended by their ids, whatever happens.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lastLines } from "../../tools/support/report";
import { temporaryFolder } from "./folders";

const READY_MS = 90_000;
const END_MS = 10_000;

export interface DaemonsOptions {
    /** Put before each command, for example `ip netns exec NAME`. It must become the command (exec), since it is ended by its id. */
    readonly prefix?: readonly string[];
    /** `own` (default): they end with this process at the latest. `free`: they are in sessions of their own, and whoever started them ends them. */
    readonly lifetime?: "own" | "free";
}

export interface DaemonOptions {
    /** Variables over those of this process. */
    readonly env?: NodeJS.ProcessEnv;
    /** Default: the folder of the logs. */
    readonly cwd?: string;
    /** The log's name without `.log`. Default: the file's name. */
    readonly name?: string;
}

/** Where daemons run when not on this machine's loopback: in a network namespace, whose owner ends all processes and removes the folder. */
export interface DaemonsPlace {
    readonly folder: string;
    readonly prefix: readonly string[];
}

/** Starts daemons that belong together; what they are comes back with the way to end them. Leaves nothing behind when the start fails. */
export async function startDaemons<Value extends object>(place: DaemonsPlace | undefined, start: (daemons: Daemons, folder: string) => Promise<Value>): Promise<Value & { readonly stop: () => Promise<void> }> {
    const folder = place?.folder ?? await temporaryFolder(), daemons = new Daemons(folder, place === undefined ? {} : { prefix: place.prefix, lifetime: "free" });
    const stop = async (): Promise<void> => {
        await daemons.stop();
        await rm(folder, { recursive: true, force: true });
    };
    try {
        const value = await start(daemons, folder);
        daemons.release();
        return { ...value, stop };
    } catch (error) {
        await stop();
        throw error;
    }
}

export class Daemons {
    private readonly running: ChildProcess[] = [];
    private readonly logs = new Map<ChildProcess, string>();
    private readonly killAll = (): void => this.running.forEach((child) => child.kill("SIGKILL"));

    constructor(private readonly folder: string, private readonly options: DaemonsOptions = {}) {
        if (options.lifetime !== "free") process.on("exit", this.killAll);
    }

    start(file: string, flags: readonly string[], options: DaemonOptions = {}): ChildProcess {
        const logFile = path.join(this.folder, `${options.name ?? path.basename(file)}.log`);
        const log = openSync(logFile, "a");
        const [command = file, ...args] = [...this.options.prefix ?? [], file, ...flags];
        const child = spawn(command, args, {
            stdio: ["ignore", log, log], cwd: options.cwd ?? this.folder, env: { ...process.env, ...options.env }, detached: this.options.lifetime === "free",
        });
        this.logs.set(child, logFile);
        child.on("error", () => undefined); // `until` tells it, since there is no process then.
        closeSync(log);
        this.running.push(child);
        return child;
    }

    /** Polls until the condition holds; fails with the log of a process that has ended, or when too much time passes. */
    async until(what: string, condition: () => Promise<boolean>): Promise<void> {
        const deadline = Date.now() + READY_MS;
        while (!await condition().catch(() => false)) {
            const dead = this.running.find(hasEnded);
            if (dead !== undefined || Date.now() > deadline) {
                const shown = dead ?? this.running.at(-1);
                const file = shown === undefined ? "" : this.logs.get(shown) ?? "";
                const log = await readFile(file, "utf8").catch(() => "no log");
                throw new Error(`${what} did not get ready: ${dead === undefined ? `waited ${String(READY_MS / 1000)} s` : `${path.basename(file, ".log")} has ended`}; last lines of its log:\n${lastLines(log)}`);
            }
            await wait(100);
        }
    }

    /** Lets this process end while they run on; for those that are free. */
    release(): void {
        for (const child of this.running) child.unref();
    }

    /** Ends all, the last one first. */
    async stop(): Promise<void> {
        process.off("exit", this.killAll);
        for (const child of this.running.reverse()) {
            if (hasEnded(child)) continue;
            const ended = new Promise((resolve) => child.once("exit", resolve));
            child.kill("SIGTERM");
            const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
            await ended;
            clearTimeout(timer);
        }
    }
}

function hasEnded(child: ChildProcess): boolean {
    return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Ports of the loopback address that are free now, all different. */
export async function freePorts(count: number): Promise<number[]> {
    const servers = Array.from({ length: count }, () => createServer());
    await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))));
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return ports;
}
