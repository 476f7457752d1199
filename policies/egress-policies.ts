// The pack as one class, for teams that build their own: levels and properties in code, more rules, more policies.
import { createRequire } from "node:module";
import type { Policies, PolicyPackArgs, PolicyPackConfig } from "@pulumi/policy";
import { type Levels, checkLevelNames } from "./levels";
import { PACK_NAME, type PackOptions, policyPackArgs } from "./pack";
import { RULES } from "./rules";

export interface EgressPoliciesOptions extends PackOptions {
    /** The pack's name. Default istio-egress. */
    readonly name?: string;
    /** Policies of your own, beside those of the rules. */
    readonly policies?: Policies;
}

/**
 * Constructs the pack, and so starts its server: an entry point's only statement.
 *
 * ```ts
 * new EgressPolicies({ all: "mandatory", "logical-dns-on-small-pool": { enforcementLevel: "advisory", catalogue: "catalogue/{stack}.yaml" } });
 * ```
 *
 * `levels` is what each environment starts from: `--policy-pack-config` may still change it.
 *
 * @throws when a name is neither `all` nor a policy's
 */
export class EgressPolicies {
    constructor(levels: Levels = {}, { name = PACK_NAME, policies = [], ...options }: EgressPoliciesOptions = {}) {
        checkLevelNames("EgressPolicies", options.rules ?? RULES, levels, ["all", ...policies.map((policy) => policy.name)]);
        const args = policyPackArgs(options);
        const { PolicyPack } = createRequire(__filename)("@pulumi/policy") as { PolicyPack: new (name: string, args: PolicyPackArgs, initial?: PolicyPackConfig) => unknown };
        new PolicyPack(name, { ...args, policies: [...args.policies, ...policies] }, levels);
    }
}
