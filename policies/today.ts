// The day by which expiry is judged.

/**
 * Now; or, where the environment sets it, the moment of SOURCE_DATE_EPOCH (seconds since 1970, the convention of reproducible
 * builds), so that a run can be repeated with the same findings.
 */
export function today(): Date {
    const epoch = process.env["SOURCE_DATE_EPOCH"];
    return epoch !== undefined && /^\d{1,11}$/.test(epoch) ? new Date(Number(epoch) * 1000) : new Date();
}
