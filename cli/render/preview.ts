// Prints a preview: as text for people, or as one JSON document.
import { existsSync } from "node:fs";
import type { Analysis } from "../embedded/analyzer";
import { kubernetesObject } from "../embedded/kubernetes";
import type { Project } from "../embedded/project";
import type { ProgramError, ProgramRun, Resource } from "../embedded/types";
import { shownPath } from "../paths";
import { coloursFor } from "./colours";
import { planOf } from "./plan";
import { counted, renderDiagnostics, renderErrors, renderFindings } from "./report";
import { renderTree } from "./tree";

/** Everything that a preview found out. */
interface Preview {
    readonly project: Project;
    readonly run: ProgramRun;
    readonly analysis?: Analysis;
    readonly errors: readonly ProgramError[];
    /** The environment's folder, and whether it has been written. */
    readonly folder: string;
    readonly written: boolean;
    readonly seconds: number;
}

export function printText(preview: Preview): void {
    const { run, errors, analysis } = preview;
    const colours = coloursFor(process.stdout);
    const findings = analysis?.findings ?? [];
    const remediated = (analysis?.remediations ?? []).map(({ policy, urn }) => `remediated by ${policy}: ${run.resources.find((resource) => resource.urn === urn)?.name ?? urn}`);
    print(process.stdout, [
        ...(errors.length > 0 ? [] : renderTree(run.resources, colours)),
        ...remediated,
        ...renderFindings(findings, run.resources, colours),
    ]);
    const errorColours = coloursFor(process.stderr);
    print(process.stderr, [...renderDiagnostics(run.diagnostics, run.resources, errorColours), ...renderErrors(errors, errorColours)]);
    print(process.stdout, [summary(preview)]);
}

export function printJson(preview: Preview): void {
    const { project, run, errors, analysis, folder, written, seconds } = preview;
    const resources = run.resources.map(publicPart);
    const plans = run.resources.flatMap((resource) => planOf(resource) === undefined ? [] : [{ name: resource.name, urn: resource.urn, plan: planOf(resource) }]);
    const document = {
        project: project.name, environment: project.env, resources, outputs: run.outputs, plans,
        pack: analysis?.pack ?? null, findings: analysis?.findings ?? [],
        remediations: (analysis?.remediations ?? []).map(({ policy, urn }) => ({ policy, urn })),
        diagnostics: run.diagnostics, errors, written: written ? folder : null, seconds,
    };
    print(process.stdout, [JSON.stringify(document, null, 2)]);
}

/** A resource without its wire form, which has the secrets in clear. */
function publicPart(resource: Resource): Omit<Resource, "wire"> {
    return Object.fromEntries(Object.entries(resource).filter(([key]) => key !== "wire")) as unknown as Omit<Resource, "wire">;
}

function summary({ project, run, analysis, errors, folder, written, seconds }: Preview): string {
    const hosts = run.resources.filter((resource) => planOf(resource) !== undefined).length;
    const objects = run.resources.filter((resource) => kubernetesObject(resource) !== undefined).length;
    const logged = run.diagnostics.filter(({ severity }) => severity === "error").length;
    const ofLevel = (level: string): number => (analysis?.findings ?? []).filter((finding) => finding.level === level).length;
    const failed = errors.length + logged;
    const judged = analysis === undefined ? "no policies ran" : `${ofLevel("mandatory")} mandatory and ${ofLevel("advisory")} advisory ${ofLevel("advisory") === 1 ? "finding" : "findings"} by ${analysis.pack.policies} policies`;
    const found = failed > 0 ? counted(failed, "error") : [...(hosts > 0 ? [counted(hosts, "host")] : []), counted(objects, "Kubernetes object"), judged].join(", ");
    const former = existsSync(folder) ? `; ${shownPath(folder)} stays as it was` : "";
    return `${project.env}: ${found}. ${written ? `Manifests are in ${shownPath(folder)}` : `Nothing was written${former}`} (${seconds.toFixed(1)} s).`;
}

function print(stream: NodeJS.WriteStream, lines: readonly string[]): void {
    if (lines.length > 0) stream.write(`${lines.join("\n")}\n`);
}
