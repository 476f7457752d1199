// What the command line of the audit takes; nothing is loaded by it.
import { FailOn } from "./report";

export const Format = { Text: "text", Json: "json", Sarif: "sarif", Github: "github", Junit: "junit" } as const;
export type Format = (typeof Format)[keyof typeof Format];

export interface AuditOptions {
    readonly format: Format;
    readonly output?: string;
    readonly failOn: FailOn;
    readonly only: readonly string[];
    readonly skip: readonly string[];
    readonly exclude: readonly string[];
    readonly baseline?: string;
    readonly writeBaseline?: string;
    readonly catalogue?: string;
    readonly policyConfig?: string;
    readonly env?: string;
    /** True where --context stands without a name: the current one. */
    readonly context?: string | true;
    readonly kubeconfig?: string;
    readonly namespace: readonly string[];
    readonly istioNamespace?: string;
    readonly verbose: boolean;
    readonly listRules: boolean;
}

export const FORMATS: readonly Format[] = Object.values(Format);
export const FAIL_ON: readonly FailOn[] = Object.values(FailOn);
