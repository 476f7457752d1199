// What an audit says: plain data, from which every format is made.
import type { Path } from "../../model/problem";
import type { Region } from "./locate";
import type { AuditProblem } from "./problem";

export const Level = { Mandatory: "mandatory", Advisory: "advisory" } as const;
export type Level = (typeof Level)[keyof typeof Level];

/** Which findings make the command fail. */
export const FailOn = { Mandatory: "mandatory", Advisory: "advisory", Never: "never" } as const;
export type FailOn = (typeof FailOn)[keyof typeof FailOn];

/** Where something is written: a file with line and column, or a cluster. */
export interface Location {
    /** As it is shown. */
    readonly file: string;
    /** Absent in a live cluster. */
    readonly region?: Region;
    /** The template of a chart that Helm rendered it from. */
    readonly template?: string;
}

export interface AuditedObject {
    readonly kind: string;
    readonly namespace?: string;
    readonly name?: string;
    /** `ServiceEntry egress/partner-api`. */
    readonly label: string;
    readonly location: Location;
}

export interface AuditNote {
    readonly code: string;
    readonly name: string;
    readonly object: AuditedObject;
    readonly path: Path;
    /** `spec.servers[0].hosts`. */
    readonly field: string;
    /** It reads on from the field. */
    readonly text: string;
    /** The whole message, the same as in a preview. */
    readonly message: string;
    readonly location: Location;
}

export interface AuditFinding extends AuditNote {
    readonly level: Level;
    readonly severity: string;
    /** In the baseline: it is shown, and does not make the command fail. */
    readonly known: boolean;
}

export interface ExemptedFinding extends AuditFinding {
    readonly reason: string;
    /** The last day of the exemption. */
    readonly until: string;
}

export interface AuditedRule {
    readonly code: string;
    readonly name: string;
    readonly level: Level;
    readonly severity: string;
    readonly description: string;
    readonly remediation: string;
}

export interface AuditReport {
    /** By place. */
    readonly findings: readonly AuditFinding[];
    readonly exempted: readonly ExemptedFinding[];
    /** What rules could not know. */
    readonly unjudged: readonly AuditNote[];
    /** What was not audited. */
    readonly problems: readonly AuditProblem[];
    /** What the user should know of the objects as a whole, such as that one is written twice. */
    readonly notices: readonly string[];
    /** Those that were judged. */
    readonly objects: readonly AuditedObject[];
    /** Kubernetes objects of any kind that were read. */
    readonly read: number;
    readonly files: number;
    readonly rules: readonly AuditedRule[];
    readonly failOn: FailOn;
    /** Entries of the baseline that no finding answers to any more. */
    readonly gone: number;
}

/** Whether a finding makes the command fail. */
export function fails({ level, known }: AuditFinding, failOn: FailOn): boolean {
    return !known && (failOn === FailOn.Advisory || (failOn === FailOn.Mandatory && level === Level.Mandatory));
}
