// Finds and reads the catalogue that a policy's configuration names, once per file.
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { HostPool } from "./pools";

export type CatalogueResult =
    | { readonly ok: true; readonly pools: readonly HostPool[] }
    | { readonly ok: false; readonly problem: string };

/** Reads one catalogue by its absolute path. */
export type ReadCatalogue = (file: string) => CatalogueResult;

export class Catalogues {
    private readonly read = new Map<string, CatalogueResult>();

    /** @param folders where a relative path is looked up; the parents of each are tried as well */
    constructor(private readonly readCatalogue: ReadCatalogue, private readonly folders: readonly string[]) {}

    /** @param stack the name that stands for `{stack}` */
    of(template: string, stack: string): CatalogueResult {
        const path = template.replaceAll("{stack}", stack);
        const known = this.read.get(path);
        if (known !== undefined) return known;
        const result = this.load(path);
        this.read.set(path, result);
        return result;
    }

    private load(path: string): CatalogueResult {
        const candidates = isAbsolute(path) ? [path] : [...new Set(this.folders.flatMap((folder) => ancestors(folder).map((parent) => join(parent, path))))];
        const file = candidates.find((candidate) => existsSync(candidate));
        if (file === undefined) {
            const places = isAbsolute(path) ? "" : `: a relative path is looked up in ${this.folders.join(" and ")} and in their parent folders`;
            return { ok: false, problem: `The catalogue ${path} of the policy pack's configuration does not exist${places}. Correct the path, or give an absolute one; until then the pools of its hosts are unknown.` };
        }
        try {
            return this.readCatalogue(file);
        } catch (error) {
            return { ok: false, problem: `The catalogue ${file} of the policy pack's configuration cannot be read: ${error instanceof Error ? error.message : String(error)}` };
        }
    }
}

/** `urn:pulumi:<stack>::<project>::…` → the stack's name; empty for anything else. */
export function stackOf(urn: string): string {
    return /^urn:pulumi:([^:]+)::/.exec(urn)?.[1] ?? "";
}

/** A folder and its parents, nearest first. */
function ancestors(folder: string): readonly string[] {
    const found = [resolve(folder)];
    for (let current = found[0] ?? folder; dirname(current) !== current; current = dirname(current)) found.push(dirname(current));
    return found;
}
