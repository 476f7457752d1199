// One setup at a time: two that build into the same cache would get in each other's way.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isAlive } from "../support/process";
import { say } from "../support/report";

const POLL_MS = 500;

/** Runs the action while holding the lock of a folder; waits for another holder, and takes over from one that has died. */
export async function withLock<Value>(folder: string, action: () => Promise<Value>): Promise<Value> {
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, ".setup.lock");
    for (let told = false; !take(file);) {
        const holder = Number(readText(file));
        if (holder > 0 && !isAlive(holder)) {
            rmSync(file, { force: true });
            continue;
        }
        if (!told) say(`Another setup is running (process ${String(holder)}); waiting for it.`);
        told = true;
        await wait(POLL_MS);
    }
    try {
        return await action();
    } finally {
        rmSync(file, { force: true });
    }
}

function take(file: string): boolean {
    try {
        writeFileSync(file, String(process.pid), { flag: "wx" });
        return true;
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
        throw error;
    }
}

function readText(file: string): string {
    try {
        return readFileSync(file, "utf8");
    } catch {
        return "";
    }
}
