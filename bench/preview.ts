// `npm run bench`: what the library costs a real `pulumi preview`, against the same objects registered by hand. CPU and peak
// memory are the program's own, in alternating pairs, so that a drifting machine counts for both.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { preparePulumi } from "../tools/pulumi";
import { repository } from "../tools/support/places";
import { benchHosts } from "./hosts";
import { median, spread } from "./statistics";

interface Usage { readonly cpuMs: number; readonly peakMb: number }
type Kind = "library" | "plain";

const SIZES = (process.env["BENCH_SIZES"] ?? "10,100,300").split(",").map(Number), PAIRS = Number(process.env["BENCH_PAIRS"] ?? "5"), PREVIEW_MS = 600_000;

async function main(): Promise<void> {
    const folder = path.join(repository, "out/bench");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    console.log(`| hosts | objects | CPU by hand, s | CPU with the library, s | ratio, median (range) of ${PAIRS} pairs | peak memory by hand, MB | with the library, MB | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- |`);
    for (const size of SIZES) console.log(await row(folder, size));
}

async function row(folder: string, size: number): Promise<string> {
    const hosts = benchHosts(size), file = path.join(folder, `hosts-${size}.json`);
    await writeFile(file, JSON.stringify(hosts));
    const usages: Record<Kind, Usage[]> = { library: [], plain: [] };
    // The first pair warms the caches and does not count; the order of a pair alternates.
    for (let pair = 0; pair <= PAIRS; pair++) {
        const order: readonly Kind[] = pair % 2 === 0 ? ["library", "plain"] : ["plain", "library"];
        for (const kind of order) {
            const usage = await preview(folder, kind, file);
            if (pair > 0) usages[kind].push(usage);
        }
    }
    const ratios = (field: keyof Usage): number[] => usages.library.map((usage, index) => usage[field] / (usages.plain[index]?.[field] ?? NaN));
    const middle = (kind: Kind, field: keyof Usage): number => median(usages[kind].map((usage) => usage[field]));
    const objects = hosts.hosts.reduce((sum, host) => sum + host.objects.length, 0);
    return `| ${size} | ${objects} | ${(middle("plain", "cpuMs") / 1000).toFixed(2)} | ${(middle("library", "cpuMs") / 1000).toFixed(2)} | ${spread(ratios("cpuMs"))} | ${middle("plain", "peakMb").toFixed(0)} | ${middle("library", "peakMb").toFixed(0)} | ${spread(ratios("peakMb"))} |`;
}

async function preview(folder: string, kind: Kind, hosts: string): Promise<Usage> {
    const usageFile = path.join(folder, "usage.jsonl"), program = path.join(__dirname, "programs", kind);
    await rm(usageFile, { force: true });
    const pulumi = await preparePulumi({ backend: path.join(folder, `state-${kind}`) });
    const env = {
        BENCH_HOSTS: hosts, BENCH_USAGE: usageFile, BENCH_RENDERED: path.join(folder, "rendered"),
        NODE_OPTIONS: `${pulumi.env["NODE_OPTIONS"] ?? ""} --require=${path.join(__dirname, "programs/usage.cjs")}`,
    };
    const options = { cwd: program, env, timeout: PREVIEW_MS };
    await pulumi.run(["stack", "select", "bench", "--create"], options);
    await pulumi.must(["preview", "--stack", "bench"], options);
    const lines = (await readFile(usageFile, "utf8")).trim().split("\n");
    if (lines.length !== 1) throw new Error(`The program reported its usage ${lines.length} times.`);
    return JSON.parse(lines[0] ?? "") as Usage;
}

main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
});
