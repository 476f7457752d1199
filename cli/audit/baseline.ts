// The baseline: findings that were there before, which do not make the command fail. Lines may move; an object, its field and the rule stay.
import { readFileSync, writeFileSync } from "node:fs";
import { ExitCode, Failure, messageOf, usageError } from "../failure";
import { isMap } from "../plain";
import { shownPath } from "../paths";
import type { AuditNote } from "./report";

/** Goes up when old files cannot be read any more. */
const VERSION = 1;

interface Entry {
    readonly code: string;
    readonly object: string;
    readonly field: string;
    /** How many findings: an object may be written in several files. */
    readonly count: number;
}

export class Baseline {
    /** How many of each may still be matched. */
    readonly #left: Map<string, number>;

    private constructor(entries: readonly Entry[]) {
        this.#left = new Map(entries.map((entry) => [keyOf(entry.code, entry.object, entry.field), entry.count]));
    }

    static read(file: string): Baseline {
        let content: unknown;
        try {
            content = JSON.parse(readFileSync(file, "utf8"));
        } catch (error) {
            const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
            throw usageError(isMissing ? `The baseline ${shownPath(file)} does not exist: correct --baseline, or make it with --write-baseline.` : `The baseline ${shownPath(file)} cannot be read: ${messageOf(error)}. Make it anew with --write-baseline.`);
        }
        const entries = isMap(content) && content["version"] === VERSION && Array.isArray(content["findings"]) ? content["findings"] as readonly unknown[] : undefined;
        if (entries === undefined || !entries.every(isEntry)) throw usageError(`The baseline ${shownPath(file)} is none of this version of istio-egress: make it anew with --write-baseline.`);
        return new Baseline(entries);
    }

    /** Whether this finding was there before; each entry counts as often as it was. */
    takes({ code, object, field }: AuditNote): boolean {
        const key = keyOf(code, object.label, field), left = this.#left.get(key) ?? 0;
        if (left > 0) this.#left.set(key, left - 1);
        return left > 0;
    }

    /** Entries that no finding has answered to. */
    get gone(): number {
        return [...this.#left.values()].filter((left) => left > 0).length;
    }
}

/** The same findings give the same file, so that a diff shows what has changed. */
export function writeBaseline(file: string, findings: readonly AuditNote[]): void {
    const entries = new Map<string, Entry>();
    for (const { code, object, field } of findings) {
        const key = keyOf(code, object.label, field);
        entries.set(key, { code, object: object.label, field, count: (entries.get(key)?.count ?? 0) + 1 });
    }
    const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);
    try {
        writeFileSync(file, `${JSON.stringify({ version: VERSION, findings: sorted }, undefined, 2)}\n`);
    } catch (error) {
        throw new Failure(`The baseline ${shownPath(file)} cannot be written: ${messageOf(error)}.`, ExitCode.Usage);
    }
}

function isEntry(value: unknown): value is Entry {
    return isMap(value) && typeof value["code"] === "string" && typeof value["object"] === "string" && typeof value["field"] === "string" && Number.isInteger(value["count"]);
}

function keyOf(code: string, object: string, field: string): string {
    return JSON.stringify([code, object, field]);
}
