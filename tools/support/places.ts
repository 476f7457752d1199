// Where things are: the repository, the per-user cache of tools, and what lies on PATH.
import { accessSync, constants, realpathSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** The repository's root folder. */
export const repository = path.resolve(__dirname, "../..");

/** `$ISTIO_EGRESS_CACHE`, else `istio-egress` in the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
    const own = nonEmpty(env["ISTIO_EGRESS_CACHE"]);
    return path.resolve(own ?? path.join(nonEmpty(env["XDG_CACHE_HOME"]) ?? path.join(os.homedir(), ".cache"), "istio-egress"));
}

/** The file that a command name means on PATH, links resolved; undefined when there is none. */
export function onPath(command: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
    return (env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "")
        .map((folder) => path.join(folder, command)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
    try {
        accessSync(file, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}

/** The file beside an executable, wherever links to that executable lie. */
export function beside(executable: string, name: string): string | undefined {
    const file = path.join(path.dirname(realpathSync(executable)), name);
    return isExecutable(file) ? file : undefined;
}

function nonEmpty(value: string | undefined): string | undefined {
    return value === "" ? undefined : value;
}
