// What a long run is doing, on one line of the terminal that goes away again; nothing on anything but a terminal.

/** Shorter runs show nothing. */
const AFTER_MS = 400, EVERY_MS = 100;

export class Progress {
    readonly #begin = Date.now();
    #last = 0;

    constructor(private readonly stream: NodeJS.WriteStream) {}

    show(what: string, done: number, all: number): void {
        const now = Date.now();
        if (!this.stream.isTTY || now - this.#begin < AFTER_MS || now - this.#last < EVERY_MS) return;
        this.#last = now;
        const line = `${done + 1} of ${all}: ${what}`, width = Math.max(this.stream.columns - 1, 10);
        this.stream.write(`\r\x1b[K${line.length > width ? `${line.slice(0, width - 1)}…` : line}`);
    }

    end(): void {
        if (this.#last > 0) this.stream.write("\r\x1b[K");
    }
}
