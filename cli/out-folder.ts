// Writes the files of an environment as a whole: the former folder stays as it is until the new one is complete.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { usageError } from "./failure";
import { shownPath } from "./paths";

/** The file that every folder of this command has; a folder without it is somebody else's. */
const MARK = "plan.json";

/** Refuses a folder that this command has not written, before any work is done. */
export function checkFolder(folder: string): void {
    if (!existsSync(folder)) return;
    const names = readdirSync(folder);
    if (names.length > 0 && !names.includes(MARK)) {
        throw usageError(`${shownPath(folder)} holds files, but no ${MARK}: it was not written by this command, which would replace it. Name another folder with --out, or empty this one.`);
    }
}

/** Replaces the folder by one that holds exactly these files. */
export function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
    const parent = dirname(folder);
    mkdirSync(parent, { recursive: true });
    const work = mkdtempSync(join(parent, `.${basename(folder)}-`));
    try {
        const fresh = join(work, "new");
        for (const [path, content] of files) {
            const file = join(fresh, path);
            mkdirSync(dirname(file), { recursive: true });
            writeFileSync(file, content);
        }
        const former = join(work, "former");
        if (existsSync(folder)) renameSync(folder, former);
        try {
            renameSync(fresh, folder);
        } catch (error) {
            if (existsSync(former)) renameSync(former, folder);
            throw error;
        }
    } finally {
        rmSync(work, { recursive: true, force: true });
    }
}
