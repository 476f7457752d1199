// A lab's folder under the machine's temporary one: what says that the lab is there, to whom it belongs, and how all of it is removed.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { signal } from "../../../tools/support/process";
import { UserError } from "../../../tools/support/report";
import { namespacesOf, processesIn, removeNetwork } from "./network";

/** A process, told apart from a later one that got the same id. */
interface ProcessRecord { readonly pid: number; readonly start: string }

export interface LabRecord {
    readonly name: string;
    /** Whose end is the lab's end; undefined for a lab that was left running on purpose. */
    readonly owner: ProcessRecord | undefined;
    readonly created: string;
    /** An administrator's token; set once the API server runs. */
    readonly token?: string;
    /** The gateways that run, by index. */
    readonly gateways?: readonly number[];
}

const PREFIX = "istio-egress-lab-";
const RECORD = "lab.json";
/** Long enough for a proxy or a server to close its files; what is left then is killed. */
const GRACE_MS = 1_500;

export function folderOf(name: string): string {
    return path.join(os.tmpdir(), `${PREFIX}${name}`);
}

/** Makes the folder of a new lab that belongs to this process. */
export function createFolder(name: string): string {
    if (!/^[a-z0-9]{1,16}$/.test(name)) throw new UserError(`A lab's name is 1 to 16 lower-case letters and digits, and "${name}" is not.`);
    const folder = folderOf(name);
    try {
        mkdirSync(folder, { mode: 0o755 });
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        throw new UserError(`A lab called ${name} is there already (${folder}). Use it, end it with npm run lab -- down --name ${name}, or choose another name.`);
    }
    writeRecord({ name, owner: thisProcess(), created: new Date().toISOString() });
    return folder;
}

export function readRecord(name: string): LabRecord | undefined {
    try {
        return JSON.parse(readFileSync(path.join(folderOf(name), RECORD), "utf8")) as LabRecord;
    } catch {
        return undefined;
    }
}

export function writeRecord(record: LabRecord): void {
    const file = path.join(folderOf(record.name), RECORD);
    writeFileSync(`${file}.new`, JSON.stringify(record, undefined, 2), { mode: 0o600 });
    renameSync(`${file}.new`, file);
}

export function thisProcess(): ProcessRecord {
    return { pid: process.pid, start: startOf(process.pid) ?? "" };
}

/** The names of all labs of this machine. */
export function labs(): readonly string[] {
    return readdirSync(os.tmpdir()).filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
}

/** Removes labs whose owner is gone; returns their names. */
export function sweep(): readonly string[] {
    const left = labs().filter((name) => {
        const record = readRecord(name);
        // Without a record the lab was about to begin, or to end: its folder's name still tells which namespaces are its own.
        return record === undefined ? isOld(folderOf(name)) : record.owner !== undefined && startOf(record.owner.pid) !== record.owner.start;
    });
    for (const name of left) remove(name);
    return left;
}

/** Old enough not to be about to get its record. */
function isOld(folder: string): boolean {
    return existsSync(folder) && Date.now() - statSync(folder).mtimeMs > 60_000;
}

/** Ends every process of a lab and removes its namespaces and its folder. Synchronous, so that it also works while this process ends. */
export function remove(name: string): void {
    for (const force of ["SIGTERM", "SIGKILL"] as const) {
        const pids = namespacesOf(name).flatMap(processesIn);
        for (const pid of pids) signal(pid, force);
        for (let waited = 0; waited < GRACE_MS && pids.some((pid) => startOf(pid) !== undefined); waited += 50) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
    removeNetwork(name);
    try {
        rmdirSync("/etc/netns"); // Only when it is empty.
    } catch { /* It is not, or there is none. */ }
    rmSync(folderOf(name), { recursive: true, force: true });
}

/** When a process began, in ticks since the machine's start; undefined when it has ended. */
function startOf(pid: number): string | undefined {
    try {
        const fields = readFileSync(`/proc/${String(pid)}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
        return fields[0] === "Z" ? undefined : fields[19];
    } catch {
        return undefined;
    }
}
