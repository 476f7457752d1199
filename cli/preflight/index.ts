// The preflight: what an environment's catalogue needs of a cluster, against what the cluster has.
import { formatErrors, loadCatalogue } from "../../catalogue";
import { ExitCode, Failure } from "../failure";
import { type Cause, causeOf, statusOf } from "./causes";
import { judge } from "./checks";
import { type Client, Cluster } from "./client";
import { collect } from "./collect";
import { DEFAULT_ISTIO_NAMESPACE } from "./defaults";
import { type KubeconfigOptions, chooseCluster } from "./kubeconfig";
import { needsOf } from "./needs";
import { Group, type Result, Results, Status } from "./result";

export { Group, Status } from "./result";
export type { Result } from "./result";
export { countResults, renderPreflight } from "./render";

export { DEFAULT_ISTIO_NAMESPACE };

export interface PreflightRequest extends KubeconfigOptions {
    /** The catalogue's file. */
    readonly catalogue: string;
    /** The namespace of istiod. Default: istio-system. */
    readonly istioNamespace?: string;
}

/** The cluster that was looked at, as far as it could be reached. */
export interface ClusterFacts {
    readonly context?: string;
    readonly server?: string;
    /** Of Kubernetes. */
    readonly version?: string;
    /** As the API server knows this account. */
    readonly user?: string;
}

export interface PreflightReport {
    /** The files of the catalogue. */
    readonly catalogue: readonly string[];
    readonly cluster: ClusterFacts;
    readonly results: readonly Result[];
    /** Whether nothing is missing. */
    readonly passed: boolean;
}

/**
 * Checks a cluster for what a catalogue needs; it writes nothing. What is wrong with the cluster is in the results, a
 * catalogue with errors is thrown.
 */
export async function runPreflight(request: PreflightRequest): Promise<PreflightReport> {
    const loaded = loadCatalogue(request.catalogue);
    if (!loaded.ok) throw new Failure(formatErrors(loaded.errors), ExitCode.Refused);
    const { entries, files } = loaded.catalogue;
    const report = (cluster: ClusterFacts, results: readonly Result[]): PreflightReport =>
        ({ catalogue: files, cluster, results, passed: !results.some(({ status }) => status === Status.Missing) });

    const client = await import("@kubernetes/client-node");
    const chosen = chooseCluster(client, request);
    if (!chosen.ok) return report({}, [unreachable("API server", chosen.cause)]);
    const { context, server, config } = chosen, cluster = new Cluster(client, config), object = `API server ${server} (context ${context})`;
    try {
        const version = await cluster.version(), user = await whoAmI(cluster, client);
        const facts = { context, server, version, ...(user === undefined ? {} : { user }) };
        const reached = new Results("api-server", Group.Server);
        reached.ok(object, `answers: Kubernetes ${version}${user === undefined ? "" : `, as ${user}`}.`);
        const snapshot = await collect(client, cluster, needsOf(entries), request.istioNamespace ?? DEFAULT_ISTIO_NAMESPACE);
        return report(facts, [...reached.list, ...judge(needsOf(entries), snapshot)]);
    } catch (error) {
        return report({ context, server }, [unreachable(object, causeOf(error))]);
    } finally {
        cluster.close();
    }
}

function unreachable(object: string, { text, fix }: Cause): Result {
    return { id: "api-server", group: Group.Server, status: Status.Missing, object, text: `cannot be used: ${text}.`, fix };
}

/** The account's name. Before Kubernetes 1.28 nobody could ask; that the credentials count is asked in any case. */
async function whoAmI(cluster: Cluster, client: Client): Promise<string | undefined> {
    try {
        const review = await cluster.call(() => cluster.api(client.AuthenticationV1Api).createSelfSubjectReview({ body: {} }));
        return review.status?.userInfo?.username;
    } catch (error) {
        if (statusOf(error) !== 404) throw error;
        await cluster.call(() => cluster.api(client.AuthorizationV1Api).createSelfSubjectAccessReview({ body: { spec: { resourceAttributes: { resource: "namespaces", verb: "get" } } } }));
        return undefined;
    }
}
