// What could not be audited: each with its place, the reason and the way out. The rest is audited all the same.

export interface AuditProblem {
    /** As it is shown: a path, `standard input`, `context prod`. */
    readonly file: string;
    /** From 1; absent where the whole file, or the cluster, is meant. */
    readonly line?: number;
    readonly column?: number;
    /** It reads on from the place: `is a binary file, no text: …`. */
    readonly text: string;
}

/** `deploy/hosts.yaml:12:3 is …`. */
export function formatProblem({ file, line, column, text }: AuditProblem): string {
    const at = [file, line, column].filter((part) => part !== undefined).join(":");
    return `${at}: ${text}`;
}
