// The runbook of a host's failovers: what to look at, by which commands and queries. Data; a report makes text of it.
import type { Declaration } from "./declaration";
import { LAST_KNOWN_SUBSET, keepsLastKnown } from "./empty-answer";
import { OVERPROVISIONING } from "./guard";
import { outboundCluster } from "./names";
import { carriesRequestsOnly, hasProtocol } from "./ports";
import { Protocol, usesGateway } from "./routes";
import { standbyAddresses } from "./standby";
import { decideCluster } from "./waiting";
import { drainWait } from "./window";

export interface RunbookStep {
    readonly when: "planned failover" | "failure" | "both";
    readonly title: string;
    readonly text: string;
    /** To be typed in a shell, in this order; POD stands for a pod. */
    readonly commands: readonly string[];
    /** Of Prometheus. */
    readonly queries: readonly string[];
}

/** Statistics of clusters exist only where the proxy's pods ask for them: read when they start. */
export const STATISTICS_ANNOTATION = { key: "sidecar.istio.io/statsInclusionPrefixes", value: "cluster.outbound" } as const;

/** Since Istio 1.23 a ";" ends the name in statistics (istio, ENABLE_DELIMITED_STATS_TAG_REGEX; seen on 1.31); Prometheus' label has none. */
const clusterOf = ({ host }: Declaration, port: number, subset = ""): string => outboundCluster(host, port, subset);

/** As part of a regular expression, of grep as of Prometheus. */
const literal = (text: string): string => text.replace(/[|.*]/g, "[$&]");

/** Which clusters of a host: those with what DNS answers, or those as well in which connections are counted where the last known address is kept. */
type Clusters = "listed" | "all";

/** As part of a regular expression: the names between port and host. */
const subsetsOf = (declaration: Declaration, clusters: Clusters): string => (clusters === "all" && keepsLastKnown(declaration) ? `((or-)?${LAST_KNOWN_SUBSET})?` : "");

/** The label matcher of a host's clusters, of each port. */
function selector(declaration: Declaration, clusters: Clusters): string {
    const [first, ...others] = declaration.ports, subsets = subsetsOf(declaration, clusters);
    if (first !== undefined && others.length === 0 && subsets === "") return `{cluster_name="${clusterOf(declaration, first.number)}"}`;
    const numbers = declaration.ports.map(({ number }) => number).join("|");
    return `{cluster_name=~"outbound[|]${others.length === 0 ? numbers : `(${numbers})`}[|]${subsets}[|]${literal(declaration.host)}"}`;
}

const metric = (declaration: Declaration, name: string, clusters: Clusters = "listed"): string => `envoy_cluster_${name}${selector(declaration, clusters)}`;

/** Where the proxies run that choose the host's address, and how to list their pods. */
export function proxiesOf({ route, gateway, consumers }: Declaration): { readonly namespace: string; readonly list: string } {
    if (usesGateway(route) && gateway !== undefined) {
        const labels = Object.entries(gateway.selector).map(([key, value]) => `${key}=${value}`).join(",");
        return { namespace: gateway.namespace, list: `kubectl -n ${gateway.namespace} get pods -l ${labels}` };
    }
    const namespace = consumers[0]?.namespace ?? "default", shown = namespace === "*" ? "NAMESPACE" : namespace;
    return { namespace: shown, list: `kubectl -n ${shown} get pods` };
}

