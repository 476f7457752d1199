// Medians and ratios: what a benchmark here reports.

export function median(values: readonly number[]): number {
    const sorted = [...values].sort((a, b) => a - b), middle = Math.floor(sorted.length / 2);
    const upper = sorted[middle] ?? NaN;
    return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2;
}

/** `1.07 (1.02–1.11)`: median, smallest and largest. */
export function spread(values: readonly number[]): string {
    return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
}
