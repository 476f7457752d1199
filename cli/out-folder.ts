// Writes the files of an environment as a whole: the former folder stays as it is until the new one is complete.
import { accessSync, constants, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { usageError } from "./failure";
import { shownPath } from "./paths";

/** The file that every folder of this command has; a folder without it is somebody else's. */
const MARK = "plan.json";

/** Refuses a folder that this command has not written, before any work is done. */
export function checkFolder(folder: string): void {
    const parent = existingParent(folder);
    if (!statSync(parent).isDirectory()) throw usageError(`${shownPath(parent)} is a file, so that ${shownPath(folder)} cannot be written below it: name another folder with --out.`);
    try {
        accessSync(parent, constants.W_OK);
    } catch {
        throw usageError(`${shownPath(parent)} cannot be written: name another folder with --out, or change its permissions.`);
    }
    const link = lstatSync(folder, { throwIfNoEntry: false });
    if (link === undefined) return;
    if (!existsSync(folder)) throw usageError(`${shownPath(folder)} is a link that leads nowhere: remove it, or make the folder that it means.`);
    if (!statSync(folder).isDirectory()) throw usageError(`${shownPath(folder)} is a file: remove it, or name another folder with --out.`);
    const names = readdirSync(folder);
    if (names.length > 0 && !names.includes(MARK)) {
        throw usageError(`${shownPath(folder)} holds files, but no ${MARK}: it was not written by this command, which would replace it. Name another folder with --out, or empty this one.`);
    }
}

/** Replaces the folder by one that holds exactly these files. */
export function writeFolder(target: string, files: ReadonlyMap<string, string>): void {
    // Behind a link it is the folder that the link means that is replaced, and the link stays.
    const folder = existsSync(target) ? realpathSync(target) : target;
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

/** The nearest folder above that exists already. */
function existingParent(folder: string): string {
    for (let current = dirname(folder); ; current = dirname(current)) if (existsSync(current) || dirname(current) === current) return current;
}
