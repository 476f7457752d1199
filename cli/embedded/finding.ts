// Translates between the analyzer protocol's messages and findings.
import type * as proto from "@pulumi/pulumi/proto/analyzer_pb";
import type { EnforcementLevel, Finding } from "./types";

const LEVELS: readonly EnforcementLevel[] = ["advisory", "mandatory", "disabled", "remediate"];
const SEVERITIES: readonly Finding["severity"][] = [undefined, "low", "medium", "high", "critical"];

export function toLevel(level: EnforcementLevel): proto.EnforcementLevel {
    return LEVELS.indexOf(level);
}

export function fromLevel(level: proto.EnforcementLevel): EnforcementLevel {
    return LEVELS[level] ?? "advisory";
}

export function isLevel(value: unknown): value is EnforcementLevel {
    return LEVELS.some((level) => level === value);
}

/** The stable code of a policy, wherever its metadata says it: `E201`. */
export function codeOf(policy: proto.PolicyInfo): string | undefined {
    const places = [...policy.getTagsList(), policy.getDisplayname(), policy.getUrl(), policy.getDescription()];
    return places.flatMap((text) => /\bE\d{3}\b/.exec(text)?.[0] ?? [])[0];
}

/** @param codes by policy */
export function findingOf(diagnostic: proto.AnalyzeDiagnostic, codes: ReadonlyMap<string, string | undefined>): Finding {
    const policy = diagnostic.getPolicyname();
    const code = codes.get(policy);
    const severity = SEVERITIES[diagnostic.getSeverity()];
    const urn = diagnostic.getUrn();
    return {
        // The pack reports a violation that a remediation has left over as mandatory.
        level: fromLevel(diagnostic.getEnforcementlevel()) === "advisory" ? "advisory" : "mandatory",
        ...(code === undefined ? {} : { code }),
        policy,
        message: withoutDescription(diagnostic.getMessage(), diagnostic.getDescription()),
        ...(severity === undefined ? {} : { severity }),
        ...(urn === "" ? {} : { urn }),
    };
}

/** The SDK puts the policy's description on a line of its own before what the policy reported. */
function withoutDescription(message: string, description: string): string {
    return message.startsWith(`${description}\n`) ? message.slice(description.length + 1) : message;
}
