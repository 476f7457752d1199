// How a scenario is written: a question, and cells that each measure one thing on the shared lab and say what must be true of it.
import type { Lab } from "./lab";
import { openLab, removeLab, startLab } from "./lab";
import { readResult, versions, writeResult } from "./results";
import type { Chart, Result, ScenarioText } from "./results";

/** One measurement, its claim, and its row in the table. */
export interface Cell<Inputs, Figures> {
    /** Names the result's file; lower-case letters, digits and hyphens. It never changes meaning. */
    readonly id: string;
    /** The row in the table, and the test's name. */
    readonly title: string;
    /** What goes in, in the full set; kept with the result. */
    readonly full: Inputs;
    /** The same for the quick set, small enough for seconds; without it the cell belongs to the full set only. */
    readonly quick?: Inputs;
    readonly measure: (lab: Lab, inputs: Inputs) => Promise<Figures>;
    /** The claim; throws when the figures do not show it. It holds for both sets. */
    readonly expect: (figures: Figures) => void;
    /** Our figure, as the table shows it. */
    readonly shown: (figures: Figures) => string;
    /** The field documents' figure. */
    readonly documents?: string;
    /** The figure of the shell lab that came before. */
    readonly earlier?: string;
    /** Why the figures differ. */
    readonly why?: string;
    readonly chart?: (figures: Figures) => Chart;
    /** Default 120,000. */
    readonly timeoutMs?: number;
    /** In the quick set it runs beside the scenario's other such cells; each has hosts and addresses of its own. */
    readonly isSideBySide?: boolean;
}

export interface Scenario {
    /** The shared lab; only inside hooks and tests. */
    readonly lab: () => Lab;
    readonly cell: <Inputs, Figures>(cell: Cell<Inputs, Figures>) => void;
}

/** `npm run test:mesh -- --full`: every cell, in its full size; one that has a result is not run again, unless `--again`. */
export const isFull = process.env["FULL"] === "1";
const isAgain = process.env["AGAIN"] === "1";
const START_MS = 180_000;
const CELL_MS = 120_000;

/** Whether the full set measures a cell in this run: for scenarios that bring up a host per cell. */
export function isDue(scenarioId: string, cellId: string): boolean {
    return isFull && (isAgain || readResult(scenarioId, cellId) === undefined);
}

/** A Mocha suite on the shared lab, which is as new when the suite begins: no host, no name in DNS, one gateway pod. */
export function scenario(id: string, text: ScenarioText, body: (scenario: Scenario) => void): void {
    describe(text.title, () => {
        let lab: Lab | undefined, order = 0;
        const group = new SideBySide();
        before(async function () {
            this.timeout(START_MS);
            lab = await sharedLab();
            await lab.reset();
        });
        body({
            lab: () => {
                if (lab === undefined) throw new Error("The lab is there only inside hooks and tests.");
                return lab;
            },
            cell: (cell) => {
                order += 1;
                const place = order;
                if (!isFull && cell.quick === undefined) return;
                if (!isFull && cell.isSideBySide === true) group.add(cell);
                it(cell.title, async function () {
                    this.timeout(cell.timeoutMs ?? CELL_MS);
                    if (lab === undefined) throw new Error("The lab did not start.");
                    await (isFull ? inFull(id, text, cell, place, lab) : inQuick(cell, lab, group));
                });
            },
        });
    });
}

async function inQuick<Inputs, Figures>(cell: Cell<Inputs, Figures>, lab: Lab, group: SideBySide): Promise<void> {
    if (cell.quick === undefined) return;
    cell.expect(await (group.has(cell) ? group.figures(cell, lab) : cell.measure(lab, cell.quick)));
}

/** Cells that are measured at once, when the first of them is asked for; nobody has figures before all have ended, so that no hook disturbs one. */
class SideBySide {
    private readonly cells = new Map<unknown, (lab: Lab) => Promise<unknown>>();
    private running: Promise<ReadonlyMap<unknown, PromiseSettledResult<unknown>>> | undefined;

    add<Inputs, Figures>(cell: Cell<Inputs, Figures>): void {
        const { quick } = cell;
        if (quick !== undefined) this.cells.set(cell, (lab) => cell.measure(lab, quick));
    }

    has(cell: unknown): boolean {
        return this.cells.has(cell);
    }

    async figures<Inputs, Figures>(cell: Cell<Inputs, Figures>, lab: Lab): Promise<Figures> {
        this.running ??= Promise.allSettled([...this.cells.values()].map((measure) => measure(lab))).then((results) => new Map([...this.cells.keys()].map((key, index) => [key, results[index]] as const).filter((entry): entry is [unknown, PromiseSettledResult<unknown>] => entry[1] !== undefined)));
        const result = (await this.running).get(cell);
        if (result?.status !== "fulfilled") throw result?.reason;
        return result.value as Figures;
    }
}

async function inFull<Inputs, Figures>(id: string, text: ScenarioText, cell: Cell<Inputs, Figures>, order: number, lab: Lab): Promise<void> {
    const known = isAgain ? undefined : readResult<Inputs, Figures>(id, cell.id);
    const figures = known === undefined ? await cell.measure(lab, cell.full) : known.figures;
    cell.expect(figures); // Before it is written: what does not show the claim is not done.
    const { title, documents, earlier, why, chart } = cell;
    const result: Result<Inputs, Figures> = {
        scenario: id, cell: cell.id, title, order, inputs: known?.inputs ?? cell.full, figures, shown: { documents, earlier, ours: cell.shown(figures), why },
        ...(chart === undefined ? {} : { chart: chart(figures) }), date: known?.date ?? new Date().toISOString().slice(0, 10), versions: known?.versions ?? versions(),
    };
    writeResult(result, text); // A known one too: its texts may have changed.
}

let shared: Promise<Lab> | undefined;

/** One lab for all scenarios of a run; with LAB=name the one of `npm run lab -- up --name name`, which then stays. */
function sharedLab(): Promise<Lab> {
    const name = process.env["LAB"];
    shared ??= name === undefined ? startLab() : Promise.resolve(openLab(name));
    return shared;
}

after(async function () {
    this.timeout(60_000);
    const lab = await shared?.catch(() => undefined);
    if (lab === undefined) return;
    if (process.env["LAB"] === undefined) removeLab(lab.name);
    lab.disconnect();
});
