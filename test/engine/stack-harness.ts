// The environments of stacks/ on the real CLI, in throw-away folders, beside what the embedded engine makes of them.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";
import { preparePulumi } from "../../tools/pulumi";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import type { RunResult } from "../../tools/support/process";
import { UserError, lastLines } from "../../tools/support/report";
import { prepareStack } from "../../tools/support/stack-run";
import type { KubernetesObject } from "../support/api-server";
import { COMMAND_MS, filesUnder, stateResources } from "./harness";
import type { StateResource } from "./harness";

/** A stack of dozens of objects, previewed and made, while other work is going on. */
export const STACK_MS = 2 * COMMAND_MS;

export interface StackProject {
    readonly folder: string;
    /** Where the YAML goes, when it is rendered. */
    readonly rendered: string;
    /** `up` without a preview before it; `preview`; both with the policy pack. */
    readonly up: (...args: string[]) => Promise<RunResult>;
    readonly preview: (...args: string[]) => Promise<RunResult>;
    readonly destroy: () => Promise<RunResult>;
    readonly state: () => Promise<StateResource[]>;
    /** The arguments that make the stack read its own catalogue with changes to it. */
    readonly withHosts: (hosts: Record<string, unknown>) => Promise<string[]>;
    readonly remove: () => Promise<void>;
}

/** @param kubeconfig the cluster; without it the objects are rendered as YAML */
export async function stackProject(environment: string, kubeconfig?: string): Promise<StackProject> {
    const folder = await folderInOut(environment);
    const rendered = path.join(folder, "rendered");
    const pulumi = await preparePulumi({ backend: path.join(folder, "state"), env: kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig } });
    const { stackArgs, policyArgs } = await prepareStack(pulumi, environment, { work: path.join(folder, "work"), ...(kubeconfig === undefined ? { rendered } : {}) });
    const options = { cwd: repository, timeout: STACK_MS };
    return {
        folder, rendered,
        up: (...args) => pulumi.run(["up", "--yes", "--skip-preview", ...stackArgs, ...policyArgs, ...args], options),
        preview: (...args) => pulumi.run(["preview", ...stackArgs, ...policyArgs, ...args], options),
        destroy: () => pulumi.run(["destroy", "--yes", "--skip-preview", ...stackArgs], options),
        state: () => stateResources((args) => pulumi.must([...args, "--stack", environment], options)),
        withHosts: async (hosts) => {
            const own = path.join(repository, "stacks/catalogue", `${environment}.yaml`);
            const file = path.join(folder, "catalogue.yaml");
            await writeFile(file, JSON.stringify({ extends: path.relative(folder, own), hosts }));
            return ["-c", `istio-egress:catalogue=${path.relative(repository, file)}`];
        },
        remove: () => rm(folder, { recursive: true, force: true }),
    };
}

/** The objects that the embedded preview writes for an environment, by kind, namespace and name. */
export async function embeddedObjects(environment: string): Promise<Map<string, KubernetesObject>> {
    const folder = await folderInOut(`embedded-${environment}`);
    try {
        const args = [path.join(repository, "dist/cli/main.js"), "preview", "--env", environment, "--out", folder];
        const { code, stdout, stderr } = await run(process.execPath, args, { cwd: repository, timeout: COMMAND_MS });
        if (code !== 0) throw new UserError(`The embedded preview of ${environment} fails:\n${lastLines(stdout + stderr, 40)}`);
        return await objectsIn(path.join(folder, environment));
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
}

export async function objectsIn(folder: string): Promise<Map<string, KubernetesObject>> {
    const files = (await filesUnder(folder)).filter((file) => file.endsWith(".yaml"));
    const objects = await Promise.all(files.map(async (file) => parse(await readFile(path.join(folder, file), "utf8")) as KubernetesObject));
    return new Map(objects.map((object): [string, KubernetesObject] => [objectKey(object), object]).sort(([a], [b]) => a < b ? -1 : 1));
}

/** "ServiceEntry egress/partner-api". */
export function objectKey({ kind, metadata }: KubernetesObject): string {
    return `${kind ?? "?"} ${String(metadata?.["namespace"])}/${String(metadata?.["name"])}`;
}

async function folderInOut(name: string): Promise<string> {
    const base = path.join(repository, "out/engine");
    await mkdir(base, { recursive: true });
    return mkdtemp(path.join(base, `${name}-`));
}
