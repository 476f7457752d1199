// What the GSLB's team could change, and what each change is worth: the same model on a changed declaration.
import { checkDeclaration } from "../check";
import type { Declaration, DeclarationInput } from "../declaration";
import { formatDuration, milliseconds } from "../duration";
import { Membership } from "../resolution";
import { type Figures, type TimelineOptions, failureFigures } from "./failover";
import { Fault } from "./simulate";

/** The worse of both faults. */
export interface Worth {
    readonly failed: number;
    /** The longest that a connection waited before it was made. */
    readonly slowestMs: number;
    readonly sent: number;
}

export interface Advice {
    readonly change: "addresses" | "ttl" | "detection" | "standby";
    /** What to do, for people. */
    readonly text: string;
    readonly before: Worth;
    readonly after: Worth;
}

/** What is short enough that shortening it further is worth little: a GSLB's probes and resolvers' rounding. */
const SHORT_MS = 5000;
/** Documentation addresses (RFC 5737) in place of the partner's. */
const EXAMPLE_ADDRESS = (index: number): string => `203.0.113.${String(index + 1)}`;

interface Candidate {
    readonly change: Advice["change"];
    readonly text: string;
    readonly input: Partial<DeclarationInput>;
}

function candidates({ pool, failover }: Declaration): readonly Candidate[] {
    const count = pool.addressesPerAnswer ?? 1, isFixed = pool.membership === Membership.Fixed;
    const shorter = (name: "dnsTtl" | "detectionTime", text: string): readonly Candidate[] => {
        if (failover === undefined || milliseconds(failover[name]) <= SHORT_MS) return [];
        return [{ change: name === "dnsTtl" ? "ttl" : "detection", text: `${text} ${formatDuration(SHORT_MS)} instead of ${failover[name]} (${name})`, input: { failover: { ...failover, [name]: formatDuration(SHORT_MS) } } }];
    };
    return [
        ...(isFixed && count === 1 ? [{ change: "addresses" as const, text: "answer with two addresses instead of one (addressesPerAnswer)", input: { pool: { ...pool, addressesPerAnswer: 2 } } }] : []),
        ...shorter("dnsTtl", "a TTL of"),
        ...shorter("detectionTime", "detect a dead address within"),
        ...(isFixed && pool.standbyAddresses === undefined ? [{
            change: "standby" as const, text: `publish the pool's ${String(count + 1)} or more addresses, to be declared as standby (standbyAddresses)`,
            input: { pool: { ...pool, standbyAddresses: Array.from({ length: count + 1 }, (_, index) => EXAMPLE_ADDRESS(index)) } },
        }] : []),
    ];
}

/** Each change by itself; those that the declaration cannot take, or that change nothing, are left out. */
export function gslbAdvice(declaration: Declaration, options: TimelineOptions = {}): readonly Advice[] {
    const before = worthOf(declaration, options);
    if (before === undefined) return [];
    return candidates(declaration).flatMap(({ change, text, input }) => {
        const checked = checkDeclaration({ ...declaration, ...input });
        const after = checked.ok ? worthOf(checked.declaration, options) : undefined;
        if (after === undefined || !isBetter(after, before)) return [];
        return [{ change, text, before, after }];
    });
}

function worthOf(declaration: Declaration, options: TimelineOptions): Worth | undefined {
    const figures = [Fault.Drop, Fault.Refuse].flatMap((fault) => failureFigures(declaration, fault, options) ?? []);
    if (figures.length === 0) return undefined;
    const most = (of: (one: Figures) => number): number => Math.max(...figures.map(of));
    return { failed: most(({ failed }) => failed), slowestMs: most(({ waitMs }) => waitMs.slowest), sent: most(({ sent }) => sent) };
}

/** Less than a tenth of failures, or of a wait and half a second, is within what two runs differ by. */
function isBetter(after: Worth, before: Worth): boolean {
    if (after.failed < 0.9 * before.failed) return true;
    return after.failed <= before.failed && after.slowestMs < Math.min(0.9 * before.slowestMs, before.slowestMs - 500);
}
