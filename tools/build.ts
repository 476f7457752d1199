// npm run build: compiles the library, the command and the policy pack into dist/, unless dist/ is already up to date.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { chmod, copyFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { repository } from "./support/places";
import { run } from "./support/process";
import { UserError, duration, main, say } from "./support/report";

const CONFIG = "tsconfig.build.json";
const STAMP = ".built-from";
const dist = path.join(repository, "dist");

/** Compiles when an input has changed since the last build; a build that fails leaves the old dist/ as it was. */
export async function build(): Promise<void> {
    const begin = Date.now();
    const inputs = fingerprint();
    const stamp = path.join(dist, STAMP);
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === inputs) return say(`dist/ is up to date (${duration(Date.now() - begin)})`);
    const stage = path.join(repository, "out", `dist.${String(process.pid)}.partial`);
    try {
        const compiler = require.resolve("typescript/bin/tsc");
        const result = await run(process.execPath, [compiler, "-p", CONFIG, "--outDir", stage], { cwd: repository });
        if (result.code !== 0) throw new UserError(`build: TypeScript refuses the sources, so dist/ is left as it was:\n${result.stdout.trim()}`);
        await addPluginFiles("policies", "PulumiPolicy.yaml", stage);
        await addPluginFiles("provider", "PulumiPlugin.yaml", stage);
        const command = path.join(stage, "cli/main.js");
        if (existsSync(command)) await chmod(command, 0o755);
        await writeFile(path.join(stage, STAMP), inputs);
        await rm(dist, { recursive: true, force: true });
        await rename(stage, dist);
    } finally {
        await rm(stage, { recursive: true, force: true });
    }
    say(`dist/ built (${duration(Date.now() - begin)})`);
}

/** A pack or a provider is a folder with its own YAML file; the SDK reads its version from the package.json beside it. */
async function addPluginFiles(folder: string, settings: string, stage: string): Promise<void> {
    const sources = path.join(repository, folder), target = path.join(stage, folder);
    if (!existsSync(path.join(sources, settings))) return;
    const { version } = readManifest(path.join(repository, "package.json"));
    await copyFile(path.join(sources, settings), path.join(target, settings));
    await writeFile(path.join(target, "package.json"), `${JSON.stringify({ ...readManifest(path.join(sources, "package.json")), version }, undefined, 2)}\n`);
}

function readManifest(file: string): Record<string, unknown> {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}

/** Names, sizes and times of everything that the result depends on. */
function fingerprint(): string {
    const { include } = JSON.parse(readFileSync(path.join(repository, CONFIG), "utf8")) as { include: readonly string[] };
    const names = [...include, CONFIG, "tsconfig.json", "package.json", "package-lock.json", "tools/build.ts"];
    const hash = createHash("sha256");
    for (const file of names.flatMap((name) => filesUnder(path.join(repository, name)))) {
        const { size, mtimeMs } = statSync(file);
        hash.update(`${path.relative(repository, file)} ${String(size)} ${String(mtimeMs)}\n`);
    }
    return hash.digest("hex");
}

function filesUnder(place: string): string[] {
    if (!existsSync(place)) return [];
    if (!statSync(place).isDirectory()) return [place];
    return readdirSync(place).sort().flatMap((name) => filesUnder(path.join(place, name)));
}

if (require.main === module) main(async () => {
    await build();
    return 0;
});
