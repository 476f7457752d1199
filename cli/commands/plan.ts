// `istio-egress plan`: what a host's failovers will cost, second by second, before one happens. Nothing is asked and nothing is written but the report.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ExitCode, messageOf, usageError } from "../failure";
import { shownPath } from "../paths";
import type { PlanFormat } from "../plan/choices";
import type { HostReport } from "../plan/report";
import { coloursFor } from "../render/colours";

export interface PlanOptions {
    readonly all: boolean;
    readonly env?: string;
    readonly project: string;
    readonly catalogue?: string;
    readonly format: PlanFormat;
    readonly output?: string;
    /** New connections a second. */
    readonly rate: string;
    /** Gateway pods, or with route direct sidecars, that share them. */
    readonly proxies: string;
}

export async function plan(hosts: readonly string[], options: PlanOptions): Promise<ExitCode> {
    const perSecond = whole("--rate", options.rate, 1, 500), proxies = whole("--proxies", options.proxies, 1, 100);
    const { chooseHosts } = await import("../plan/choose.js"), { hostReport } = await import("../plan/report.js");
    const chosen = await chooseHosts({ ...options, hosts });
    const reports = chosen.map(({ name, declaration }) => hostReport(name, declaration, { perSecond, proxies }));
    await write(reports, options, { perSecond, proxies });
    return ExitCode.Ok;
}

/** A whole number between two bounds, from the command line. */
export function whole(option: string, text: string, least: number, most: number): number {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) throw usageError(`${option} is ${JSON.stringify(text)}, but takes a whole number from ${String(least)} to ${String(most)}.`);
    return value;
}

async function write(reports: readonly HostReport[], { format, output }: PlanOptions, load: { readonly perSecond: number; readonly proxies: number }): Promise<void> {
    const pictures = new Map<string, string>();
    const text = await render(reports, format, load, output === undefined ? undefined : (name, svg) => {
        const file = `${basename(output).replace(/\.[^.]*$/, "")}-${name.replace(/[^\w.-]/g, "_")}.svg`;
        pictures.set(file, svg);
        return file;
    });
    if (output === undefined) {
        process.stdout.write(text);
        return;
    }
    try {
        mkdirSync(dirname(output), { recursive: true });
        writeFileSync(output, text);
        for (const [file, svg] of pictures) writeFileSync(join(dirname(output), file), svg);
    } catch (error) {
        throw usageError(`The report cannot be written to ${shownPath(output)}: ${messageOf(error)}. Name another file with --output.`);
    }
}

type Place = (name: string, svg: string) => string;

async function render(reports: readonly HostReport[], format: PlanFormat, load: { readonly perSecond: number; readonly proxies: number }, place: Place | undefined): Promise<string> {
    switch (format) {
        case "text": return (await import("../render/failover/text.js")).renderText(reports, coloursFor(place === undefined ? process.stdout : { isTTY: false }));
        case "json": return (await import("../render/failover/json.js")).renderJson(reports, load);
        case "mermaid": return (await import("../render/failover/mermaid.js")).renderGantt(reports);
        case "markdown": {
            const { embedded, renderMarkdown } = await import("../render/failover/markdown.js");
            return renderMarkdown(reports, place ?? embedded);
        }
        case "svg": {
            const { stackCharts } = await import("../render/chart.js"), { failureChart, plannedChart } = await import("../render/failover/words.js");
            return stackCharts(reports.flatMap(({ name, failure, planned }) => [
                ...(failure?.timelines ?? []).map((timeline) => failureChart(name, timeline)), ...(planned === undefined || planned.seconds.length === 0 ? [] : [plannedChart(name, planned)]),
            ]));
        }
    }
}
