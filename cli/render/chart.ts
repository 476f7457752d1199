// Draws what happened second by second as an SVG: bars of connections by the VIP that answered, and of those that failed.

/** A picture: per second how many connections were made, by who answered, and how many failed. */
export interface Chart {
    readonly title: string;
    readonly seconds: readonly { readonly second: number; readonly failed: number; readonly by: Readonly<Record<string, number>> }[];
    /** What happened at which second. */
    readonly events?: readonly { readonly second: number; readonly text: string }[];
}

export const WIDTH = 760, HEIGHT = 240;
const LEFT = 44, TOP = 56, BOTTOM = 30, RIGHT = 12;
/** About the width of a letter. */
const LETTER = 5.5;
const FAILED = "#c62828";
const COLOURS = ["#3f72af", "#7fb069", "#e6aa3c", "#8e6c8a", "#5c9ead", "#a0a0a0"];

export function drawChart({ title, seconds, events = [] }: Chart): string {
    const last = Math.max(0, ...seconds.map(({ second }) => second), ...events.map(({ second }) => second)), step = (WIDTH - LEFT - RIGHT) / (last + 1);
    const answering = [...new Set(seconds.flatMap(({ by }) => Object.keys(by)))].sort();
    const highest = Math.max(1, ...seconds.map(({ by, failed }) => failed + sum(Object.values(by)))), scale = (HEIGHT - TOP - BOTTOM) / highest;
    const x = (second: number): number => LEFT + second * step, y = (count: number): number => HEIGHT - BOTTOM - count * scale;
    const series = [...answering.map((name, index) => ({ name, colour: COLOURS[index % COLOURS.length] ?? "" })), ...(seconds.some(({ failed }) => failed > 0) ? [{ name: "failed", colour: FAILED }] : [])];
    const bars = seconds.flatMap(({ second, by, failed }) => {
        let below = 0;
        return series.map(({ name, colour }) => {
            const count = name === "failed" ? failed : by[name] ?? 0;
            below += count;
            return count === 0 ? "" : `<rect x="${short(x(second))}" y="${short(y(below))}" width="${short(Math.max(1, step - 1))}" height="${short(count * scale)}" fill="${colour}"/>`;
        }).filter((bar) => bar !== "");
    });
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}" font-family="sans-serif" font-size="11" role="img" aria-label="${text(title)}">`,
        `<rect width="${String(WIDTH)}" height="${String(HEIGHT)}" fill="#fff"/>`, `<text x="${String(LEFT)}" y="18" font-size="13" font-weight="bold">${text(title)}</text>`,
        ...series.map(({ name, colour }, index) => `<rect x="${String(LEFT + index * 110)}" y="28" width="10" height="10" fill="${colour}"/><text x="${String(LEFT + 14 + index * 110)}" y="37">${text(name)}</text>`),
        ...[0, highest].map((count) => `<text x="${String(LEFT - 6)}" y="${short(y(count) + 4)}" text-anchor="end">${String(count)}</text><line x1="${String(LEFT)}" x2="${String(WIDTH - RIGHT)}" y1="${short(y(count))}" y2="${short(y(count))}" stroke="#ccc"/>`),
        ...bars,
        ...placed(events.map(({ second, text: what }) => ({ x: x(second), what }))).map(({ x: at, row, what }) => `<line x1="${short(at)}" x2="${short(at)}" y1="${String(TOP - 6)}" y2="${String(HEIGHT - BOTTOM)}" stroke="#000" stroke-dasharray="3 3"/><text x="${short(at + 3)}" y="${String(TOP + row * 12)}">${text(what)}</text>`),
        ...ticks(last).map((second) => `<text x="${short(x(second))}" y="${String(HEIGHT - BOTTOM + 14)}">${String(second)} s</text>`),
        `<text x="${String(LEFT)}" y="${String(HEIGHT - 4)}" fill="#666">new connections a second</text>`, "</svg>", "",
    ].join("\n");
}

/** Several pictures below one another. */
export function stackCharts(charts: readonly Chart[]): string {
    const inner = charts.map((chart, index) => drawChart(chart).replace("<svg ", `<svg y="${String(index * HEIGHT)}" width="${String(WIDTH)}" height="${String(HEIGHT)}" `).trimEnd());
    return [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT * charts.length)}">`, ...inner, "</svg>", ""].join("\n");
}

/** Words that would lie over others go into the next row. */
function placed(events: readonly { readonly x: number; readonly what: string }[]): readonly { readonly x: number; readonly what: string; readonly row: number }[] {
    const ends: number[] = [];
    return events.map(({ x, what }) => {
        const free = ends.findIndex((end) => end <= x), row = free < 0 ? ends.length : free;
        ends[row] = x + LETTER * what.length;
        return { x, what, row };
    });
}

/** At most ten, on round numbers. */
function ticks(last: number): readonly number[] {
    const step = [1, 2, 5, 10, 20, 30, 60, 120].find((one) => last / one <= 10) ?? 300;
    return Array.from({ length: Math.floor(last / step) + 1 }, (_, index) => index * step);
}

function sum(values: readonly number[]): number {
    return values.reduce((total, value) => total + value, 0);
}

function short(value: number): string {
    return String(Math.round(value * 10) / 10);
}

function text(value: string): string {
    return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\"", "&quot;");
}
