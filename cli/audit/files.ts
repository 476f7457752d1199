// Paths as users give them → the files to read. Folders are walked; every real folder and file counts once, whatever links lead to it.
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import picomatch from "picomatch";
import { messageOf } from "../failure";
import { shownPath } from "../paths";
import type { AuditProblem } from "./problem";

/** In folders; a file that is named is read whatever its name. */
const EXTENSION = /\.(ya?ml|json)$/i;
/** Hidden folders hold no manifests, and those of packages somebody else's. */
const SKIPPED = /^(\..+|node_modules)$/;
const CHART = "Chart.yaml";

export interface FoundFile {
    readonly path: string;
    /** As it is shown: relative to the working directory when below it. */
    readonly shown: string;
    /** Undefined for pipes and devices, which are read to their end. */
    readonly size?: number;
}

export interface FoundFiles {
    readonly files: readonly FoundFile[];
    readonly problems: readonly AuditProblem[];
}

/** @param excluded glob patterns of paths, as they are shown, that are left out in folders */
export function findFiles(paths: readonly string[], excluded: readonly string[] = []): FoundFiles {
    const walk = new Walk(excluded);
    for (const path of paths) walk.named(path);
    return walk;
}

class Walk implements FoundFiles {
    readonly files: FoundFile[] = [];
    readonly problems: AuditProblem[] = [];
    readonly #seen = new Set<string>();
    readonly #isExcluded: (path: string) => boolean;

    constructor(excluded: readonly string[]) {
        const matches = excluded.length === 0 ? undefined : picomatch([...excluded], { dot: true });
        this.#isExcluded = (path) => matches?.(shownPath(path)) ?? false;
    }

    named(path: string): void {
        this.#guard(path, () => {
            const status = statSync(path);
            if (status.isDirectory()) this.#folder(path);
            else this.#add(path, status.isFile() ? status.size : undefined);
        });
    }

    #folder(folder: string): void {
        const real = realpathSync.native(folder);
        if (!this.#isNew(real)) return;
        const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
        const isChart = entries.some(({ name }) => name === CHART);
        for (const entry of entries) {
            const path = join(folder, entry.name);
            if (!this.#isExcluded(path)) this.#guard(path, () => this.#entry(path, entry, isChart, real));
        }
    }

    #entry(path: string, entry: Dirent, inChart: boolean, realFolder: string): void {
        const isLink = entry.isSymbolicLink(), named = EXTENSION.test(entry.name);
        if (!isLink && !entry.isDirectory() && !named) return;
        // A link to nowhere matters only where it would be read.
        if (isLink && !named && statSync(path, { throwIfNoEntry: false }) === undefined) return;
        const status = statSync(path);
        if (status.isDirectory()) {
            if (SKIPPED.test(entry.name)) return;
            if (inChart && entry.name === "templates") this.#templates(path);
            else this.#folder(path);
        } else if (named && status.isFile()) {
            this.#add(path, status.size, isLink ? undefined : `${realFolder}${realFolder.endsWith(sep) ? "" : sep}${entry.name}`);
        } else if (named) {
            this.problems.push({ file: shownPath(path), text: "is no regular file (a pipe, socket or device), which a folder's walk does not open: name it itself if it is meant." });
        }
    }

    /** A chart's templates are no YAML, or not what a cluster gets. */
    #templates(folder: string): void {
        const chart = shownPath(join(folder, ".."));
        this.problems.push({ file: shownPath(folder), text: `holds the templates of a Helm chart, which say nothing before they are rendered: audit what a cluster gets, helm template ${chart === "." ? "." : chart} | istio-egress audit -, or leave them out with --exclude '${shownPath(folder)}'.` });
    }

    /** @param real without links, where that is known */
    #add(path: string, size: number | undefined, real?: string): void {
        if (size === undefined || this.#isNew(real ?? realpathSync.native(path))) this.files.push({ path, shown: shownPath(path), size });
    }

    #isNew(real: string): boolean {
        if (this.#seen.has(real)) return false;
        this.#seen.add(real);
        return true;
    }

    #guard(path: string, work: () => void): void {
        try {
            work();
        } catch (error) {
            this.problems.push({ file: shownPath(path), text: whyUnreadable(error) });
        }
    }
}

/** Why a file could not be read, to follow its name. */
export function whyUnreadable(error: unknown): string {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return "does not exist: check the path.";
    if (code === "EACCES" || code === "EPERM") return "cannot be read, permission denied: change its mode, or run as a user who may.";
    if (code === "ELOOP") return "is a symbolic link that leads to itself: remove it, or name the file that it should mean.";
    if (code === "ENAMETOOLONG") return "has too long a path: check the path.";
    return `cannot be read: ${messageOf(error)}.`;
}

/** Whether a file's name says that it holds JSON. */
export function isJsonName(path: string): boolean {
    return basename(path).toLowerCase().endsWith(".json");
}
