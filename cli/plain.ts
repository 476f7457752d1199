// Small helpers on plain data of unknown shape.

/** Whether a value is a map: an object that is no list. */
export function isMap(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
