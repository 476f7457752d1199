// The errors of a catalogue: collected all at once, in the order of the files, one line each.
import { type Path, formatPath } from "../model/problem";
import { type Position, comparePositions, formatPosition } from "./position";

export interface CatalogueError extends Position {
    /** What is wrong, why, and the way out: `hosts.partner-api.route is missing: …`. */
    readonly message: string;
    /** The whole line: `stacks/catalogue/dev.yaml:12:7: hosts.partner-api.route is missing: …`. */
    readonly text: string;
}

/** All errors, one per line. */
export function formatErrors(errors: readonly CatalogueError[]): string {
    return errors.map(({ text }) => text).join("\n");
}

/** Thrown where a catalogue must be good, by components for one; its message is all errors, one per line. */
export class CatalogueFailure extends Error {
    readonly errors: readonly CatalogueError[];

    constructor(errors: readonly CatalogueError[]) {
        super(formatErrors(errors));
        this.name = "CatalogueFailure";
        this.errors = errors;
    }
}

export interface Finding {
    readonly position: Position;
    /** The property in the catalogue's own words, `["hosts", "partner-api", "route"]`; empty for the file as a whole. */
    readonly path: Path;
    readonly text: string;
    /** The declaration that came upon it, where the place is one that several share. */
    readonly host?: string;
    /**
     * The verdict rests on something that is not written (a missing property, an unknown name), which a file that could
     * not be read, or the part behind a syntax error, might hold.
     */
    readonly restsOnAbsence?: boolean;
}

/** How many hosts a message about a shared place lists. */
const LISTED_HOSTS = 3;

/** Collects findings; after an unreadable file or a syntax error it keeps only those that are certain all the same. */
export class Findings {
    readonly #list: Finding[] = [];
    readonly #firstSyntaxError = new Map<string, Position>();
    readonly #syntaxErrors: Finding[] = [];
    #unread = false;

    add(finding: Finding): void {
        this.#list.push(finding);
    }

    /** What the parser says; nothing behind it in the same file is trusted. */
    addSyntaxError(position: Position, text: string): void {
        this.#syntaxErrors.push({ position, path: [], text });
        const first = this.#firstSyntaxError.get(position.file);
        if (first === undefined || comparePositions(position, first) < 0) this.#firstSyntaxError.set(position.file, position);
    }

    /** A file without usable content: `text` says why, and what other files lack may stand in it. */
    addUnreadable(position: Position, path: Path, text: string): void {
        this.#unread = true;
        this.add({ position, path, text });
    }

    /** Whether everything that the files hold has been read. */
    get complete(): boolean {
        return !this.#unread && this.#firstSyntaxError.size === 0;
    }

    /** The errors in the order of the files, each once. */
    errors(): readonly CatalogueError[] {
        const certain = this.#list.filter((finding) => {
            const syntaxError = this.#firstSyntaxError.get(finding.position.file);
            if (finding.restsOnAbsence === true && !this.complete) return false;
            return syntaxError === undefined || comparePositions(finding.position, syntaxError) < 0;
        });
        const hostsOf = new Map<string, { finding: Finding; hosts: Set<string> }>();
        for (const finding of [...certain, ...this.#syntaxErrors]) {
            const key = `${formatPosition(finding.position)} ${messageOf(finding)}`;
            const group = hostsOf.get(key) ?? { finding, hosts: new Set<string>() };
            if (finding.host !== undefined) group.hosts.add(finding.host);
            hostsOf.set(key, group);
        }
        return [...hostsOf.values()]
            .map(({ finding, hosts }) => toError(finding.position, `${messageOf(finding)}${listHosts([...hosts])}`))
            .sort((a, b) => comparePositions(a, b) || (a.message < b.message ? -1 : 1));
    }
}

function toError({ file, line, column }: Position, message: string): CatalogueError {
    return { file, line, column, message, text: `${formatPosition({ file, line, column })}: ${message}` };
}

function messageOf({ path, text }: Finding): string {
    return path.length === 0 ? text : `${formatPath(path)} ${text}`;
}

function listHosts(names: readonly string[]): string {
    if (names.length === 0) return "";
    const more = names.length > LISTED_HOSTS ? ` and ${names.length - LISTED_HOSTS} more` : "";
    return ` (${names.length === 1 ? "host" : "hosts"} ${names.slice(0, LISTED_HOSTS).join(", ")}${more})`;
}
