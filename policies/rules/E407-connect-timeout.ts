// E407: no connectTimeout in front of a fixed pool, which leaves 10 s, or one that is longer than the loss window.
import { formatDuration, parseDuration } from "../../model/duration";
import { DEFAULT_CONNECT_TIMEOUT_MS } from "../../model/outlier";
import { Membership } from "../../model/resolution";
import { type PoolConfiguration, poolConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import { poolOfRule } from "../outlier";
import { UNKNOWN } from "../plain";
import type { Finding, ObjectRule } from "../rule";

/** meshConfig.connectTimeout, where nobody changes it (Istio's default). */
const MESH_DEFAULT_MS = 10_000;
const TIMEOUT = ["connectionPool", "tcp", "connectTimeout"];

export const connectTimeout: ObjectRule<PoolConfiguration> = {
    code: "E407",
    name: "connect-timeout",
    level: "mandatory",
    severity: "medium",
    description: "The DestinationRule of a fixed pool must set a connectTimeout, shorter than the declared loss window.",
    remediation: "Set trafficPolicy.connectionPool.tcp.connectTimeout to 1s.",
    remediates: false,
    kinds: ["DestinationRule"],
    configuration: poolConfiguration,
    check(object, { pools }) {
        const pool = poolOfRule(object, pools);
        if (pool === undefined || pool.membership !== Membership.Fixed || object.at(["spec", "trafficPolicy"]) === UNKNOWN) return [];
        const path = ["spec", "trafficPolicy", ...TIMEOUT], timeout = object.text(path);
        if (timeout === UNKNOWN) return [];
        const cost = "each new connection to an address that drops packets waits that long before anything else is tried, and fails";
        if (timeout === undefined) {
            if (portsHaveTheirs(object)) return [];
            return [{
                path, level: "advisory",
                text: `is unset, so that the mesh's default is in force (${formatDuration(MESH_DEFAULT_MS)} where nobody changed it), and the pool behind ${pool.host} is fixed: ${cost} (seen on the lab: 10 s per failure). Set ${formatDuration(DEFAULT_CONNECT_TIMEOUT_MS)}.`,
            }];
        }
        const ms = parseDuration(timeout), window = pool.lossWindow === undefined ? undefined : parseDuration(pool.lossWindow);
        if (ms === undefined || window === undefined || ms <= window) return [];
        const finding: Finding = {
            path,
            text: `is ${object.show(path, timeout)}, longer than the declared loss window of ${pool.host} (${pool.isSecret ? "[secret]" : formatDuration(window)}): ${cost}, although the DNS answers another address by then. Set ${formatDuration(DEFAULT_CONNECT_TIMEOUT_MS)}.`,
        };
        return [finding];
    },
};

/** Entries of portLevelSettings replace the connection pool whole: where each has its timeout, the rule's own counts for nothing. */
function portsHaveTheirs(rule: MeshObject): boolean {
    const list = ["spec", "trafficPolicy", "portLevelSettings"], indexes = rule.indexes(list);
    return indexes.length > 0 && indexes.every((index) => rule.at([...list, index, ...TIMEOUT]) !== undefined);
}
