// The pools that a catalogue declares, by host.
import type * as catalogue from "../catalogue";
import { formatDuration } from "../model/duration";
import { declaredWindowMs } from "../model/window";
import type { CatalogueResult } from "./catalogues";

/** As many errors as a message shows; the command and the component tell all of them. */
const SHOWN_ERRORS = 3;

export function readCatalogue(file: string): CatalogueResult {
    // Most runs name no catalogue, and what reads one takes as long to load as the audit of a thousand objects.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it, or make every judgement asynchronous
    const { loadCatalogue } = require("../catalogue") as typeof catalogue;
    const result = loadCatalogue(file);
    if (!result.ok) {
        const shown = result.errors.slice(0, SHOWN_ERRORS).map(({ text }) => text);
        const more = result.errors.length - shown.length;
        const list = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
        return { ok: false, problem: `The catalogue ${file} of the policy pack's configuration has errors; until they are corrected the pools of its hosts are unknown:\n${list}` };
    }
    return {
        ok: true,
        pools: result.catalogue.entries.map(({ declaration }) => {
            const { host, pool: { membership, addressesPerAnswer } } = declaration, window = declaredWindowMs(declaration);
            return { host, membership, addressesPerAnswer, ...(window === undefined ? {} : { lossWindow: formatDuration(window) }) };
        }),
    };
}
