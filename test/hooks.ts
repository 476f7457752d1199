// Mocha lets an unhandled rejection pass; here it fails the test during which it happened.
import { setImmediate } from "node:timers/promises";

const rejections: unknown[] = [];

export const mochaHooks = {
    beforeAll(): void {
        process.on("unhandledRejection", (reason) => rejections.push(reason));
    },
    async afterEach(this: Mocha.Context): Promise<void> {
        await setImmediate();
        const [first] = rejections.splice(0);
        if (first !== undefined) throw first instanceof Error ? first : new Error(`Unhandled rejection: ${JSON.stringify(first)}`);
    },
};
