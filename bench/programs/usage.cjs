// Preloaded into the program: writes what it used of CPU and memory when it ends.
const { appendFileSync } = require("node:fs");

if (process.argv.some((arg) => arg.includes("cmd/run") && !arg.includes("run-policy-pack"))) {
    process.on("exit", () => {
        const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
        appendFileSync(process.env.BENCH_USAGE, `${JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 })}\n`);
    });
}
