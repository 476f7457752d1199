// `npm run bench:embedded`: the embedded preview with the policy pack for growing numbers of hosts; it must stay linear.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { repository } from "../tools/support/places";
import { benchHosts } from "./hosts";
import { median } from "./statistics";

const SIZES = [10, 100, 500] as const, RUNS = Number(process.env["BENCH_RUNS"] ?? "3");

async function main(): Promise<void> {
    const folder = path.join(repository, "out/bench-embedded");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const program = path.relative(folder, path.join(repository, "test/fixtures/programs/catalogue/index.ts"));
    await writeFile(path.join(folder, "Pulumi.yaml"), stringify({ name: "bench", runtime: "nodejs", main: program }));
    const seconds = new Map<number, number>();
    console.log(`| hosts | wall time, s, median of ${RUNS} |\n| --- | --- |`);
    for (const size of SIZES) {
        const file = path.join(folder, `hosts-${size}.yaml`), env = `n${size}`;
        await writeFile(file, catalogue(size));
        await writeFile(path.join(folder, `Pulumi.${env}.yaml`), stringify({ config: { "istio-egress:file": file, "istio-egress:catalogue": path.basename(file) } }));
        const runs: number[] = [];
        for (let run = 0; run < RUNS; run++) runs.push(await preview(folder, env));
        seconds.set(size, median(runs));
        console.log(`| ${size} | ${median(runs).toFixed(1)} |`);
    }
    const [small = NaN, middle = NaN, large = NaN] = SIZES.map((size) => seconds.get(size) ?? NaN);
    console.log(`\nPer host beyond the first ${SIZES[0]}: ${(((middle - small) / (SIZES[1] - SIZES[0])) * 1000).toFixed(0)} ms up to ${SIZES[1]} hosts, ${(((large - middle) / (SIZES[2] - SIZES[1])) * 1000).toFixed(0)} ms from there to ${SIZES[2]}.`);
}

/** One gateway for all, as catalogues have it. */
function catalogue(size: number): string {
    const { declarations } = benchHosts(size);
    const hosts = Object.fromEntries(declarations.map(({ name, input }) => [name, { ...input, gateway: "platform" }]));
    return stringify({ gateways: { platform: declarations[0]?.input.gateway }, hosts }, { aliasDuplicateObjects: false });
}

async function preview(folder: string, env: string): Promise<number> {
    const start = performance.now();
    await promisify(execFile)(process.execPath, ["--import", "tsx", path.join(repository, "cli/main.ts"), "preview", "--project", folder, "--env", env, "--out", path.join(folder, "out")],
        { cwd: repository, maxBuffer: 256 * 1024 * 1024 });
    return (performance.now() - start) / 1000;
}

main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
});
