// Mocha lets an unhandled rejection pass; here it fails the test during which it happened.
import { setImmediate } from "node:timers/promises";

const rejections: unknown[] = [];

/** For a test that expects rejections: the messages of those so far, each once. */
export async function takeRejections(): Promise<readonly string[]> {
    await setImmediate();
    return [...new Set(rejections.splice(0).map((reason) => (reason instanceof Error ? reason.message : String(reason))))];
}

export const mochaHooks = {
    beforeAll(): void {
        process.on("unhandledRejection", (reason) => rejections.push(reason));
    },
    async afterEach(this: Mocha.Context): Promise<void> {
        const [first] = await takeRejections();
        if (first !== undefined) throw new Error(`Unhandled rejection: ${first}`);
    },
};

// Expiry is judged by the day: the packs and commands that tests start have one that does not move.
process.env["SOURCE_DATE_EPOCH"] ??= String(Date.parse("2026-11-30T12:00:00Z") / 1000);
