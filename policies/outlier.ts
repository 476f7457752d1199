// Every place in a DestinationRule where outlierDetection stands, and the pool that it acts on.
import type { Pool } from "../model/annotations";
import { normaliseHost } from "../model/host";
import type { Path } from "../model/problem";
import { isEjectionOff } from "../model/ejection";
import type { MeshObject } from "./objects";
import { UNKNOWN, type Unknown, isObject } from "./plain";
import { SECRET } from "./secrets";
import type { Pools } from "./pools";

export interface OutlierBlock {
    /** The path of the outlierDetection itself. */
    readonly path: Path;
    readonly maxEjectionPercent: number | undefined | Unknown;
    readonly minHealthPercent: number | undefined | Unknown;
    /** False for a subset that selects by labels: it acts on a part of the pool, of unknown size. */
    readonly wholePool: boolean;
    /** The port of an entry of portLevelSettings; undefined for a block that counts for all. */
    readonly port: number | undefined;
}

/**
 * Istio replaces outlierDetection as a whole, per port and per subset, so that each block is judged by itself. A block
 * whose counters are all switched off, or may be, is left out: it ejects nothing by intent.
 */
export function outlierBlocks(rule: MeshObject): readonly OutlierBlock[] {
    return rule.once("outlier blocks", () => allOutlierBlocks(rule).filter(({ path }) => ejects(rule, path)));
}

/** Every block, those that eject nothing included. */
export function allOutlierBlocks(rule: MeshObject): readonly OutlierBlock[] {
    return rule.once("all outlier blocks", () => trafficPolicies(rule).flatMap(({ path, wholePool }) => [
        ...blockAt(rule, [...path, "outlierDetection"], wholePool, undefined),
        ...rule.indexes([...path, "portLevelSettings"]).flatMap((index) => {
            const entry = [...path, "portLevelSettings", index], port = rule.number([...entry, "port", "number"]);
            return blockAt(rule, [...entry, "outlierDetection"], wholePool, typeof port === "number" ? port : undefined);
        }),
    ]));
}

/** The rule's own trafficPolicy and each subset's, there or not. */
export function trafficPolicies(rule: MeshObject): readonly { readonly path: Path; readonly wholePool: boolean }[] {
    return [
        { path: ["spec", "trafficPolicy"], wholePool: true },
        ...rule.indexes(["spec", "subsets"]).map((index) => ({
            path: ["spec", "subsets", index, "trafficPolicy"],
            wholePool: isEmpty(rule, ["spec", "subsets", index, "labels"]),
        })),
    ];
}

function blockAt(rule: MeshObject, path: Path, wholePool: boolean, port: number | undefined): readonly OutlierBlock[] {
    if (!isObject(rule.at(path))) return [];
    const maxEjectionPercent = rule.number([...path, "maxEjectionPercent"]), minHealthPercent = rule.number([...path, "minHealthPercent"]);
    return [{ path, maxEjectionPercent, minHealthPercent, wholePool, port }];
}

/** What is not known counts as the value that switches the counter off; a patch that is silent about 5xx errors leaves them on. */
function ejects(rule: MeshObject, path: Path): boolean {
    return !isEjectionOff({
        split: orElse(rule.flag([...path, "splitExternalLocalOriginErrors"]), false),
        consecutive5xxErrors: orElse(rule.number([...path, "consecutive5xxErrors"]), rule.isPatch ? undefined : 0),
        consecutiveGatewayErrors: orElse(rule.number([...path, "consecutiveGatewayErrors"]), 0),
    });
}

function orElse<T>(value: T | Unknown, fallback: T): T {
    return value === UNKNOWN ? fallback : value;
}

function isEmpty(rule: MeshObject, path: Path): boolean {
    const labels = rule.at(path);
    return labels === undefined || (isObject(labels) && Object.keys(labels).length === 0);
}

export interface RulePool extends Pool {
    /** As messages show it. */
    readonly host: string;
    /** A number that tells how many addresses there are, as messages show it. */
    readonly count: (number: number) => string;
    readonly isSecret: boolean;
    /** The declared loss window, where one is known: a Go duration. */
    readonly lossWindow?: string;
}

/** The declared pool behind a DestinationRule's host; undefined where it is unknown or undeclared. */
export function poolOfRule(rule: MeshObject, pools: Pools): RulePool | undefined {
    const host = rule.text(["spec", "host"]);
    if (host === undefined || host === UNKNOWN) return undefined;
    const answer = pools.of(rule, host);
    if (answer.state !== "declared" || answer.isSizeUnknown) return undefined;
    const { pool: { membership, addressesPerAnswer, lossWindow }, isSecret } = answer;
    return { membership, addressesPerAnswer, lossWindow, isSecret, host: rule.show(["spec", "host"], normaliseHost(host)), count: (number) => (isSecret ? SECRET : String(number)) };
}

/** `is 30`, or `is unset`: how messages begin. */
export function describe(rule: MeshObject, field: Path, percent: number | undefined): string {
    return `is ${percent === undefined ? "unset" : rule.show(field, percent)}`;
}
