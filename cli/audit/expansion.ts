// Values with aliases followed: a YAML bomb is small as text and in memory, and endless for whoever walks it.

/**
 * Why values cannot be walked, or undefined when they can: aliases that lead back to what they stand in, or that stand for
 * more values than `most`. Linear in what is in memory.
 */
export function expansionProblem(values: readonly unknown[], most: number): string | undefined {
    const sizes = new Map<object, number>(), open = new Set<object>();
    let isCyclic = false;
    const sizeOf = (value: unknown): number => {
        if (typeof value !== "object" || value === null) return 1;
        const known = sizes.get(value);
        if (known !== undefined) return known;
        if (open.has(value)) {
            isCyclic = true;
            return 1;
        }
        open.add(value);
        let size = 1;
        for (const part of Array.isArray(value) ? value as unknown[] : Object.values(value)) size += sizeOf(part);
        open.delete(value);
        sizes.set(value, size);
        return size;
    };
    const size = values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    if (isCyclic) return "has an alias (*) inside of what it stands for, so that it never ends: write the value out.";
    if (size > most) return `has aliases (*) that stand for more than ${most.toLocaleString("en-US")} values, as a YAML bomb does: write out what is meant.`;
    return undefined;
}
