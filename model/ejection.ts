// Whether an outlierDetection block ejects at all: Istio can switch every counter off and keep only the panic threshold.

export interface EjectionCounters {
    /** `splitExternalLocalOriginErrors`; unset is false. */
    readonly split: boolean | undefined;
    /** `consecutive5xxErrors`; unset is Envoy's default of 5, 0 switches it off. */
    readonly consecutive5xxErrors: number | undefined;
    /** `consecutiveGatewayErrors`; unset and 0 are both off. */
    readonly consecutiveGatewayErrors: number | undefined;
}

/**
 * Under split Envoy counts connect failures by a counter of its own (5 by default) that Istio never switches off; without
 * it they count as 5xx and gateway errors, and both can be off: then nothing is ejected, by intent.
 */
export function isEjectionOff(counters: EjectionCounters): boolean {
    return counters.split !== true
        && counters.consecutive5xxErrors === 0
        && (counters.consecutiveGatewayErrors === undefined || counters.consecutiveGatewayErrors === 0);
}
