// Waits until a program in this process has nothing left to do, as `node` itself does before it exits.
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** Quiet turns of the event loop before a program counts as done: promise chains need one, thread pool jobs a little time. */
const QUIET_TURNS = 5;
const QUIET_MS = 4;

/**
 * Node lists what keeps its event loop alive: timers, requests, sockets. A program is done when nothing of that has been
 * added since the baseline was taken and no call of its own is under way. Promises that nothing will ever settle do not
 * count, exactly as in a process of their own.
 */
export class Quiescence {
    private constructor(private readonly baseline: Map<string, number>) {}

    static async begin(): Promise<Quiescence> {
        // Node opens these when they are first asked for; and whoever awaits this function may still set a timer of its own.
        void [process.stdin, process.stdout, process.stderr];
        await nextTurn();
        return new Quiescence(count());
    }

    /** @returns what is still active when the time is over; an empty list when the program is done */
    async wait(isBusy: () => boolean, timeoutMs: number): Promise<readonly string[]> {
        const end = Date.now() + timeoutMs;
        for (let quiet = 0; quiet < QUIET_TURNS; ) {
            await nextTurn();
            const active = this.added();
            if (active.length === 0 && !isBusy()) {
                quiet += 1;
                await delay(QUIET_MS);
                continue;
            }
            quiet = 0;
            if (Date.now() > end) return active.length > 0 ? active : ["a call to the engine"];
            await delay(1);
        }
        return [];
    }

    private added(): string[] {
        const current = count();
        // What has ended since must not hide something new of its type.
        for (const [type, number] of this.baseline) this.baseline.set(type, Math.min(number, current.get(type) ?? 0));
        return [...current].filter(([type, number]) => number > (this.baseline.get(type) ?? 0)).map(([type]) => type);
    }
}

function count(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
    return counts;
}
