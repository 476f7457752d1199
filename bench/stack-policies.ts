// `npm run bench:stack`: what the policies of the whole stack cost at the end of a preview, in the pack's own process, for growing numbers of hosts.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { AnalyzerProcess } from "../test/policies/analyzer-process";
import { repository } from "../tools/support/places";
import { benchHosts } from "./hosts";
import { median } from "./statistics";

/** Seven objects each. */
const SIZES = [100, 250, 500, 1000, 2000] as const, RUNS = Number(process.env["BENCH_RUNS"] ?? "3");

async function main(): Promise<void> {
    const pack = path.join(repository, "dist/policies");
    console.log(`| hosts | resources | CPU of the pack's process, s, median of ${RUNS} | ms for each resource | peak memory, MB |\n| --- | --- | --- | --- | --- |`);
    for (const size of SIZES) {
        const requests = benchHosts(size).hosts.flatMap(({ name, objects }) => objects.map(({ key, object }) => {
            const { apiVersion, kind } = object as { apiVersion: string; kind: string };
            return { type: `kubernetes:${apiVersion}:${kind}`, properties: JSON.parse(JSON.stringify(object)) as unknown, name: `${name}-${key}` };
        }));
        // A process each, as each preview has one of its own.
        const runs: { readonly cpu: number; readonly peakMb: number }[] = [];
        for (let run = 0; run < RUNS; run++) runs.push(await judged(pack, requests));
        const cpu = median(runs.map((one) => one.cpu));
        console.log(`| ${size} | ${requests.length} | ${cpu.toFixed(2)} | ${((cpu / requests.length) * 1000).toFixed(2)} | ${median(runs.map(({ peakMb }) => peakMb)).toFixed(0)} |`);
    }
}

async function judged(pack: string, requests: Parameters<AnalyzerProcess["analyzeStack"]>[0]): Promise<{ readonly cpu: number; readonly peakMb: number }> {
    const analyzer = await AnalyzerProcess.start([require.resolve("@pulumi/pulumi/cmd/run-policy-pack"), "127.0.0.1:0", pack], pack);
    try {
        await analyzer.configure({});
        const before = cpuOf(analyzer.pid ?? 0), found = await analyzer.analyzeStack(requests);
        if (found.some(({ level }) => level === "mandatory")) throw new Error(`The benchmark's own objects have findings: ${found[0]?.message ?? ""}`);
        return { cpu: cpuOf(analyzer.pid ?? 0) - before, peakMb: Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${analyzer.pid ?? 0}/status`, "utf8"))?.[1] ?? NaN) / 1024 };
    } finally {
        await analyzer.stop();
    }
}

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** User and system time of a process, in seconds (proc(5): the 14th and 15th field; the second, the name, may hold blanks). */
function cpuOf(pid: number): number {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
});
