// What a command does to the streams and signals of its process while it works, and how it puts them back.
import { constants } from "node:os";

/** A program's own prints must not mix with a document on stdout: they go to stderr while `work` runs. */
export async function stdoutToStderr<T>(work: () => Promise<T>): Promise<T> {
    const { stdout, stderr } = process;
    const write = stdout.write.bind(stdout);
    stdout.write = stderr.write.bind(stderr);
    try {
        return await work();
    } finally {
        stdout.write = write;
    }
}

/** Makes interrupts end the process through `exit`, so that its listeners end the child processes too. */
export function exitOnSignals(): () => void {
    const handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
        const handler = (): never => process.exit(128 + constants.signals[signal]);
        process.once(signal, handler);
        return { signal, handler };
    });
    return () => handlers.forEach(({ signal, handler }) => process.off(signal, handler));
}
