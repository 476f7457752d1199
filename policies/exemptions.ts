// Exemptions: annotations by which an object is let off one rule, with a reason and a last day.
import { EXEMPTION_PREFIX } from "../model/annotations";
import type { MeshObject } from "./objects";
import { UNKNOWN } from "./plain";

/** How an exemption is written, for messages. */
export const EXEMPTION_FORM = "until YYYY-MM-DD: reason";

export type Exemption =
    | { readonly state: "valid"; readonly until: string; readonly reason: string }
    | { readonly state: "expired"; readonly until: string }
    /** Without an end, a day of the calendar or a reason: it exempts from nothing. */
    | { readonly state: "unreadable" };

/** Reads an exemption; the day that it names is the last on which it counts (UTC). */
export function readExemption(text: string, now: Date): Exemption {
    const [, until, reason] = /^\s*until\s+(\d{4}-\d{2}-\d{2})\s*:\s*(\S[^]*?)\s*$/.exec(text) ?? [];
    if (until === undefined || reason === undefined || !isDay(until)) return { state: "unreadable" };
    return until < dayOf(now) ? { state: "expired", until } : { state: "valid", until, reason };
}

/** The exemption of an object from a rule; undefined where it has none, or where that is not known. */
export function exemptionOf(object: MeshObject, code: string, now: Date): Exemption | undefined {
    const text = object.annotation(EXEMPTION_PREFIX + code);
    return text === undefined || text === UNKNOWN ? undefined : readExemption(text, now);
}

/** The codes that an object's annotations exempt it from, or try to. */
export function exemptedCodes(object: MeshObject): readonly string[] {
    return object.keys(["metadata", "annotations"]).filter((key) => key.startsWith(EXEMPTION_PREFIX)).map((key) => key.slice(EXEMPTION_PREFIX.length));
}

/** `2027-01-31`, in UTC. */
export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** Whether a text is a day of the calendar, written YYYY-MM-DD. */
export function isDay(text: string): boolean {
    const date = new Date(`${text}T00:00:00Z`);
    return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime()) && dayOf(date) === text;
}

/** The rule about exemptions themselves, from which nothing exempts. */
export const EXEMPTION_RULE = "E506";
