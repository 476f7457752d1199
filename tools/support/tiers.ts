// The tiers of tests, from the one that needs npm only to those that run the real tools.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "../build";
import { gate, mocha, sum } from "./steps";
import type { Counts } from "./steps";

/** Types, lint and the tests that need nothing but npm. Two at a time: the gates one after the other beside Mocha. */
export async function testTier(): Promise<Counts> {
    const gates = async (): Promise<Counts[]> => [
        await gate("types", "typescript/bin/tsc", ["--noEmit"]),
        await gate("lint", "eslint/bin/eslint.js", ["."]),
    ];
    const tests = mocha("tests", ["test/unit/**/*.test.ts", "test/policies/**/*.test.ts", "test/embedded/**/*.test.ts"], 10 * 60_000);
    const done = [...await gates(), await tests];
    // Last and alone: it compiles, packs and installs the package.
    return sum([...done, await mocha("consumers", ["test/consumers/*.test.ts"], 10 * 60_000)]);
}

/** The real Pulumi CLI, provider and API server: `npm run setup` first. */
export async function engineTier(): Promise<Counts> {
    await build();
    // The Kubernetes provider leaves a file in the temporary folder for each cluster that it is shown.
    const folder = await mkdtemp(path.join(tmpdir(), "istio-egress-"));
    try {
        return await mocha("engine", ["test/engine/**/*.test.ts", "test/consumers/engine/*.test.ts"], 40 * 60_000, { TMPDIR: folder });
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
}

/** The quick set of scenarios on a real mesh: `npm run setup` first, on Linux as root. */
export async function meshTier(): Promise<Counts> {
    await build();
    return mocha("mesh", ["test/mesh/**/*.test.ts"], 25 * 60_000);
}
