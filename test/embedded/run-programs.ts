// Runs fixture programs one after the other and prints what became of each as JSON.
import type { ProgramRun } from "../../cli/embedded/types";
import { fixture, runIn } from "./support";

async function main(): Promise<void> {
    const runs: Record<string, ProgramRun> = {};
    for (const name of process.argv.slice(2)) runs[name] = await runIn(fixture(name), "dev", 1_000);
    process.stdout.write(JSON.stringify(runs), () => process.exit());
}

void main();
