// The files of an environment: one YAML manifest per Kubernetes object, and the plan.
import { stringify } from "yaml";
import { type KubernetesObject, kubernetesObject } from "../embedded/kubernetes";
import type { Json, ProgramRun } from "../embedded/types";
import { isIncomplete } from "../embedded/values";
import { planOf } from "./plan";

/** The folder of objects without a namespace: cluster-wide ones, and those that take the cluster's default. */
const NO_NAMESPACE = "_no-namespace";

/** kubectl and Helm read YAML 1.1, in which an unquoted 2027-06-30 is a time and `on` is true. */
const YAML_VERSION = "1.1";

/** Every YAML file that differs from what a deployment applies begins with this. */
const INCOMPLETE = "# Not complete: <unknown> and [secret] stand for values that only a deployment has.\n";

/** Paths with forward slashes, relative to the environment's folder, and their contents. */
export function environmentFiles(project: string, env: string, run: ProgramRun): Map<string, string> {
    const files = new Map<string, string>();
    for (const resource of run.resources) {
        const object = kubernetesObject(resource);
        if (object === undefined) continue;
        files.set(freePath(files, object), manifest(object.resource.inputs));
    }
    const hosts = run.resources.flatMap((resource) => {
        const plan = planOf(resource);
        return plan === undefined ? [] : [{ name: resource.name, urn: resource.urn, plan }];
    });
    files.set("plan.json", `${JSON.stringify({ project, environment: env, hosts }, null, 2)}\n`);
    return files;
}

function manifest(inputs: Json): string {
    const text = stringify(inputs, { lineWidth: 0, aliasDuplicateObjects: false, version: YAML_VERSION });
    return isIncomplete(inputs) ? INCOMPLETE + text : text;
}

/** Objects of the same kind and name in one namespace (of different API groups, say) get numbers. */
function freePath(files: ReadonlyMap<string, string>, { namespace, kind, name }: KubernetesObject): string {
    const base = `${safe(namespace ?? NO_NAMESPACE)}/${safe(kind)}-${safe(name)}`;
    for (let number = 1; ; number += 1) {
        const path = number === 1 ? `${base}.yaml` : `${base}-${number}.yaml`;
        if (!files.has(path)) return path;
    }
}

/** Names come from the program: nothing in them may lead out of the folder. */
function safe(name: string): string {
    return name.replace(/[^\w.-]/g, "_").replace(/^\.+/, "_");
}
