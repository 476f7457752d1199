// Which declarations a command is about: of a catalogue, or of the program of an environment, by name or host.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { formatErrors, loadCatalogue } from "../../catalogue";
import { type Declaration, checkDeclaration, nearest } from "../../model";
import { readProject } from "../embedded/project";
import type { Resource } from "../embedded/types";
import { Failure, usageError } from "../failure";
import { shownPath } from "../paths";

export interface HostChoice {
    /** Names of declarations, or their hosts. */
    readonly hosts: readonly string[];
    readonly all: boolean;
    readonly env?: string;
    readonly project: string;
    readonly catalogue?: string;
}

export interface Named {
    readonly name: string;
    readonly declaration: Declaration;
}

const HOST_TYPE = "istio-egress:index:ExternalEgressHost";

export async function chooseHosts(choice: HostChoice): Promise<readonly Named[]> {
    const { hosts, all, catalogue, env } = choice;
    if (all && hosts.length > 0) throw usageError("Which hosts? Name them, or all with --all, not both.");
    if (!all && hosts.length === 0) throw usageError("Which hosts? Name one or more, as they are declared or by their host, or all with --all.");
    const known = catalogue !== undefined ? ofCatalogue(catalogue) : env !== undefined ? await ofProgram(choice.project, env) : undefined;
    if (known === undefined) throw usageError("Of what are the hosts? Name an environment with --env, or a catalogue with --catalogue.");
    if (all) return known;
    return hosts.flatMap((wanted) => {
        const found = known.filter(({ name, declaration }) => name === wanted || declaration.host === wanted.toLowerCase());
        if (found.length > 0) return found;
        const names = known.flatMap(({ name, declaration }) => [name, declaration.host]), near = nearest(wanted, names);
        throw usageError(`Nothing that is declared has the name or host ${JSON.stringify(wanted)}${near === undefined ? `: there ${known.length === 1 ? "is" : "are"} ${known.map(({ name }) => name).join(", ") || "none"}` : `: did you mean ${near}?`}`);
    });
}

function ofCatalogue(file: string): readonly Named[] {
    if (!existsSync(file)) throw usageError(`The catalogue ${shownPath(resolve(file))} does not exist: correct --catalogue.`);
    const loaded = loadCatalogue(file);
    if (!loaded.ok) throw new Failure(formatErrors(loaded.errors));
    return loaded.catalogue.entries;
}

/** What the program of an environment declares, by its own components; its prints go to stderr. */
async function ofProgram(folder: string, env: string): Promise<readonly Named[]> {
    const project = readProject(folder, env), { runProject } = await import("../embedded/program.js"), { stdoutToStderr } = await import("../streams.js");
    const { resources, errors } = await stdoutToStderr(() => runProject(project));
    if (errors.length > 0) throw new Failure(errors.map(({ message }) => message).join("\n"));
    return resources.filter(({ type }) => type === HOST_TYPE).map(declarationOf);
}

function declarationOf({ name, inputs }: Resource): Named {
    const checked = checkDeclaration(inputs);
    if (checked.ok) return { name, declaration: checked.declaration };
    throw new Failure(`ExternalEgressHost ${JSON.stringify(name)} has values that only a deployment knows, so that it cannot be planned here: ${checked.problems.map(({ path, text }) => `${path.join(".")} ${text}`).join(" ")} Plan it from a catalogue (--catalogue).`);
}
