// How paths are shown to people.
import { isAbsolute, relative } from "node:path";

/** A path below the folder `from` relative to it, any other path in full. */
export function shownPath(path: string, from = process.cwd()): string {
    const short = relative(from, path);
    if (short === "") return ".";
    return short.startsWith("..") || isAbsolute(short) ? path : short;
}
