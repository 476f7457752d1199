// The other parts of the text report: findings, diagnostics, errors and the last line.
import { kubernetesObject } from "../embedded/kubernetes";
import type { Diagnostic, Finding, ProgramError, Resource } from "../embedded/types";
import type { Colours } from "./colours";

export function renderFindings(findings: readonly Finding[], resources: readonly Resource[], colours: Colours): string[] {
    return (["mandatory", "advisory"] as const).flatMap((level) => {
        const ofLevel = findings.filter((finding) => finding.level === level);
        if (ofLevel.length === 0) return [];
        const paint = level === "mandatory" ? colours.red : colours.yellow;
        return [paint(`${ofLevel.length} ${level}`), ...ofLevel.flatMap((finding) => renderFinding(finding, resources, colours)), ""];
    });
}

function renderFinding(finding: Finding, resources: readonly Resource[], colours: Colours): string[] {
    const resource = resources.find(({ urn }) => urn === finding.urn);
    const rule = [finding.code, finding.policy].filter((part) => part !== undefined).join(" ");
    // Rules that begin their message with their own code have it once only here.
    const text = finding.code !== undefined && finding.message.startsWith(`${finding.code} `) ? finding.message.slice(finding.code.length + 1) : finding.message;
    const where = resource === undefined ? "" : describeResource(resource);
    const lines = [...text.split("\n"), ...(text.includes(where) ? [] : [colours.dim(where)])];
    return [`  ${colours.bold(rule)}`, ...lines.map((line) => `    ${line}`)];
}

function describeResource(resource: Resource): string {
    const object = kubernetesObject(resource);
    if (object === undefined) return `${resource.type} ${resource.name}`;
    return `${object.kind} ${object.namespace === undefined ? "" : `${object.namespace}/`}${object.name}`;
}

export function renderDiagnostics(diagnostics: readonly Diagnostic[], resources: readonly Resource[], colours: Colours): string[] {
    return diagnostics.map(({ severity, message, urn }) => {
        const resource = resources.find((candidate) => candidate.urn === urn);
        const paint = { error: colours.red, warning: colours.yellow, info: colours.dim }[severity];
        return `${paint(`${severity}:`)} ${resource === undefined ? "" : `${describeResource(resource)}: `}${message}`;
    });
}

export function renderErrors(errors: readonly ProgramError[], colours: Colours): string[] {
    return errors.flatMap(({ message, frames }) => [`${colours.red("error:")} ${message}`, ...frames.map((frame) => colours.dim(`    at ${frame}`))]);
}

/** `1 finding`, `2 findings`; `1 entry`, `2 entries`. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
    return `${number} ${number === 1 ? noun : plural}`;
}
