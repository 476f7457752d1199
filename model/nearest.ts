// Which known word a mistyped one may have been.

/** The known word that is closest to a mistyped one, when it is close at all. */
export function nearest(word: string, known: readonly string[]): string | undefined {
    const scored = known.map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) })).sort((a, b) => a.distance - b.distance)[0];
    // A word of two letters is two edits away from any other.
    const isNear = scored !== undefined && scored.distance < word.length && scored.distance <= Math.max(2, Math.floor(word.length / 3));
    return isNear ? scored.name : undefined;
}

function editDistance(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, index) => index);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
        }
        row = next;
    }
    return row[b.length] ?? 0;
}
