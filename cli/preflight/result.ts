// What a preflight says: one result per thing that an environment needs of its cluster.
import type { Unseen } from "./snapshot";

export const Status = {
    /** It is there, as the catalogue needs it. */
    Ok: "ok",
    /** `up` goes through; something will not be as it was meant. */
    Warning: "warning",
    /** The hosts will not work, or `up` will fail, until something is done. */
    Missing: "missing",
    /** It could not be looked at. */
    Unknown: "unknown",
} as const;
export type Status = (typeof Status)[keyof typeof Status];

/** The parts of the report, in its order. */
export const Group = {
    Server: "API server",
    Istio: "Istio",
    Gateways: "Gateways",
    Namespaces: "Namespaces",
    Permissions: "Permissions",
    InTheWay: "Objects in the way",
    Mesh: "Mesh configuration",
} as const;
export type Group = (typeof Group)[keyof typeof Group];

export interface Result {
    /** What was checked, the same in every version: `gateway-port`. */
    readonly id: string;
    readonly group: Group;
    readonly status: Status;
    /** What it was checked on: `Service istio-egress/istio-egressgateway`. */
    readonly object: string;
    /** What was found; it reads on from the object: `has no port 8443, …`. */
    readonly text: string;
    /** What to do; absent where nothing is to be done. */
    readonly fix?: string;
    /** A fact that people want to read although nothing is wrong with it. */
    readonly report?: true;
}

/** The results of one check, written short: every one has its id and group. */
export class Results {
    readonly list: Result[] = [];

    constructor(private readonly id: string, private readonly group: Group) {}

    ok(object: string, text: string): void {
        this.add(Status.Ok, object, text);
    }

    /** Nothing is wrong, and people should know. */
    report(object: string, text: string): void {
        this.list.push({ id: this.id, group: this.group, status: Status.Ok, object, text, report: true });
    }

    warning(object: string, text: string, fix?: string): void {
        this.add(Status.Warning, object, text, fix);
    }

    missing(object: string, text: string, fix: string): void {
        this.add(Status.Missing, object, text, fix);
    }

    unknown(object: string, text: string, fix?: string): void {
        this.add(Status.Unknown, object, text, fix);
    }

    /** What could not be looked at: which permission is lacking, or what went wrong. */
    unseen(object: string, unseen: Unseen, what = "is not known"): void {
        if (unseen.kind === "forbidden") this.unknown(object, `${what}: this account may not ${unseen.action}.`, `Allow it to ${unseen.action}, or have it looked at by somebody who may.`);
        else this.unknown(object, `${what}: to ${unseen.action} failed, ${unseen.text}.`, "Run the preflight again.");
    }

    private add(status: Status, object: string, text: string, fix?: string): void {
        this.list.push({ id: this.id, group: this.group, status, object, text, ...(fix === undefined ? {} : { fix }) });
    }
}

/** `a`, `a and b`, `a, b and c`; long lists end in `and 7 more`. */
export function enumerate(words: readonly string[], most = 5): string {
    const shown = words.length > most ? [...words.slice(0, most - 1), `${words.length - most + 1} more`] : words;
    return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** `1 pod`, `2 pods`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
    return `${number} ${number === 1 ? noun : plural}`;
}
