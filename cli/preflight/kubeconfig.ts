// Which cluster and which credentials: the kubeconfig as kubectl finds it, and one of its contexts.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { messageOf } from "../failure";
import { shownPath } from "../paths";
import type { Cause } from "./causes";
import type { Client } from "./client";
import { enumerate } from "./result";

export interface KubeconfigOptions {
    /** A file, instead of KUBECONFIG and the default one. */
    readonly kubeconfig?: string;
    /** A context, instead of the current one. */
    readonly context?: string;
    readonly environment?: NodeJS.ProcessEnv;
}

export type Chosen = { readonly ok: true; readonly config: KubeConfig; readonly context: string; readonly server: string } | { readonly ok: false; readonly cause: Cause };

/** Where a pod finds the credentials of its service account. */
const IN_CLUSTER_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token";

const failed = (text: string, fix: string): Chosen => ({ ok: false, cause: { text, fix } });

export function chooseCluster(client: Client, options: KubeconfigOptions): Chosen {
    const environment = options.environment ?? process.env;
    const named = options.kubeconfig === undefined ? (environment["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "") : [options.kubeconfig];
    const files = named.length > 0 ? named : [join(homedir(), ".kube", "config")];
    const there = files.filter((file) => existsSync(file)), config = new client.KubeConfig();
    if (there.length === 0) {
        if (named.length === 0 && environment["KUBERNETES_SERVICE_HOST"] !== undefined && existsSync(IN_CLUSTER_TOKEN)) {
            config.loadFromCluster();
            return chooseContext(config, "the pod's service account", options.context);
        }
        const where = named.length > 0 ? `${enumerate(files.map((file) => shownPath(file)))} ${files.length === 1 ? "does" : "do"} not exist` : "neither --kubeconfig nor KUBECONFIG names one, and ~/.kube/config does not exist";
        return failed(`there is no kubeconfig: ${where}`, "Name one with --kubeconfig, or get it from where the cluster is managed.");
    }
    for (const file of there) {
        try {
            const one = new client.KubeConfig();
            one.loadFromFile(file);
            merge(config, one);
        } catch (error) {
            return failed(`the kubeconfig ${shownPath(file)} cannot be read: ${messageOf(error).split("\n")[0] ?? ""}`, "Correct the file, or name another with --kubeconfig.");
        }
    }
    return chooseContext(config, enumerate(there.map((file) => shownPath(file))), options.context);
}

/** kubectl's rule: of entries with the same name the first file's counts, and so does the first current context. */
function merge(into: KubeConfig, one: KubeConfig): void {
    const fresh = <T extends { readonly name: string }>(known: readonly T[], more: readonly T[] | undefined): T[] => [...known, ...(more ?? []).filter(({ name }) => !known.some((other) => other.name === name))];
    into.loadFromOptions({
        clusters: fresh(into.clusters, one.clusters), users: fresh(into.users, one.users), contexts: fresh(into.contexts, one.contexts),
        currentContext: into.currentContext === undefined || into.currentContext === "" ? one.currentContext : into.currentContext,
    });
}

function chooseContext(config: KubeConfig, where: string, wanted: string | undefined): Chosen {
    const names = config.contexts.map(({ name }) => name), list = names.length === 0 ? "it has none" : `it has ${enumerate(names, 20)}`;
    const current = config.currentContext as string | undefined, name = wanted ?? current;
    if (name === undefined || name === "") return failed(`no context is current in ${where}: ${list}`, "Choose one with --context, or with kubectl config use-context.");
    const context = config.contexts.find((one) => one.name === name);
    if (context === undefined) return failed(`there is no context "${name}" in ${where}: ${list}`, "Choose one of these with --context, or in the environment's istio-egress:context.");
    const cluster = config.clusters.find((one) => one.name === context.cluster);
    if (cluster === undefined) return failed(`the context "${name}" names the cluster "${context.cluster}", which ${where} does not have`, "Correct the context, or choose another with --context.");
    if (!config.users.some((one) => one.name === context.user)) return failed(`the context "${name}" names the user "${context.user}", which ${where} does not have`, "Correct the context, or choose another with --context.");
    config.setCurrentContext(name);
    // As for kubectl, plain HTTP (kubectl proxy) is fine: the client takes it only where no certificate is asked for.
    if (cluster.server.startsWith("http://")) config.clusters = config.clusters.map((one) => (one === cluster ? { ...one, skipTLSVerify: true } : one));
    return { ok: true, config, context: name, server: cluster.server };
}
