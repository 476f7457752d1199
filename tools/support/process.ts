// Starts child processes with a time limit and ends their whole tree by process id, so that no plugin of theirs outlives them.
import { execFileSync, spawn } from "node:child_process";
import type { StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Marks every descendant of one run; the children of a killed process lose their parent, but not their environment. */
const MARK = "ISTIO_EGRESS_RUN";
/** How long a process may take to end by itself before it is killed. The Pulumi CLI allows its plugins 5 s. */
const GRACE_MS = 10_000;

export interface RunOptions {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    /** Milliseconds until the run is ended; no limit by default. */
    readonly timeout?: number;
    /** `show` passes the output on to this process's own; `collect` (default) returns it. */
    readonly output?: "collect" | "show";
    /** Called once the process runs; for tests that kill it. */
    readonly started?: (pid: number) => void;
}

export interface RunResult {
    /** The exit code; 1 for a process that a signal ended. */
    readonly code: number;
    readonly signal: NodeJS.Signals | undefined;
    readonly timedOut: boolean;
    readonly stdout: string;
    readonly stderr: string;
}

/** Runs a command to its end. Rejects only when it cannot be started; a failure is in the result. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const mark = randomUUID();
    const shown = options.output === "show";
    const stdio: StdioOptions = ["ignore", shown ? "inherit" : "pipe", shown ? "inherit" : "pipe"];
    const child = spawn(command, args, { cwd: options.cwd, env: { ...(options.env ?? process.env), [MARK]: mark }, stdio });
    const output = { stdout: "", stderr: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => output.stdout += text);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => output.stderr += text);
    let timedOut = false;
    const timer = options.timeout === undefined ? undefined : setTimeout(() => {
        timedOut = true;
        void endTree(child.pid, mark);
    }, options.timeout);
    // An interrupt from the terminal reaches the child too: let it finish in order, and then report. Other signals reach this process
    // alone, and a child left behind would go on deploying: they are handed on as an interrupt.
    const ignore = (): void => undefined;
    const interrupt = (): void => void child.kill("SIGINT");
    process.on("SIGINT", ignore);
    for (const name of HANDED_ON) process.on(name, interrupt);
    try {
        const ended = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
            child.once("error", reject);
            child.once("close", (code, signal) => resolve({ code, signal }));
            if (child.pid !== undefined) options.started?.(child.pid);
        });
        if (timedOut || ended.signal !== null) await endMarked(mark);
        return { code: timedOut ? 1 : ended.code ?? 1, signal: ended.signal ?? undefined, timedOut, ...output };
    } finally {
        clearTimeout(timer);
        process.off("SIGINT", ignore);
        for (const name of HANDED_ON) process.off(name, interrupt);
    }
}

const HANDED_ON = ["SIGTERM", "SIGHUP"] as const;

/** Ends a process and all that it started: first politely, then by force. */
async function endTree(pid: number | undefined, mark: string): Promise<void> {
    if (pid === undefined) return;
    signal(pid, "SIGINT");
    const deadline = Date.now() + GRACE_MS;
    while (isAlive(pid) && Date.now() < deadline) await wait(100);
    if (!isAlive(pid)) return;
    for (const one of [...descendants(pid), pid]) signal(one, "SIGKILL");
    await endMarked(mark);
}

/** Ends what is left of a run after its first process is gone. */
async function endMarked(mark: string): Promise<void> {
    for (const [force, pause] of [["SIGTERM", 2_000], ["SIGKILL", 2_000]] as const) {
        const left = marked(mark);
        if (left.length === 0) return;
        for (const pid of left) signal(pid, force);
        for (let waited = 0; waited < pause && left.some(isAlive); waited += 50) await wait(50);
    }
}

/** False for a process that has ended and that its parent has not looked at yet. */
export function isAlive(pid: number): boolean {
    return signal(pid, 0) && statusFields(pid)[0] !== "Z";
}

export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
    try {
        process.kill(pid, name);
        return true;
    } catch {
        return false;
    }
}

/** The processes whose environment carries the mark; Linux only, elsewhere none. */
function marked(mark: string): number[] {
    return processIds().filter((pid) => pid !== process.pid && fileText(`/proc/${String(pid)}/environ`).includes(`${MARK}=${mark}`));
}

/** The process ids under one process, children before grandchildren. */
export function descendants(root: number): number[] {
    const parents = processParents();
    const found = [root];
    for (const parent of found) for (const [pid, ppid] of parents) if (ppid === parent) found.push(pid);
    return found.slice(1);
}

function processParents(): Map<number, number> {
    const ids = processIds();
    if (ids.length > 0) {
        return new Map(ids.map((pid) => [pid, Number(statusFields(pid)[1] ?? 0)]));
    }
    const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
    return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
}

/** State, parent and so on: what follows the name in /proc/PID/stat; the name is in brackets and may hold blanks. */
function statusFields(pid: number): string[] {
    return fileText(`/proc/${String(pid)}/stat`).replace(/^.*\) /s, "").split(" ");
}

function processIds(): number[] {
    try {
        return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
    } catch {
        return [];
    }
}

function fileText(file: string): string {
    try {
        return readFileSync(file, "utf8");
    } catch {
        return "";
    }
}
