// The ejection guard: how many addresses of a pool outlier detection can eject, and what follows for users.

/** Envoy's own max_ejection_percent, in force when Istio sends none: Istio sends the percent only when it is above 0. */
export const ENVOY_DEFAULT_MAX_EJECTION_PERCENT = 10;

/**
 * The default for every pool size. It ejects floor(N/2), and still one address when the GSLB shrinks the answer to two:
 * the exact minimum of a larger pool (34 for N = 3) would be dead exactly then.
 */
export const DEFAULT_MAX_EJECTION_PERCENT = 50;

/**
 * Panic routing only when nothing healthy is left. With the field documents' 0 an ejected address that becomes the only
 * one stays refused although it is alive: 200 of 200 new connections failed, 0 with 1 (lab, istiod 1.31, Envoy 1.39.3).
 */
export const DEFAULT_MIN_HEALTH_PERCENT = 1;

export const GuardVerdict = {
    /** No address of this pool is ever ejected. */
    Inert: "inert",
    /** The first ejection starts panic routing, in which ejected addresses are used again: minHealthPercent is too high. */
    UndoneByPanic: "undone by panic routing",
    /** Ejection works for the whole pool and is dead for some smaller answer that still has an alternative. */
    InertAfterWithdrawal: "inert after a withdrawal",
    /** All addresses can be ejected together, and nothing serves then. */
    CanEmptyThePool: "can empty the pool",
    /** An ejected address that becomes the only one in the answer is refused although it may be alive. */
    CanLeaveEjectedOnly: "can be left with an ejected address only",
    Safe: "safe",
} as const;
export type GuardVerdict = (typeof GuardVerdict)[keyof typeof GuardVerdict];

export interface Guard {
    /** The percent that Envoy works with. */
    readonly effectivePercent: number;
    /** How many of the N addresses can be ejected at once. */
    readonly ejectable: number;
    /** Every verdict that holds, gravest first; `["safe"]` when none does. */
    readonly verdicts: readonly GuardVerdict[];
    /** The answer sizes from 2 to N at which nothing is ejected, or an ejection is undone by panic routing. */
    readonly inertSizes: readonly number[];
}

/** What Envoy works with when Istio's field is unset or 0. */
export function effectivePercent(maxEjectionPercent: number | undefined): number {
    return maxEjectionPercent === undefined || maxEjectionPercent <= 0 ? ENVOY_DEFAULT_MAX_EJECTION_PERCENT : Math.min(maxEjectionPercent, 100);
}

/** Envoy ejects a host only while 100 * (ejected + 1) / hosts <= max_ejection_percent. */
export function ejectable(addresses: number, maxEjectionPercent: number | undefined): number {
    return Math.floor((addresses * effectivePercent(maxEjectionPercent)) / 100);
}

/** The percents that eject at least one of N addresses and never all; undefined for N = 1, which has none. */
export function safeBand(addresses: number): { readonly min: number; readonly max: number } | undefined {
    return addresses < 2 ? undefined : { min: Math.ceil(100 / addresses), max: 99 };
}

/** Envoy's overprovisioning factor, which Istio leaves alone: a pool is fully available while 140 % of its healthy share is 100 or more. */
export const OVERPROVISIONING = 140;

/**
 * Whether a pool of N addresses with some ejected is in panic, where Envoy uses all of them again: its availability is
 * below 100 and its healthy share below the threshold, which Istio sets to minHealthPercent.
 */
export function panics(addresses: number, ejected: number, minHealthPercent: number | undefined): boolean {
    const healthy = addresses - ejected, availability = Math.min(100, Math.floor((OVERPROVISIONING * healthy) / addresses));
    return availability < 100 && (100 * healthy) / addresses < (minHealthPercent ?? 0);
}

/** The smallest percent that still ejects one address at every answer size from 2 to N. */
export const MIN_PERCENT_AT_EVERY_SIZE = 50;

/**
 * Judges outlier detection's guard for a pool of N addresses. `minHealthPercent` is Istio's field: unset and 0 both
 * switch panic routing off.
 */
export function judgeGuard(addresses: number, maxEjectionPercent: number | undefined, minHealthPercent: number | undefined): Guard {
    const percent = effectivePercent(maxEjectionPercent), count = ejectable(addresses, maxEjectionPercent);
    const panicOff = minHealthPercent === undefined || minHealthPercent <= 0;
    // The smallest answers are the ones that a guard fails at: none is inert from 100 / percent on, none panics from 4 on.
    const inertSizes: number[] = [];
    for (let size = 2; size <= Math.min(addresses, Math.max(3, Math.ceil(100 / percent))); size++) {
        if (ejectable(size, maxEjectionPercent) === 0 || panics(size, 1, minHealthPercent)) inertSizes.push(size);
    }
    const verdicts: GuardVerdict[] = [];
    if (count === 0) verdicts.push(GuardVerdict.Inert);
    else if (addresses > 1 && panics(addresses, 1, minHealthPercent)) verdicts.push(GuardVerdict.UndoneByPanic);
    else if (inertSizes.length > 0) verdicts.push(GuardVerdict.InertAfterWithdrawal);
    if (panicOff && percent >= 100) verdicts.push(GuardVerdict.CanEmptyThePool);
    else if (panicOff && addresses >= 2 && count > 0) verdicts.push(GuardVerdict.CanLeaveEjectedOnly);
    return { effectivePercent: percent, ejectable: count, inertSizes, verdicts: verdicts.length === 0 ? [GuardVerdict.Safe] : verdicts };
}
