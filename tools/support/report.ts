// How the tools talk to the person who runs them: plain lines, durations, and errors without a stack.
import { Failure } from "../../cli/failure";

/** An error whose message is all that a user needs: what, why and the way out. */
export class UserError extends Error {}

export function say(line: string): void {
    process.stdout.write(`${line}\n`);
}

/** "0.4 s", "12 s", "3 min 22 s". */
export function duration(milliseconds: number): string {
    const seconds = milliseconds / 1000;
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 90) return `${seconds.toFixed(0)} s`;
    return `${String(Math.floor(seconds / 60))} min ${String(Math.round(seconds % 60))} s`;
}

/** The last lines of a program's output, for an error message. */
export function lastLines(text: string, count = 15): string {
    return text.trimEnd().split("\n").slice(-count).join("\n");
}

/** Runs a tool's main function: its number is the exit code; an error that is meant for the user is told without its stack. */
export function main(run: () => Promise<number>): void {
    run().then((code) => {
        process.exitCode = code;
    }, (error: unknown) => {
        process.stderr.write(`${error instanceof UserError || error instanceof Failure ? error.message : error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
        process.exitCode = 1;
    });
}
