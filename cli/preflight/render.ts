// The report of a preflight as text: what is to be done in full, what is well as a count.
import { type Colours, coloursFor } from "../render/colours";
import type { PreflightReport } from "./index";
import { Group, type Result, Status } from "./result";

export interface RenderOptions {
    /** Default: those of stdout. */
    readonly colours?: Colours;
    /** Also what is well, line by line. Default: no. */
    readonly verbose?: boolean;
}

export function renderPreflight({ results }: PreflightReport, { colours = coloursFor(process.stdout), verbose = false }: RenderOptions = {}): string[] {
    const options = { colours, verbose };
    return Object.values(Group).flatMap((group) => renderGroup(group, results.filter((result) => result.group === group), options));
}

function renderGroup(group: Group, results: readonly Result[], { colours, verbose }: Required<RenderOptions>): string[] {
    if (results.length === 0) return [];
    const isShown = ({ status, report }: Result): boolean => verbose || status !== Status.Ok || report === true;
    const shown = results.filter(isShown), hidden = results.length - shown.length;
    if (shown.length === 0) return [`${colours.bold(group)}  ${colours.green(`${hidden} ok`)}`];
    return [
        colours.bold(group) + (hidden === 0 ? "" : `  ${colours.green(`${hidden} ok`)}`),
        ...shown.flatMap((result) => renderResult(result, colours)),
    ];
}

/** `unknown` is the longest. */
const WIDTH = Math.max(...Object.values(Status).map((status) => status.length));

function renderResult({ status, object, text, fix }: Result, colours: Colours): string[] {
    const paint = { [Status.Ok]: colours.green, [Status.Warning]: colours.yellow, [Status.Missing]: colours.red, [Status.Unknown]: colours.cyan }[status];
    return [
        `  ${paint(status.padEnd(WIDTH))}  ${object} ${text}`,
        ...(fix === undefined ? [] : [`  ${" ".repeat(WIDTH)}  ${colours.dim("→")} ${fix}`]),
    ];
}

/** `2 missing, 1 warning, 14 ok`. */
export function countResults(results: readonly Result[]): string {
    const counts = [Status.Missing, Status.Warning, Status.Unknown, Status.Ok].map((status) => [status, results.filter((result) => result.status === status).length] as const);
    return counts.filter(([status, number]) => number > 0 || status === Status.Missing).map(([status, number]) => `${number} ${status}${status === Status.Warning && number !== 1 ? "s" : ""}`).join(", ");
}