export function runbookOf(declaration: Declaration): readonly RunbookStep[] {
    const { host, ports, pool } = declaration, { namespace, list } = proxiesOf(declaration), port = ports[0]?.number ?? 443, cluster = clusterOf(declaration, port);
    const admin = (path: string): string => `kubectl -n ${namespace} exec POD -c istio-proxy -- pilot-agent request GET ${path}`;
    const listed = `${admin("clusters")} | grep -F '${cluster}::'`, standby = standbyAddresses(declaration);
    const counted = (names: string): string => `${admin("stats")} | grep -E '^cluster[.]outbound[|]${port}[|]${subsetsOf(declaration, "all")}[|]${literal(host)};?[.](${names}):'`;
    const counts = counted("upstream_cx_active");
    // What ran out of attempts: the TCP proxy counts connections, the router requests.
    const ranOut = [...(carriesRequestsOnly(declaration) ? [] : ["upstream_cx_connect_attempts_exceeded"]), ...(hasProtocol(declaration, Protocol.Http) ? ["upstream_rq_retry_limit_exceeded"] : [])];
    const questions = [`dig +noall +answer A ${host}`, ...(pool.membership === "fixed" ? [`istio-egress verify-pool ${host} --catalogue FILE`] : [])];
    return [
        {
            when: "both", title: "What DNS answers, and what the proxies have",
            text: `Ask the resolver that the pods ask. Of each address the proxy tells health_flags (failed_outlier_check: ejected)${standby === undefined ? "" : ", priority (0: DNS answers it, 1: it stands by)"} and cx_active.`,
            commands: [...questions, list, `istioctl proxy-config endpoints POD -n ${namespace} --cluster '${cluster}'`, listed],
            queries: [metric(declaration, "membership_total"), metric(declaration, "membership_healthy")],
        },
        {
            when: "planned failover", title: "Move the record, and see that the proxies follow",
            text: "The old address stays up. New connections go to the new one as soon as each proxy lists it; membership_change counts that.",
            commands: [listed], queries: [`increase(${metric(declaration, "membership_change")}[5m])`],
        },
        {
            when: "planned failover", title: "Wait for the drain",
            text: `${capital(drainWait(declaration).text)}. An address that has left the list is listed no more, but its connections count in upstream_cx_active: what is left of it beyond the cx_active of the listed addresses are connections to the old one. The old address's own count, on its side, says the same for all proxies together.`,
            commands: [counts, `${listed} | grep '::cx_active::'`],
            queries: [`sum(${metric(declaration, "upstream_cx_active", "all")})`],
        },
        { when: "planned failover", title: "Remove the old address", text: "When no proxy holds a connection to it; removed earlier, what is kept there is cut.", commands: [], queries: [] },
        {
            when: "failure", title: "What is dead, and what the proxies make of it",
            text: "Failures to connect, what ran out of attempts, ejections, and connections that found no address at all.",
            commands: [listed, counted(`upstream_cx_connect_(fail|timeout)|${ranOut.join("|")}|upstream_cx_none_healthy|outlier_detection[.]ejections_(active|enforced_total|overflow)`)],
            queries: [
                `rate(${metric(declaration, "upstream_cx_connect_fail", "all")}[1m])`, metric(declaration, "outlier_detection_ejections_active"),
                ...ranOut.map((name) => `increase(${metric(declaration, name, "all")}[5m])`), `increase(${metric(declaration, "upstream_cx_none_healthy", "all")}[5m])`,
            ],
        },
        ...(keepsLastKnown(declaration) ? [{
            when: "failure", title: "Whether the last known address serves",
            text: "While DNS answers no address, the proxy lists none for the host, and new connections go to the address of the last answer that had one. Mend the record: a pod that starts meanwhile knows no address, and no more does one for which the host's settings change (leave `pulumi up` until then).",
            commands: [`${admin("clusters")} | grep -F '${clusterOf(declaration, port, LAST_KNOWN_SUBSET)}::'`], queries: [emptyAnswerExpression(declaration)],
        } as const] : []),
        ...(standby === undefined ? [] : [{
            when: "failure", title: "Whether standby serves", text: `${standby.join(", ")} ${standby.length === 1 ? "serves" : "serve"} while no address that DNS answers is healthy. Then the record must be mended all the same: standby addresses are the last ones.`,
            commands: [`${listed} | grep -E '::(priority|cx_active|health_flags)::'`], queries: [standbyExpression(declaration) ?? ""],
        } as const]),
    ];
}

/** How many addresses of the first priority must be ejected for standby to serve. */
function ejectedForStandby(addresses: number, factor: number): number {
    for (let ejected = 1; ejected < addresses; ejected++) if (Math.floor((factor * (addresses - ejected)) / addresses) < 100) return ejected;
    return addresses;
}

/**
 * True while standby serves, or did within the last ejection time. Envoy has no statistic per priority
 * (envoyproxy/envoy#4826), so it is concluded: a standby address is tried, and so ejected, only when those that DNS answers
 * are not available; and without an answer only standby addresses are left.
 */
export function standbyExpression(declaration: Declaration): string | undefined {
    const standby = standbyAddresses(declaration), { addressesPerAnswer: count } = declaration.pool;
    if (standby === undefined || count === undefined) return undefined;
    const ejected = ejectedForStandby(count, decideCluster(declaration)?.overprovisioning ?? OVERPROVISIONING);
    return `${metric(declaration, "outlier_detection_ejections_active")} >= ${String(ejected)} or ${metric(declaration, "membership_total")} <= ${String(standby.length)}`;
}

/** True while DNS answers no address: the list of a port is empty. */
export const emptyAnswerExpression = (declaration: Declaration): string => `${metric(declaration, "membership_total")} <= 0`;

/**
 * A PrometheusRule of the Prometheus operator that tells when what stands behind DNS serves: standby addresses, or the last
 * known one. Undefined where neither is there.
 */
export function failoverAlert(name: string, declaration: Declaration): object | undefined {
    const { namespace } = proxiesOf(declaration), rule = alertRule(declaration);
    if (rule === undefined) return undefined;
    const { alert, expr, summary, description } = rule;
    return {
        apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", metadata: { name: `istio-egress-${name}`, namespace },
        spec: { groups: [{ name: `istio-egress-${name}`, rules: [{ alert, expr, for: "30s", labels: { severity: "warning", host: declaration.host }, annotations: { summary: `${declaration.host}: ${summary}`, description } }] }] },
    };
}

function alertRule(declaration: Declaration): { readonly alert: string; readonly expr: string; readonly summary: string; readonly description: string } | undefined {
    const standby = standbyExpression(declaration);
    if (standby !== undefined) {
        return { alert: "EgressStandbyServes", expr: standby, summary: "no address that DNS answers serves, and standby addresses do", description: "The GSLB answers dead addresses, or none. Connections go to the standby addresses; mend the record." };
    }
    return keepsLastKnown(declaration) ? {
        alert: "EgressLastKnownServes", expr: emptyAnswerExpression(declaration), summary: "DNS answers no address, and the last known one serves",
        description: "Connections go to the address of the last answer that had one, dead or alive, and a gateway pod that starts, or gets other settings of the host, knows none; mend the record.",
    } : undefined;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Whether the statistics are those of a gateway that the platform team starts, or of every consumer's pods. */
export const statisticsAt = ({ route, gateway }: Declaration): string => (usesGateway(route) && gateway !== undefined ? "the gateway's pods" : "the consumers' pods");
