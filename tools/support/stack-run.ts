// One environment of stacks/ on the real CLI: its own configuration file, the compiled pack and its configuration, rendered YAML.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { readProject, readSettings } from "../../cli/embedded/project";
import type { Project } from "../../cli/embedded/project";
import { configSchema } from "../../policies/configuration";
import { RULES } from "../../policies/rules";
import type { Pulumi } from "../pulumi";
import { repository } from "./places";

export interface StackFolders {
    /** For what is written here: the stack's configuration, the pack's. */
    readonly work: string;
    /** For the YAML; without it the objects go to the cluster that KUBECONFIG names. */
    readonly rendered?: string;
}

export interface PreparedStack {
    /** Arguments that every command on the stack takes. */
    readonly stackArgs: readonly string[];
    /** Those of `preview` and `up`. */
    readonly policyArgs: readonly string[];
}

type Settings = Record<string, unknown>;

/** Makes the stack where it does not exist. Nothing is written to stacks/: what is local to this machine stays out of the repository. */
export async function prepareStack(pulumi: Pulumi, environment: string, folders: StackFolders): Promise<PreparedStack> {
    const project = readProject(repository, environment);
    // A project of the same name beside the configuration: `stack init` writes the salt of its secrets there, not into stacks/.
    const shadow = path.join(folders.work, "project");
    await mkdir(shadow, { recursive: true });
    await writeFile(path.join(shadow, "Pulumi.yaml"), stringify({ name: project.name, runtime: "nodejs" }));
    const configFile = path.join(shadow, `Pulumi.${environment}.yaml`);
    const committed = readSettings(path.join(repository, "stacks", `Pulumi.${environment}.yaml`));
    const salt = existsSync(configFile) ? readSettings(configFile)["encryptionsalt"] : undefined;
    const target = folders.rendered === undefined ? {} : { [`${project.name}:renderTo`]: folders.rendered };
    const config = { ...target, ...committed["config"] as Settings | undefined };
    await writeFile(configFile, stringify({ ...(salt === undefined ? {} : { encryptionsalt: salt }), ...committed, config }));
    await pulumi.must(["stack", "select", environment, "--create"], { cwd: shadow });
    const policyFile = path.join(folders.work, `policies.${environment}.json`);
    await writeFile(policyFile, `${JSON.stringify(policyConfiguration(project), undefined, 2)}\n`);
    return {
        stackArgs: ["--stack", environment, "--config-file", configFile],
        policyArgs: ["--policy-pack", path.join(repository, "dist/policies"), "--policy-pack-config", policyFile],
    };
}

/** The environment's own policy configuration; each rule that can read a catalogue gets the environment's, unless one is named. */
function policyConfiguration({ catalogue, policyConfig }: Project): Settings {
    const own = policyConfig === undefined ? {} : readSettings(policyConfig);
    if (catalogue === undefined) return own;
    const wanting = RULES.filter((rule) => "catalogue" in configSchema(rule.configuration).properties);
    return { ...own, ...Object.fromEntries(wanting.map(({ name }) => [name, { catalogue, ...properties(own[name]) }])) };
}

/** A policy is configured by its level alone, or by an object. */
function properties(entry: unknown): Settings {
    if (typeof entry === "string") return { enforcementLevel: entry };
    return typeof entry === "object" && entry !== null ? entry as Settings : {};
}
