// `istio-egress register`: writes into the shared registry which hosts a stack declares, when no other stack contradicts them.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { formatErrors, loadCatalogue, parseRegistry, registryConflicts, withStack, withoutStack } from "../../catalogue";
import { readProject } from "../embedded/project";
import { ExitCode, Failure, messageOf, usageError } from "../failure";
import { shownPath } from "../paths";

export interface RegisterOptions {
    readonly env: string;
    readonly project: string;
    readonly registry?: string;
    readonly remove: boolean;
}

/** Nothing else writes the registry. A file that does not exist is begun. */
export function register({ env, project: folder, registry: named, remove }: RegisterOptions): ExitCode {
    const project = readProject(folder, env), stack = `${project.name}/${env}`;
    const configured = project.config["istio-egress:registry"];
    const file = named === undefined ? (configured === undefined ? undefined : resolve(project.root, configured)) : resolve(named);
    if (file === undefined) throw usageError(`The environment "${env}" names no registry: set istio-egress:registry in Pulumi.${env}.yaml, or name a file with --registry.`);
    const shown = shownPath(file), before = existsSync(file) ? readFileSync(file, "utf8") : "", parsed = parseRegistry(before, shown);
    if (!parsed.ok) throw new Failure(parsed.errors.join("\n"), ExitCode.Refused);
    const count = remove ? 0 : entriesOf(project.catalogue, env).length;
    const after = remove ? withoutStack(parsed.registry, stack) : declared(project.catalogue, env, parsed.registry, stack, shown);
    if (after !== before) write(file, after);
    const what = remove ? `${stack} is not in it any more` : `${stack} declares ${count} ${count === 1 ? "host" : "hosts"}`;
    process.stdout.write(`${shown}: ${what}${after === before ? ", as before" : ""}.\n`);
    return ExitCode.Ok;
}

type Entries = Extract<ReturnType<typeof loadCatalogue>, { readonly ok: true }>["catalogue"]["entries"];

function entriesOf(catalogue: string | undefined, env: string): Entries {
    if (catalogue === undefined) throw usageError(`The environment "${env}" names no catalogue: set istio-egress:catalogue in Pulumi.${env}.yaml.`);
    const loaded = loadCatalogue(catalogue);
    if (!loaded.ok) throw new Failure(formatErrors(loaded.errors), ExitCode.Refused);
    return loaded.catalogue.entries;
}

function declared(catalogue: string | undefined, env: string, registry: Parameters<typeof withStack>[0], stack: string, shown: string): string {
    const entries = entriesOf(catalogue, env), conflicts = registryConflicts(entries, registry, stack, shown);
    if (conflicts.length > 0) throw new Failure(conflicts.join("\n"), ExitCode.Refused);
    return withStack(registry, stack, entries);
}

/** At once or not at all: another stack's program may be reading. */
function write(file: string, text: string): void {
    const temporary = `${file}.${process.pid}`;
    try {
        writeFileSync(temporary, text);
        renameSync(temporary, file);
    } catch (error) {
        throw new Failure(`${shownPath(file)} cannot be written: ${messageOf(error)}.`, ExitCode.Refused);
    }
}
