// Results of the lab: one committed JSON file per cell, with what was put in, what came out, when, and with which versions.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Chart } from "../../cli/render/chart";
import { version as library } from "../../package.json";
import { tools } from "../../tools/setup/table";

export type { Chart };

/** One measurement. */
export interface Result<Inputs = unknown, Figures = unknown> {
    readonly scenario: string;
    readonly cell: string;
    /** The row's name in the table. */
    readonly title: string;
    /** Its place in the table. */
    readonly order: number;
    readonly inputs: Inputs;
    readonly figures: Figures;
    /** What the table shows: the field documents' figure, the earlier lab's, ours, and why they differ. */
    readonly shown: { readonly documents?: string; readonly earlier?: string; readonly ours: string; readonly why?: string };
    readonly chart?: Chart;
    readonly date: string;
    readonly versions: Readonly<Record<string, string>>;
}

/** What a scenario is about; kept beside its cells. */
export interface ScenarioText { readonly title: string; readonly question: string }

export const RESULTS = path.join(__dirname, "results");
/** What the figures depend on. */
const MEASURED_WITH = ["pulumi", "pulumi-resource-kubernetes", "kube-apiserver", "pilot-discovery", "envoy", "istio-crds"];

export function versions(): Record<string, string> {
    return { "istio-egress": library, node: process.versions.node, ...Object.fromEntries(tools.filter(({ name }) => MEASURED_WITH.includes(name)).map(({ name, version }) => [name, version])) };
}

export function readResult<Inputs, Figures>(scenario: string, cell: string): Result<Inputs, Figures> | undefined {
    const file = fileOf(scenario, cell);
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) as Result<Inputs, Figures> : undefined;
}

export function writeResult(result: Result, text: ScenarioText): void {
    const file = fileOf(result.scenario, result.cell);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
    writeFileSync(path.join(path.dirname(file), "scenario.json"), `${JSON.stringify(text, undefined, 2)}\n`);
}

function fileOf(scenario: string, cell: string): string {
    for (const name of [scenario, cell]) if (!/^[a-z0-9-]+$/.test(name) || name === "scenario") throw new Error(`"${name}" is no name of a scenario or cell: use lower-case letters, digits and hyphens.`);
    return path.join(RESULTS, scenario, `${cell}.json`);
}
