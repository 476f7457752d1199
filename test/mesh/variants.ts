// How a host of a scenario is set up: what is declared, and what is written by hand where the library does not emit it.
import { LoadBalancer, Membership, Resolution } from "../../model";
import type { DeclarationInput, OnEmptyAnswer } from "../../model";
import { clusterName } from "./counters";
import { declare } from "./lab/declare";
import { GATEWAY, GATEWAY_LABELS, NAMESPACES } from "./lab/layout";

/** What a declaration says, as changes of the lab's host. */
export type Changes = Partial<DeclarationInput>;

/** Connect attempts of the gateway's TCP proxy: Envoy's `max_connect_attempts` and `backoff_options`. */
export interface Attempts {
    readonly count: number;
    /** Base and longest interval, as Envoy writes durations ("0.5s"). */
    readonly backOff?: readonly [base: string, max: string];
    /** `transport_socket_connect_timeout` of the gateway's chain; Istio's own is 15 s. */
    readonly handshake?: string;
}

const outlierRule = (change: object | null): Changes["manifestOverrides"] => ({ "DestinationRule/host": { spec: { trafficPolicy: { outlierDetection: change } } } });

/** Nothing but connectTimeout 1 s, as a rule that somebody wrote without outlier detection. */
export const WITHOUT_OUTLIER: Changes = { manifestOverrides: outlierRule(null) };
/** Neither: Istio's own connectTimeout of 10 s. */
export const WITHOUT_TIMEOUT: Changes = { manifestOverrides: { "DestinationRule/host": { spec: { trafficPolicy: { outlierDetection: null, connectionPool: null } } } } };
/** The field documents' outlier detection; ours differs in minHealthPercent, 1. */
export const DOCUMENTED_OUTLIER: Changes = { outlier: { minHealthPercent: 0 } };
/** What istiod takes where nothing is said. */
export const LEAST_REQUEST: Changes = { loadBalancer: LoadBalancer.LeastRequest };
export const LOGICAL: Changes = { resolution: Resolution.DnsRoundRobin };
export const SHORT_BACK_OFF = ["0.05s", "0.5s"] as const;
export const LONG_BACK_OFF = ["0.5s", "2s"] as const;

export const answering = (addressesPerAnswer: number, onEmptyAnswer?: OnEmptyAnswer): Changes => ({ pool: { membership: Membership.Fixed, addressesPerAnswer, ...(onEmptyAnswer === undefined ? {} : { onEmptyAnswer }) } });

/** A host of one consumer, so that a mesh of many stays small. */
export function declared(host: string, ...changes: readonly Changes[]): DeclarationInput {
    return declare(changes.reduce<Changes>((all, one) => ({ ...all, ...one }), { host, consumers: [{ namespace: "payments" }] }));
}

/**
 * Envoy's `update_merge_window`: a change of health within this time of the cluster's last change (of health, or of its addresses) reaches the
 * proxy's workers at its end only. So a refused address that is ejected right after it was admitted goes on failing for so long.
 */
export const MERGE_WINDOW_MS = 1_000;

/** The cluster without the window, by hand: Istio has no field for it. */
export function withoutMergeWindow(host: string): object {
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: `${host.replaceAll(".", "-")}-merge-window`, namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } },
            configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { name: clusterName(host) } }, patch: { operation: "MERGE", value: { common_lb_config: { update_merge_window: "0s" } } } }],
        },
    };
}

/** EnvoyFilters, by hand: Istio has no field for connect attempts. */
export function attemptsFilter(host: string, { count, backOff, handshake }: Attempts, portNumber = GATEWAY.ports[0]?.targetPort): object {
    const match = (filter?: string): object => ({
        context: "GATEWAY", listener: { portNumber, filterChain: { sni: host, ...(filter === undefined ? {} : { filter: { name: filter } }) } },
    });
    const tcpProxy = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", max_connect_attempts: count,
        ...(backOff === undefined ? {} : { backoff_options: { base_interval: backOff[0], max_interval: backOff[1] } }),
    };
    const name = "envoy.filters.network.tcp_proxy";
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: `${host.replaceAll(".", "-")}-attempts`, namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } },
            configPatches: [
                { applyTo: "NETWORK_FILTER", match: match(name), patch: { operation: "MERGE", value: { name, typed_config: tcpProxy } } },
                ...(handshake === undefined ? [] : [{ applyTo: "FILTER_CHAIN", match: match(), patch: { operation: "MERGE", value: { transport_socket_connect_timeout: handshake } } }]),
            ],
        },
    };
}
