// A problem is what every check of this project returns: where, what, why and the way out, as one sentence.

/** A path into a declaration, as keys and list indexes: `["ports", 0, "number"]`. */
export type Path = readonly (string | number)[];

export interface Problem {
    /** The property at fault. */
    readonly path: Path;
    /**
     * Every property that the verdict depends on; a check of a declaration with unknown values is left out when one
     * of these is unknown. `path` always counts.
     */
    readonly reads: readonly Path[];
    /** What is wrong, why, and the way out; it reads on from the path: `is 30, but …: leave it unset.` */
    readonly text: string;
}

/** `ports[0].number`, as users write it. */
export function formatPath(path: Path): string {
    return path.reduce<string>((text, key) => {
        if (typeof key === "number") return `${text}[${key}]`;
        if (!/^[A-Za-z_][\w-]*$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
        return text === "" ? key : `${text}.${key}`;
    }, "");
}

/** The one sentence that a user reads, without the subject: `pool.membership is missing: …`. */
export function formatProblem(problem: Problem): string {
    return problem.path.length === 0 ? problem.text : `${formatPath(problem.path)} ${problem.text}`;
}

/** Whether `path` is `prefix` or lies below it. */
export function isWithin(path: Path, prefix: Path): boolean {
    return prefix.length <= path.length && prefix.every((key, index) => key === path[index]);
}

/** A value as it stands in a message: strings quoted, long values cut. */
export function show(value: unknown): string {
    const text = typeof value === "string" || (typeof value === "object" && value !== null) ? JSON.stringify(value) : String(value);
    return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Collects problems; `reads` names further properties that the verdict depends on. */
export class Problems {
    readonly list: Problem[] = [];

    add(path: Path, text: string, reads: readonly Path[] = []): void {
        this.list.push({ path, reads: [path, ...reads], text });
    }
}
