// The configuration of a policy: zod schemas, the form in which Pulumi's engine wants them, and reading what it hands over.
import type { PolicyConfigSchema } from "@pulumi/policy";
import { z } from "zod";
import { DURATION_PATTERN } from "../model/duration";
import { formatPath, show } from "../model/problem";
import { MAX_ADDRESSES_PER_ANSWER, Membership } from "../model/resolution";

const hostPool = z.strictObject({
    host: z.string().regex(/^(\*\.)?[^*\s]+$/).describe("A host, or *.partner.example for every host below a name. An exact name counts before a pattern, then the first counts."),
    membership: z.enum(Membership).describe("fixed where an address that is missing from a DNS answer is a failover signal, rotating where it only was not drawn."),
    addressesPerAnswer: z.int().min(1).max(MAX_ADDRESSES_PER_ANSWER).optional().describe("How many addresses one DNS answer holds, A and AAAA together."),
    lossWindow: z.string().regex(DURATION_PATTERN).optional().describe("How long the GSLB and DNS take to answer another address: a Go duration such as 15s."),
});

/** For rules that depend on the pool behind a host. */
export const poolConfiguration = z.strictObject({
    pools: z.array(hostPool).default([]).describe("What is known of pools, for objects whose own annotations do not say it."),
    catalogue: z.string().min(1).optional()
        .describe("The catalogue of the environment, matched by host, for objects that neither annotations nor pools cover; {stack} stands for the stack's name."),
});
export type PoolConfiguration = z.output<typeof poolConfiguration>;

/** For rules about what is missing: whether what is not here may be elsewhere. */
export const wholeConfiguration = z.strictObject({
    objects: z.enum(["some", "all"]).default("some")
        .describe("all where the objects at hand are all that there are, so that a missing one is a finding; with some it may be in another stack, and is not judged."),
});
export type WholeConfiguration = z.output<typeof wholeConfiguration>;

/** For rules that hold whatever the pool. */
export const noConfiguration = z.strictObject({});

/** The schema as the engine checks it, before any policy runs; unknown keys are left to `readConfiguration`. */
export function configSchema(schema: z.ZodType): PolicyConfigSchema {
    // JSON Schema by another name: the SDK's type lists the same keywords.
    const { properties = {}, required } = z.toJSONSchema(schema, { target: "draft-7", io: "input" }) as Partial<PolicyConfigSchema>;
    return { properties, ...(required === undefined ? {} : { required }) };
}

type ConfigurationResult<Settings> =
    | { readonly ok: true; readonly settings: Settings }
    | { readonly ok: false; readonly problem: string };

/** What is wrong names the policy, the property, the value and what is expected there. */
export function readConfiguration<Settings>(policy: string, schema: z.ZodType<Settings>, given: unknown): ConfigurationResult<Settings> {
    const result = schema.safeParse(given);
    if (result.success) return { ok: true, settings: result.data };
    const problems = result.error.issues.map((issue) => describeIssue(issue, given));
    return { ok: false, problem: `Configuration of the policy ${policy}: ${problems.join("; ")}. Correct it in the policy pack's configuration; until then the pools that it names are unknown.` };
}

function describeIssue(issue: z.core.$ZodIssue, given: unknown): string {
    const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
    if (issue.code === "unrecognized_keys") {
        const where = path.length === 0 ? "" : ` in ${formatPath(path)}`;
        return `${issue.keys.map((key) => `"${key}"`).join(", ")}${where} is no property of it`;
    }
    const value = path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? (at as Record<string | number, unknown>)[key] : undefined), given);
    return `${formatPath(path)} is ${value === undefined ? "missing" : show(value)}: ${issue.message}`;
}
