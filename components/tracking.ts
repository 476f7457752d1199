// Which part of what we build depends on which Output. The builders are pure functions of plain data; here each is asked
// again with another value for one argument, and what changes is what depends on it. Those parts alone become Outputs
// again, so that one unknown or secret value neither hides nor taints the rest of an object.
import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { type Leaf, type ResolvedInputs, setAt } from "./inputs";

/** A tree of leaves that a part of the built data depends on; "" marks the part itself. */
interface Taint {
    leaves: Set<Leaf>;
    readonly below: Map<string, Taint>;
}

const newTaint = (): Taint => ({ leaves: new Set(), below: new Map() });

/** Builds plain data, and turns into Outputs the parts that depend on Outputs. */
export function track<T>(inputs: ResolvedInputs, build: (args: unknown) => T): pulumi.Input<T> {
    return weave(build(inputs.value), dependencies(inputs, build)) as pulumi.Input<T>;
}

export interface TrackedItem<T> {
    /** The item with its dependent parts as Outputs. */
    readonly value: pulumi.Input<T>;
    /** The item as plain data; where a value is unknown, a sample stands in it. */
    readonly plain: T;
    /** The unknown values on which it depends whether there is such an item, or under which key. */
    readonly uncertainBy: readonly Leaf[];
}

/**
 * The same for a list of items that come and go with the arguments. `slot` tells which items of two builds correspond,
 * `key` what must be known for an item to be registered at all.
 */
export function trackItems<T>(inputs: ResolvedInputs, build: (args: unknown) => readonly T[], slot: (item: T, list: readonly T[]) => string, key: (item: T) => string): readonly TrackedItem<T>[] {
    const bySlot = (args: unknown): Map<string, T> => {
        const list = build(args);
        return new Map(list.map((item) => [slot(item, list), item]));
    };
    const base = bySlot(inputs.value);
    const uncertain = new Map<string, Set<Leaf>>();
    const taints = new Map<string, Taint>();
    const mark = (name: string, leaf: Leaf): void => {
        uncertain.set(name, (uncertain.get(name) ?? new Set()).add(leaf));
    };
    for (const leaf of inputs.leaves) {
        for (const other of alternatives(inputs, leaf).map(bySlot)) {
            for (const [name, item] of other) {
                if (base.has(name) || leaf.known) continue;
                base.set(name, item);
                mark(name, leaf);
            }
            for (const [name, item] of base) {
                const twin = other.get(name);
                if (!leaf.known && (twin === undefined || key(twin) !== key(item))) mark(name, leaf);
                if (twin === undefined) continue;
                const taint = taints.get(name) ?? newTaint();
                taints.set(name, taint);
                compare(item, twin, leaf, taint);
            }
        }
    }
    return [...base].map(([name, item]) => ({
        value: weave(item, taints.get(name) ?? newTaint()) as pulumi.Input<T>,
        plain: item,
        uncertainBy: [...(uncertain.get(name) ?? [])],
    }));
}

function dependencies<T>(inputs: ResolvedInputs, build: (args: unknown) => T): Taint {
    const base = build(inputs.value), taint = newTaint();
    for (const leaf of inputs.leaves) {
        for (const args of alternatives(inputs, leaf)) compare(base, build(args), leaf, taint);
    }
    return taint;
}

/** The arguments with each other value for one leaf. */
function alternatives(inputs: ResolvedInputs, leaf: Leaf): unknown[] {
    const current = leaf.path.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], inputs.value);
    return leaf.samples.filter((sample) => !isDeepStrictEqual(sample, current)).map((sample) => setAt(inputs.value, leaf.path, sample));
}

function compare(a: unknown, b: unknown, leaf: Leaf, taint: Taint): void {
    if (Object.is(a, b)) return;
    // A map whose keys depend on a value that is not known is not known itself: a sample's keys are nobody's.
    const isOpen = !leaf.known && isPlain(a) && isPlain(b) && Object.keys(a).join() !== Object.keys(b).join() && isMapOfUser(leaf);
    if (isPlain(a) && isPlain(b) && !isOpen) {
        for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) descend(a[key], b[key], key, leaf, taint);
    } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
        a.forEach((item, index) => descend(item, b[index], String(index), leaf, taint));
    } else {
        taint.leaves.add(leaf);
    }
}

/** Whether the value of a leaf is a map with keys of the user's choice, and not one of our own structures. */
function isMapOfUser({ path }: Leaf): boolean {
    return ["selector", "gateway", "manifestOverrides"].some((name) => path.includes(name));
}

function descend(a: unknown, b: unknown, key: string, leaf: Leaf, taint: Taint): void {
    const next = taint.below.get(key) ?? newTaint();
    taint.below.set(key, next);
    compare(a, b, leaf, next);
}

/** Puts Outputs where a part depends on leaves; an unknown leaf leaves its part unknown. */
function weave(value: unknown, taint: Taint): unknown {
    const inner = weaveBelow(value, taint);
    if (taint.leaves.size === 0) return inner;
    return pulumi.all([...taint.leaves].map((leaf) => leaf.output)).apply(() => inner);
}

function weaveBelow(value: unknown, taint: Taint): unknown {
    if (taint.below.size === 0) return value;
    if (Array.isArray(value)) return value.map((item, index) => weave(item, taint.below.get(String(index)) ?? newTaint()));
    if (!isPlain(value)) return value;
    const result: Record<string, unknown> = { ...value };
    for (const [key, below] of taint.below) {
        if (key in value) result[key] = weave(value[key], below);
        else if ([...below.leaves].some((leaf) => !leaf.known)) result[key] = weave(undefined, below);
    }
    return result;
}

function isPlain(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
