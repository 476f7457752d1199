// What the embedded engine tells of a run: resources, messages, errors, findings.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One registered resource. `inputs` and `outputs` are for people and files: unknowns and secrets are masked in them. */
export interface Resource {
    /** As the real engine builds it, with the types of all ancestors. */
    readonly urn: string;
    readonly type: string;
    readonly name: string;
    /** URN of the parent; absent on the stack itself. */
    readonly parent?: string;
    /** False for components. */
    readonly custom: boolean;
    /** Read from elsewhere (`Class.get`), not managed by this program. */
    readonly external: boolean;
    /** `urn::id` of an explicit provider. */
    readonly provider?: string;
    readonly dependencies: readonly string[];
    readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
    readonly aliases: readonly string[];
    readonly protect: boolean;
    readonly ignoreChanges: readonly string[];
    readonly inputs: JsonObject;
    readonly outputs: JsonObject;
    /** The same as the engine sends them: sentinels for unknowns, secrets in clear. Never print or write these. */
    readonly wire: { readonly inputs: JsonObject; readonly outputs: JsonObject };
}

export interface Diagnostic {
    readonly severity: "info" | "warning" | "error";
    readonly message: string;
    readonly urn?: string;
}

/** An error that ended the program or a part of it. */
export interface ProgramError {
    readonly message: string;
    /** `file:line:column` of the program's own frames; empty where the message says it all. */
    readonly frames: readonly string[];
}

export interface ProgramRun {
    readonly resources: readonly Resource[];
    readonly outputs: JsonObject;
    readonly diagnostics: readonly Diagnostic[];
    readonly errors: readonly ProgramError[];
}

export type EnforcementLevel = "advisory" | "mandatory" | "disabled" | "remediate";

/** One violation that a policy reported. */
export interface Finding {
    readonly level: "mandatory" | "advisory";
    /** The stable code of the rule (`E201`), where the policy declares one. */
    readonly code?: string;
    readonly policy: string;
    readonly message: string;
    readonly severity?: "low" | "medium" | "high" | "critical";
    /** The resource at fault; absent for a finding about the whole stack. */
    readonly urn?: string;
}

/** New inputs that a policy of level `remediate` gave to a resource, in wire form. */
export interface Remediation {
    readonly policy: string;
    readonly urn: string;
    readonly inputs: JsonObject;
}
