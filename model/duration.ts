// Go durations ("10s", "1m30s", "250ms"), the notation of Istio's own fields, as milliseconds.

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, "µs": 1e-3, "μs": 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** The pattern of a non-negative Go duration, for the JSON Schema of declarations. */
export const DURATION_PATTERN = /^(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

/** Milliseconds of a Go duration, or undefined when the text is none. Signs are refused: no field here can be negative. */
export function parseDuration(text: string): number | undefined {
    if (!DURATION_PATTERN.test(text)) return undefined;
    if (text === "0") return 0;
    let total = 0;
    for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (UNITS[unit ?? ""] ?? NaN);
    return Number.isFinite(total) ? total : undefined;
}

/** Milliseconds of a duration that a schema has already accepted. */
export function milliseconds(text: string): number {
    const value = parseDuration(text);
    if (value === undefined) throw new TypeError(`${JSON.stringify(text)} is not a Go duration such as "10s" or "1m30s".`);
    return value;
}

/** `1500` → `"1.5s"`: seconds, the one notation that Go, CEL and protobuf's JSON all read. */
export function toSeconds(ms: number): string {
    return `${Number((ms / 1000).toFixed(9))}s`;
}

/** For people: `"250ms"`, `"10.1s"`, `"1m30s"`, `"2h"`. */
export function formatDuration(ms: number): string {
    if (ms > 0 && ms < 1000) return `${Number(ms.toFixed(3))}ms`;
    const hours = Math.floor(ms / 3_600_000), minutes = Math.floor((ms % 3_600_000) / 60_000);
    const seconds = Number(((ms % 60_000) / 1000).toFixed(3));
    if (hours === 0 && minutes === 0) return `${seconds}s`;
    return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}${seconds > 0 ? `${seconds}s` : ""}`;
}
