// Long-running processes of a test: started with a log in the test's folder, waited for, and ended by their ids, whatever happens.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lastLines } from "../../tools/support/report";

const READY_MS = 90_000;
const END_MS = 10_000;

export class Daemons {
    private readonly running: ChildProcess[] = [];
    private readonly killAll = (): void => this.running.forEach((child) => child.kill("SIGKILL"));

    constructor(private readonly folder: string) {
        process.on("exit", this.killAll);
    }

    start(file: string, flags: readonly string[]): ChildProcess {
        const log = openSync(this.logOf(file), "a");
        const child = spawn(file, flags, { stdio: ["ignore", log, log], cwd: this.folder });
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
                const file = dead?.spawnfile ?? this.running.at(-1)?.spawnfile ?? "";
                const log = await readFile(this.logOf(file), "utf8").catch(() => "no log");
                throw new Error(`${what} did not get ready: ${dead === undefined ? `waited ${String(READY_MS / 1000)} s` : `${path.basename(file)} has ended`}; last lines of its log:\n${lastLines(log)}`);
            }
            await wait(100);
        }
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

    private logOf(file: string): string {
        return path.join(this.folder, `${path.basename(file)}.log`);
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
