// The process of a policy pack: started as the Pulumi CLI starts it, spoken to over its port, ended by its process id.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure, usageError } from "../failure";
import { shownPath } from "../paths";
import { readSettings } from "./project";

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 2_000;
const MAX_OUTPUT = 4_000;

/** Time to read what a pack printed while this process was busy. */
const READ_MS = 200;

export interface Pack {
    /** `host:port` of the pack's analyzer service, once it listens. */
    readonly address: Promise<string>;
    /** What the pack has printed so far, its end only. */
    output(): string;
    stop(): Promise<void>;
}

/** Starts the pack of a folder. Nothing is loaded in this process, so that a program can run meanwhile. */
export function startPack(packDir: string, timeoutMs = START_TIMEOUT_MS): Pack {
    const folder = resolve(packDir);
    const child = spawn(process.execPath, packArguments(folder), { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const kill = (): void => void child.kill();
    process.once("exit", kill);
    let printed = "";
    const keep = (chunk: Buffer): void => { printed = (printed + chunk.toString()).slice(-MAX_OUTPUT); };
    child.stderr.on("data", keep);

    const ended = new Promise<string>((resolveEnd) => {
        child.once("error", (error) => resolveEnd(error.message));
        child.once("close", (code, signal) => resolveEnd(signal ?? `exit code ${code}`));
    });
    const port = new Promise<string>((resolvePort) => {
        let line = "";
        child.stdout.on("data", (chunk: Buffer) => {
            line += chunk.toString();
            const [, first, rest] = /^(.*)\r?\n([^]*)$/.exec(line) ?? [];
            if (first === undefined) return;
            child.stdout.removeAllListeners("data").on("data", keep);
            keep(Buffer.from(rest ?? ""));
            resolvePort(first.trim());
        });
    });
    const where = `policy pack ${shownPath(folder)}`;
    const timer = new AbortController();
    const late = delay(timeoutMs, undefined, { signal: timer.signal, ref: false }).then(async () => {
        // The program runs in this process: while it was busy, the port may have been printed and not been read yet.
        if (await Promise.race([port, delay(READ_MS)]) !== undefined) return new Promise<never>(() => undefined);
        throw new Failure(`The ${where} did not start within ${timeoutMs / 1000} s.${quoted(printed)}`);
    });
    const address = Promise.race([
        port.then((text) => {
            if (!/^\d+$/.test(text)) throw new Failure(`The ${where} printed "${text}" where the port of its service was expected: a pack prints nothing before \`new PolicyPack\`.`);
            return `127.0.0.1:${text}`;
        }),
        ended.then((how) => { throw new Failure(`The ${where} ended before it served (${how}).${quoted(printed)}`); }),
        late,
    ]).finally(() => timer.abort());
    // Whoever waits for the address gets its error; before that it must not end this process.
    address.catch(() => undefined);

    return {
        address,
        output: () => printed,
        async stop() {
            process.off("exit", kill);
            timer.abort();
            child.kill();
            const force = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
            await ended;
            clearTimeout(force);
        },
    };
}

/**
 * A compiled pack runs through the SDK's own entry point. That one would compile TypeScript with full type checks, which takes
 * seconds, so TypeScript goes through tsx: it is registered after the SDK is loaded, since it slows the loading of JavaScript.
 */
function packArguments(folder: string): string[] {
    const entry = packEntry(folder);
    const from = createRequire(join(folder, "index.js"));
    const find = (id: string): string => {
        for (const { resolve: lookUp } of [from, createRequire(__filename)]) {
            try {
                return lookUp(id);
            } catch { /* the next place */ }
        }
        throw usageError(`The policy pack ${shownPath(folder)} needs ${id.split("/").slice(0, id.startsWith("@") ? 2 : 1).join("/")}, which is not installed: \`npm install\` it, or skip the pack with --no-policy.`);
    };
    // The engine's address, which a pack does not use.
    if (extname(entry) !== ".ts") return [find("@pulumi/pulumi/cmd/run-policy-pack"), "127.0.0.1:0", folder];
    return ["--require", find("@pulumi/policy"), "--require", find("tsx/cjs"), entry];
}

function packEntry(folder: string): string {
    const settingsFile = join(folder, "PulumiPolicy.yaml");
    if (!existsSync(settingsFile)) throw usageError(`${shownPath(folder)} is no policy pack: it has no PulumiPolicy.yaml. Name the pack's folder with --policy-pack, or skip policies with --no-policy.`);
    const manifest = join(folder, "package.json");
    const main = readSettings(settingsFile)["main"] ?? (existsSync(manifest) ? (JSON.parse(readFileSync(manifest, "utf8")) as { main?: unknown }).main : undefined);
    const candidates = [...(typeof main === "string" ? [main, join(main, "index.js"), join(main, "index.ts")] : []), "index.js", "index.ts"];
    const entry = candidates.map((name) => join(folder, name)).find((path) => existsSync(path) && extname(path) !== "");
    if (entry === undefined) throw usageError(`The policy pack ${shownPath(folder)} has no index.ts or index.js.`);
    return entry;
}

function quoted(printed: string): string {
    return printed.trim() === "" ? "" : ` It printed:\n${printed.trimEnd()}`;
}
