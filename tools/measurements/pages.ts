// docs/measurements/: a page per scenario from the committed results of the lab, with a picture for each cell that has a chart.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { drawChart } from "../../cli/render/chart";
import { RESULTS } from "../../test/mesh/results";
import type { Result, ScenarioText } from "../../test/mesh/results";

const FOLDER = "docs/measurements";

/** The files that follow from the results: path in the repository, and text. */
export function measurementFiles(): readonly (readonly [file: string, text: string])[] {
    if (!existsSync(RESULTS)) return [];
    const scenarios = readdirSync(RESULTS).sort().map(readScenario);
    return [[`${FOLDER}/README.md`, indexPage(scenarios)], ...scenarios.flatMap((scenario) => [
        [`${FOLDER}/${scenario.name}.md`, page(scenario)] as const,
        ...scenario.results.flatMap(({ cell, chart }) => chart === undefined ? [] : [[`${FOLDER}/${picture(scenario.name, cell)}`, drawChart(chart)] as const]),
    ])];
}

interface ScenarioResults { readonly name: string; readonly text: ScenarioText; readonly results: readonly Result[] }

function readScenario(name: string): ScenarioResults {
    const folder = path.join(RESULTS, name), read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), "utf8"));
    const results = readdirSync(folder).filter((file) => file !== "scenario.json").map((file) => read(file) as Result);
    return { name, text: read("scenario.json") as ScenarioText, results: results.sort((a, b) => a.order - b.order) };
}

function indexPage(scenarios: readonly ScenarioResults[]): string {
    return [
        "# Measurements", "",
        "What the lab measured: real istiod, Envoy, API server and Pulumi, in network namespaces of one machine. `npm run test:mesh -- --full` measures what",
        "has no result yet; the results are in `test/mesh/results/`, one file per cell, with all inputs, figures and versions.", "",
        ...scenarios.map(({ name, text }) => `- [${text.title}](${name}.md): ${text.question}`), "",
        "*Field documents*: an operations team's own measurements on Istio 1.30.0, of which this project started. *Earlier lab*: a first one of shell scripts.", "",
    ].join("\n");
}

function page({ name, text, results }: ScenarioResults): string {
    const rows = results.map(({ title, shown }) => `| ${[title, shown.documents ?? "", shown.earlier ?? "", shown.ours, shown.why ?? ""].map(escaped).join(" | ")} |`);
    const pictures = results.filter(({ chart }) => chart !== undefined).map(({ cell, chart }) => `![${escaped(chart?.title ?? "")}](${picture(name, cell)})\n`);
    return [
        `# ${text.title}`, "", text.question, "",
        "| | field documents | earlier lab | this lab | why they differ |", "| --- | --- | --- | --- | --- |", ...rows, "",
        ...pictures, measuredWith(results), "",
    ].join("\n");
}

function measuredWith(results: readonly Result[]): string {
    const dates = results.map(({ date }) => date).sort(), versions = new Map(results.flatMap((result) => Object.entries(result.versions)));
    const span = dates[0] === dates.at(-1) ? dates[0] ?? "" : `${dates[0] ?? ""} to ${dates.at(-1) ?? ""}`;
    return `Measured ${span} with ${[...versions].map(([tool, version]) => `${tool} ${version}`).join(", ")}.`;
}

function picture(scenario: string, cell: string): string {
    return `${scenario}-${cell}.svg`;
}

function escaped(text: string): string {
    return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
