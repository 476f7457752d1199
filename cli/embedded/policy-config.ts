// The level and the properties that each policy of a pack gets: its own, changed by the environment's policy configuration.
import type * as proto from "@pulumi/pulumi/proto/analyzer_pb";
import { usageError } from "../failure";
import { isMap } from "../plain";
import { fromLevel, isLevel } from "./finding";
import { fromStruct } from "./sdk";
import type { EnforcementLevel, Json, JsonObject } from "./types";

/** The format of `--policy-pack-config`: a level, or a level and properties, by policy name or `all`. */
export type PolicyConfig = Readonly<Record<string, unknown>>;

export interface PolicySettings {
    readonly level: EnforcementLevel;
    readonly properties: JsonObject;
}

/** The property by which a policy takes the path of the environment's catalogue. */
const CATALOGUE = "catalogue";

/** @param where the pack, as messages name it */
export function reconcile(info: proto.AnalyzerInfo, { catalogue, policies = {} }: { catalogue?: string; policies?: PolicyConfig }, where: string): Map<string, PolicySettings> {
    const names = info.getPoliciesList().map((policy) => policy.getName());
    const unknown = Object.keys(policies).find((name) => name !== "all" && !names.includes(name));
    if (unknown !== undefined) throw usageError(`The policy configuration names "${unknown}", but the pack ${where} has no such policy: it has ${[...names].sort().join(", ")}.`);
    const all = readSettings("all", policies["all"]);

    return new Map(info.getPoliciesList().map((policy) => {
        const name = policy.getName();
        const own = readSettings(name, policies[name]);
        const initial = info.getInitialconfigMap().get(name);
        const schema = policy.getConfigschema();
        const declared = fromStruct(schema?.getProperties());
        const properties: JsonObject = {
            ...defaultsOf(declared),
            ...fromStruct(initial?.getProperties()),
            ...(catalogue !== undefined && CATALOGUE in declared ? { [CATALOGUE]: catalogue } : {}),
            ...own.properties,
        };
        const missing = schema?.getRequiredList().find((property) => !(property in properties));
        if (missing !== undefined) throw usageError(`The policy "${name}" of the pack ${where} needs the property "${missing}": set it in the policy configuration.`);
        const level = own.level ?? all.level ?? fromLevel(initial?.getEnforcementlevel() ?? policy.getEnforcementlevel());
        return [name, { level, properties }];
    }));
}

function readSettings(name: string, value: unknown): { level?: EnforcementLevel; properties: JsonObject } {
    if (value === undefined) return { properties: {} };
    const { enforcementLevel, ...properties } = isMap(value) ? value : { enforcementLevel: value };
    if (enforcementLevel === undefined) return { properties: properties as JsonObject };
    if (!isLevel(enforcementLevel)) throw usageError(`The policy configuration of "${name}" has the level ${JSON.stringify(enforcementLevel)}: a level is advisory, mandatory, remediate or disabled.`);
    return { level: enforcementLevel, properties: properties as JsonObject };
}

function defaultsOf(declared: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(declared).flatMap(([key, schema]): [string, Json][] => {
        const value = isMap(schema) ? (schema["default"]) : undefined;
        return value === undefined ? [] : [[key, value]];
    }));
}
