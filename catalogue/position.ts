// Where something is written: file, line and column, from offsets into a text.
import { isAbsolute, relative, sep } from "node:path";
import { LineCounter } from "yaml";

export interface Position {
    /** As it is shown: relative to the working directory when it lies below it. */
    readonly file: string;
    /** From 1. */
    readonly line: number;
    /** From 1, in UTF-16 units, as editors count. */
    readonly column: number;
}

/** `stacks/catalogue/dev.yaml:12:7`, which terminals and editors make a link of. */
export function formatPosition({ file, line, column }: Position): string {
    return `${file}:${line}:${column}`;
}

/** Orders positions by file, line and column. */
export function comparePositions(a: Position, b: Position): number {
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
}

/** Gives the position of an offset; one outside the text counts as its nearest end, so that every position lies inside. */
export function positionsOf(file: string, text: string): (offset: number) => Position {
    const lines = new LineCounter();
    lines.addNewLine(0);
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
    return (offset) => {
        const { line, col } = lines.linePos(Math.min(Math.max(offset, 0), text.length));
        return { file, line, column: col };
    };
}

/** An absolute path as users read it: relative to `cwd` when it lies below it. */
export function displayPath(absolute: string, cwd: string): string {
    const below = relative(cwd, absolute);
    if (below === "" || below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return absolute;
    return below.split(sep).join("/");
}
