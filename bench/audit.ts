// `npm run bench:audit`: the audit against `istioctl analyze` on the same manifests in one run, in alternating pairs; whether it stays linear;
// and what memory it takes. The build of istioctl is said: `npm run setup -- --bench` makes an optimised one.
import { spawn } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { locate } from "../tools/setup/install";
import { repository } from "../tools/support/places";
import { run } from "../tools/support/process";
import { type ManifestFiles, writeManifests } from "./manifests";
import { median, spread } from "./statistics";

const HOSTS = Number(process.env["BENCH_HOSTS"] ?? "1000"), PAIRS = Number(process.env["BENCH_PAIRS"] ?? "3");
/** In hosts; seven objects each. */
const SIZES = [14, 143, 1429] as const;

interface Usage { readonly seconds: number; readonly cpu: number; readonly peakMb: number }

async function main(): Promise<void> {
    const folder = path.join(repository, "out/bench-audit"), istioctl = await locate("istioctl");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const { stdout } = await run("go", ["version", "-m", istioctl]).catch(() => ({ stdout: "" }));
    console.log(`istioctl is ${stdout.includes("-N -l") ? "built without optimisation" : stdout === "" ? "of unknown build" : "optimised"}.\n`);

    const manifests = writeManifests(folder, HOSTS);
    console.log(`${HOSTS} hosts, ${manifests.objects} objects, ${(manifests.bytes / 1e6).toFixed(1)} MB; median of ${PAIRS} alternating pairs, after one that does not count.\n`);
    console.log("| files | istioctl analyze, s (CPU s) | audit, s (CPU s) | times faster, wall (range) | times less CPU (range) | peak memory of the audit, MB |\n| --- | --- | --- | --- | --- | --- |");
    console.log(await compare("one", manifests, ["analyze", "--all-namespaces", "--use-kube=false", manifests.one], istioctl));
    console.log(await compare("many", manifests, ["analyze", "--all-namespaces", "--use-kube=false", manifests.many], istioctl));

    console.log("\n| objects | audit, CPU s | ms for each object beyond the row above | peak memory, MB |\n| --- | --- | --- | --- |");
    let before: { readonly objects: number; readonly cpu: number } | undefined;
    for (const hosts of SIZES) {
        const files = writeManifests(folder, hosts), usages: Usage[] = [];
        for (let one = 0; one < PAIRS; one++) usages.push(await audit(files.one));
        const cpu = median(usages.map((usage) => usage.cpu));
        const each = before === undefined ? "" : (((cpu - before.cpu) / (files.objects - before.objects)) * 1000).toFixed(2);
        console.log(`| ${files.objects} | ${cpu.toFixed(2)} | ${each} | ${median(usages.map(({ peakMb }) => peakMb)).toFixed(0)} |`);
        before = { objects: files.objects, cpu };
    }
}

async function compare(name: "one" | "many", files: ManifestFiles, args: readonly string[], istioctl: string): Promise<string> {
    const theirs: Usage[] = [], ours: Usage[] = [];
    for (let pair = 0; pair <= PAIRS; pair++) {
        const their = (): Promise<Usage> => measure(istioctl, args), our = (): Promise<Usage> => audit(files[name]);
        const [one, other] = pair % 2 === 0 ? [await their(), await our()] : [await our(), await their()];
        if (pair > 0) (pair % 2 === 0 ? [theirs, ours] as const : [ours, theirs] as const).forEach((list, index) => list.push(index === 0 ? one : other));
    }
    const middle = (list: readonly Usage[], field: keyof Usage): number => median(list.map((usage) => usage[field]));
    const ratios = (field: "seconds" | "cpu"): number[] => theirs.map((usage, index) => usage[field] / (ours[index]?.[field] ?? NaN));
    return `| ${name} | ${middle(theirs, "seconds").toFixed(1)} (${middle(theirs, "cpu").toFixed(1)}) | ${middle(ours, "seconds").toFixed(1)} (${middle(ours, "cpu").toFixed(1)}) | ${spread(ratios("seconds"))} | ${spread(ratios("cpu"))} | ${middle(ours, "peakMb").toFixed(0)} |`;
}

function audit(target: string): Promise<Usage> {
    return measure(process.execPath, [path.join(repository, "dist/cli/main.js"), "audit", "--fail-on", "never", target]);
}

/** GNU time knows what a process and its children used. */
function measure(file: string, args: readonly string[]): Promise<Usage> {
    return new Promise((resolve, reject) => {
        const child = spawn("/usr/bin/time", ["-f", "%e %U %S %M", file, ...args], { stdio: ["ignore", "ignore", "pipe"] });
        let said = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => said += text);
        child.once("error", (error) => reject(new Error(`GNU time is needed (Debian: time): ${error.message}`)));
        child.once("close", () => {
            const [seconds, user, system, kilobytes] = (said.trimEnd().split("\n").at(-1) ?? "").split(" ").map(Number);
            if (seconds === undefined || user === undefined || system === undefined || kilobytes === undefined || Number.isNaN(kilobytes)) reject(new Error(`${path.basename(file)} said:\n${said}`));
            else resolve({ seconds, cpu: user + system, peakMb: kilobytes / 1024 });
        });
    });
}

main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
});
