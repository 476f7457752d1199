// What DNS answers against what a pool declares: which addresses, and how many in one answer.
import { type Declaration, Membership, isWildcard, standbyAddresses } from "../../model";
import type { Answer } from "./ask";

export const PoolStatus = { Ok: "ok", Drift: "drift", Unknown: "unknown", Skipped: "skipped" } as const;
export type PoolStatus = (typeof PoolStatus)[keyof typeof PoolStatus];

export interface PoolVerdict {
    readonly name: string;
    readonly host: string;
    readonly status: PoolStatus;
    /** Each address that was answered, and in how many answers. */
    readonly seen: Readonly<Record<string, number>>;
    readonly answers: number;
    /** What contradicts the declaration; each a sentence. */
    readonly drift: readonly string[];
    /** What could not be asked; each a sentence. */
    readonly unknown: readonly string[];
    /** What contradicts nothing; each a sentence. */
    readonly information: readonly string[];
}

/** Why there is nothing to ask. */
export function whySkipped({ pool, host }: Declaration): string | undefined {
    if (isWildcard(host)) return "a wildcard has no answer of its own.";
    if (pool.membership === Membership.Rotating) return "the pool is rotating: each answer is a sample, and nothing is declared of it.";
    return undefined;
}

export function judgePool(name: string, declaration: Declaration, answers: readonly Answer[]): PoolVerdict {
    const { host, pool } = declaration, skipped = whySkipped(declaration), base = { name, host, answers: answers.length };
    if (skipped !== undefined) return { ...base, status: PoolStatus.Skipped, seen: {}, drift: [], unknown: [], information: [skipped] };
    const lists = answers.flatMap((answer) => (answer.kind === "addresses" ? [answer.addresses.map(normal)] : [])), seen: Record<string, number> = {};
    for (const address of lists.flatMap((list) => [...new Set(list)])) seen[address] = (seen[address] ?? 0) + 1;
    const standby = standbyAddresses(declaration)?.map(normal), isJudged = judgedBy(standby), causes = answers.flatMap((answer) => (answer.kind === "failed" ? [answer.cause] : []));
    const drift = [...outside(Object.keys(seen).filter(isJudged), standby), ...sizes(lists, isJudged, standby, pool.addressesPerAnswer)];
    const unknown = [...new Set(causes)].map((cause) => `${host} ${cause} (${times(causes.filter((one) => one === cause).length, answers.length)}).`);
    return {
        ...base, seen, drift, unknown, information: information(seen, standby, isJudged),
        status: unknown.length > 0 ? PoolStatus.Unknown : drift.length > 0 ? PoolStatus.Drift : PoolStatus.Ok,
    };
}

const isV6 = (address: string): boolean => address.includes(":");

/** IPv6 has many spellings of one address. */
const normal = (address: string): string => (isV6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address);

/** The families that the proxies use: those of the list, where there is one. */
const judgedBy = (standby: readonly string[] | undefined) => (address: string): boolean => standby === undefined || standby.some((known) => isV6(known) === isV6(address));

function outside(seen: readonly string[], standby: readonly string[] | undefined): readonly string[] {
    if (standby === undefined) return [];
    const strangers = seen.filter((address) => !standby.includes(address));
    if (strangers.length === 0) return [];
    return [`${strangers.join(", ")} ${strangers.length === 1 ? "is" : "are"} answered and not among pool.standbyAddresses (${standby.join(", ")}): the list is not all of the pool; ask the GSLB's team, and add what serves.`];
}

function sizes(lists: readonly (readonly string[])[], isJudged: (address: string) => boolean, standby: readonly string[] | undefined, declared: number | undefined): readonly string[] {
    if (declared === undefined) return [];
    // Without a list the families that the proxies use are not known: IPv4 alone, or both.
    const sizeOf = (list: readonly string[]): readonly number[] => (standby === undefined ? [list.filter((address) => !isV6(address)).length, list.length] : [list.filter(isJudged).length]);
    const wrong = [...new Set(lists.filter((list) => !sizeOf(list).includes(declared)).map((list) => sizeOf(list)[0] === 0 ? list.length : sizeOf(list)[0] ?? 0))].sort((a, b) => a - b);
    if (wrong.length === 0) return [];
    return [`an answer holds ${wrong.join(" or ")} ${wrong.length === 1 && wrong[0] === 1 ? "address" : "addresses"}, and pool.addressesPerAnswer says ${String(declared)}: how many addresses can be ejected follows from it; a failover that is under way answers fewer too.`];
}

function information(seen: Readonly<Record<string, number>>, standby: readonly string[] | undefined, isJudged: (address: string) => boolean): readonly string[] {
    const others = Object.keys(seen).filter((address) => !isJudged(address)), unseen = standby?.filter((address) => !(address in seen)) ?? [];
    return [
        ...(unseen.length === 0 ? [] : [`${unseen.join(", ")} ${unseen.length === 1 ? "is listed and was not answered: it" : "are listed and were not answered: they"} may stand by all the same.`]),
        ...(others.length === 0 ? [] : [`${others.join(", ")} ${others.length === 1 ? "is" : "are"} of another family than the list, and of no use to proxies that are not dual stack.`]),
    ];
}

const times = (some: number, all: number): string => `${String(some)} of ${String(all)} ${all === 1 ? "question" : "questions"}`;
