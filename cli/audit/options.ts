// The options of `istio-egress audit` → what is to be done; what cannot be meant is refused before any work.
import { readCatalogue } from "../../policies/catalogue-pools";
import { type Levels, checkLevelNames } from "../../policies/levels";
import { RULES } from "../../policies/rules";
import { today } from "../../policies/today";
import { messageOf, usageError } from "../failure";
import { DEFAULT_ISTIO_NAMESPACE } from "../preflight/defaults";
import { Baseline } from "./baseline";
import type { AuditOptions } from "./choices";
import type { AuditRequest } from "./index";
import { selectRules } from "./select";

/** @throws a usage error for options that do not fit together, and for files that they name and that cannot be used */
export async function prepare(paths: readonly string[], options: AuditOptions, onProgress: (what: string, done: number, all: number) => void): Promise<AuditRequest> {
    const { env, baseline, writeBaseline, failOn } = options;
    if (baseline !== undefined && writeBaseline !== undefined) throw usageError("--baseline and --write-baseline exclude each other: first make the file, then compare with it.");
    return {
        input: inputOf(paths, options, onProgress), rules: selectRules(RULES, options.only, options.skip), configuration: await levelsOf(options.policyConfig), pools: poolsOf(options.catalogue),
        failOn, now: today(), ...(env === undefined ? {} : { environment: env }), ...(baseline === undefined ? {} : { baseline: Baseline.read(baseline) }),
    };
}

function inputOf(paths: readonly string[], options: AuditOptions, onProgress: (what: string, done: number, all: number) => void): AuditRequest["input"] {
    const { context, kubeconfig, namespace, istioNamespace, exclude } = options, isCluster = context !== undefined || kubeconfig !== undefined;
    if (!isCluster && namespace.length > 0) throw usageError("--namespace is for a live cluster: name it with --context, or name the files to audit.");
    if (isCluster && paths.length > 0) throw usageError("Files and a cluster are audited one at a time: name either paths, or --context.");
    if (!isCluster && paths.length === 0) throw usageError("What is to be audited? Name files or folders, - for standard input, or a cluster with --context.");
    if (!isCluster) return { kind: "paths", paths, options: { exclude, onProgress } };
    return {
        kind: "cluster", request: {
            namespaces: namespace, istioNamespace: istioNamespace ?? DEFAULT_ISTIO_NAMESPACE, onProgress,
            ...(typeof context === "string" ? { context } : {}), ...(kubeconfig === undefined ? {} : { kubeconfig }),
        },
    };
}

/** Levels and properties by policy name. */
export async function levelsOf(file: string | undefined): Promise<Levels> {
    if (file === undefined) return {};
    const { readSettings } = await import("../embedded/project.js");
    const levels = readSettings(file) as Levels;
    try {
        checkLevelNames(file, RULES, levels, ["all"]);
    } catch (error) {
        throw usageError(messageOf(error));
    }
    return levels;
}

function poolsOf(file: string | undefined): AuditRequest["pools"] {
    if (file === undefined) return [];
    const result = readCatalogue(file);
    if (!result.ok) throw usageError(result.problem);
    return result.pools;
}
