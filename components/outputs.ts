// What the components publish: plain interfaces, since other languages read them too.

/** A Kubernetes object that a host consists of. */
export interface EgressObject {
    kind: string;
    apiVersion: string;
    namespace: string;
    name: string;
    /** What it is for: kind and part, the key of manifestOverrides. */
    role: string;
}

/** One part of a time, with its reason. */
export interface TimePart {
    name: string;
    /** Milliseconds. */
    ms: number;
    reason: string;
}

/** How long new connections would fail after an address dies. */
export interface LossWindowOutput {
    /** What ends it: gslb, ejection, standby, happy-eyeballs, application or unknown. */
    endsBy: string;
    /** Upper bound in milliseconds; absent when it cannot be known. */
    ms?: number;
    parts: TimePart[];
    text: string;
}

/** How long the old address must go on serving after a planned failover. */
export interface DrainWaitOutput {
    /** Milliseconds; absent when it cannot be known. */
    ms?: number;
    parts: TimePart[];
    text: string;
}

/** The pauses between attempts: uniform between 0 and an interval that doubles. Milliseconds. */
export interface BackOffOutput {
    baseMs: number;
    maxMs: number;
}

/** What a new connection does that cannot be made. */
export interface WaitingOutput {
    /** Whether the gateway tries again for as long as a failover can last. */
    waits: boolean;
    reason: string;
    /** How long it tries at least, in milliseconds; absent when it does not wait, like all that follows. */
    budgetMs?: number;
    attempts?: number;
    backOff?: BackOffOutput;
    /** The time-out of the handshake at the gateway, in milliseconds; only where the gateway ends the mesh's TLS. */
    handshakeTimeoutMs?: number;
    /** When the connection fails at the latest, in milliseconds. */
    longestHoldMs?: number;
}

/** What serves new connections while DNS answers no address. */
export interface EmptyAnswerOutput {
    /** standby, last-known or nobody. */
    serves: string;
    reason: string;
}

/** Addresses that serve when none that DNS answers does. */
export interface StandbyOutput {
    addresses: string[];
    text: string;
}

/** Outlier detection as decided. */
export interface OutlierOutput {
    emitted: boolean;
    reason: string;
    maxEjectionPercent?: number;
    minHealthPercent?: number;
    /** How many addresses can be ejected at once. */
    ejectable?: number;
    verdicts?: string[];
}

/** One term of what the application must do. */
export interface ContractTermOutput {
    term: string;
    value: string;
    /** Milliseconds, where the term bounds a time. */
    ms?: number;
    reason: string;
}

/** What was decided for a host, why, and what it means in a failover. */
export interface HostPlan {
    host: string;
    route: string;
    active: boolean;
    resolution: string;
    resolutionReason: string;
    connectTimeout: string;
    outlier: OutlierOutput;
    window: LossWindowOutput;
    /** Whether new connections wait for a failover instead of failing in the loss window. */
    waiting: WaitingOutput;
    /** What requests of HTTP ports do, where other ports stand beside them. */
    requestWaiting?: WaitingOutput;
    emptyAnswer: EmptyAnswerOutput;
    standby?: StandbyOutput;
    drain: DrainWaitOutput;
    contract: ContractTermOutput[];
    /** What an unwise override or an unknown costs. */
    consequences: string[];
    /** The manifest overrides in force. */
    overrides: string[];
    /** The lines that people read. */
    summary: string[];
}

/** A row of an inventory: who may reach what, by which way, and who answers for it. */
export interface HostSummary {
    name: string;
    host: string;
    route: string;
    /** The namespaces that may use it; `*` is the whole mesh. */
    consumers: string[];
    owner: string;
    purpose: string;
    /** The day on which the declaration must be reviewed. */
    expires?: string;
    /** The lines of the plan. */
    plan: string[];
}
