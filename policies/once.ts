// Values that are made once and kept by a key.

/** What `make` gives, made once for a key: undefined counts as a value. */
export function once<T>(made: Map<string, unknown>, key: string, make: () => T): T {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as T;
    const value = make();
    made.set(key, value);
    return value;
}
