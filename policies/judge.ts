// Runs one rule on one resource: configuration and pool knowledge in, violations out. No side effects but reading the catalogue.
import type { Catalogues } from "./catalogues";
import { type PoolConfiguration, readConfiguration } from "./configuration";
import { istioObjects, type IstioObject, type Resource } from "./objects";
import { type HostPool, Pools } from "./pools";
import { type Finding, type Level, type Rule, formatFinding } from "./rule";
import type { Path } from "../model";

interface Violation {
    readonly message: string;
    /** The finding's own level where it has one; otherwise the policy's, as configured. */
    readonly level?: Level;
}

export interface Judgement {
    readonly violations: readonly Violation[];
    /** What keeps the rule from knowing the pools: each is told once in a run, not once per resource. */
    readonly problems: readonly string[];
    /** Changes of the resource's properties that remove findings. */
    readonly fixes: readonly { readonly path: Path; readonly value: number }[];
}

const NOTHING: Judgement = { violations: [], problems: [], fixes: [] };

/** @param given the policy's configuration as the engine hands it over */
export function judge(rule: Rule, resource: Resource, given: unknown, catalogues: Catalogues): Judgement {
    const objects = istioObjects(resource).filter(({ kind }) => rule.kinds.includes(kind));
    if (objects.length === 0) return NOTHING;
    const problems: string[] = [];
    const context = contextOf(rule, resource, given, catalogues, problems);
    const found = objects.flatMap((object) => rule.check(object, context).map((finding) => ({ object, finding })));
    return {
        violations: found.map(({ object, finding }) => ({ message: formatFinding(rule, object, finding), level: finding.level })),
        problems,
        fixes: found.flatMap(({ object, finding }) => fixOf(object, finding)),
    };
}

/** With a broken configuration a rule goes on with its defaults, and hosts that only the configuration could name are unknown. */
function contextOf(rule: Rule, resource: Resource, given: unknown, catalogues: Catalogues, problems: string[]): { settings: unknown; pools: Pools } {
    const result = readConfiguration(rule.name, rule.configuration, given);
    if (!result.ok) {
        problems.push(result.problem);
        return { settings: rule.configuration.parse({}), pools: new Pools([], false) };
    }
    const { pools = [], catalogue } = result.settings as Partial<PoolConfiguration>;
    const sources: (readonly HostPool[])[] = [pools];
    if (catalogue === undefined) return { settings: result.settings, pools: new Pools(sources, true) };
    const read = catalogues.of(catalogue, resource.urn);
    if (read.ok) sources.push(read.pools);
    else problems.push(read.problem);
    return { settings: result.settings, pools: new Pools(sources, read.ok) };
}

function fixOf(object: IstioObject, finding: Finding): Judgement["fixes"] {
    return finding.fix === undefined ? [] : [{ path: [...object.position, ...finding.fix.path], value: finding.fix.value }];
}
