// One environment of stacks/ on the real CLI: its own configuration file, the compiled pack and its configuration, rendered YAML.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { readProject, readSettings } from "../../cli/embedded/project";
import type { Pulumi } from "../pulumi";
import { repository } from "./places";

export interface StackFolders {
    /** For what is written here: the stack's configuration. */
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
    return {
        stackArgs: ["--stack", environment, "--config-file", configFile],
        policyArgs: ["--policy-pack", path.join(repository, "dist/policies"), ...(project.policyConfig === undefined ? [] : ["--policy-pack-config", project.policyConfig])],
    };
}
