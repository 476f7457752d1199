// What the tests of the policies share: resources as the SDK hands them over, and judging in this process.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments } from "yaml";
import * as sdkProxy from "@pulumi/policy/proxy";
import { readCatalogue } from "../../policies/catalogue-pools";
import { Catalogues, type ReadCatalogue } from "../../policies/catalogues";
import { type Judgement, judge } from "../../policies/judge";
import type { Resource } from "../../policies/objects";
import type { Rule } from "../../policies/rule";
import { RULES } from "../../policies/rules";

export interface Manifest {
    apiVersion: string;
    kind: string;
    metadata?: Record<string, unknown>;
    spec?: Record<string, unknown>;
    [key: string]: unknown;
}

/** How a fixture or a test names a finding. */
export interface ExpectedFinding {
    policy: string;
    level: string;
    message: string;
}

/** A generic CustomResource with these inputs, behind the proxy that the SDK puts before a policy. */
export function resourceOf(manifest: Manifest, type = `kubernetes:${manifest.apiVersion}:${manifest.kind}`, stack = "dev"): Resource {
    return { type, name: "resource", urn: `urn:pulumi:${stack}::project::${type}::resource`, props: behindProxy(manifest) };
}

/** The SDK's own proxy, not part of its documented API: each read of an unknown value throws. */
export function behindProxy(props: object): unknown {
    return (sdkProxy as unknown as { unknownCheckingProxy(target: object): unknown }).unknownCheckingProxy(props);
}

export interface JudgeOptions {
    readonly configuration?: Readonly<Record<string, unknown>>;
    readonly readCatalogue?: ReadCatalogue;
}

export function catalogues(read: ReadCatalogue = readCatalogue): Catalogues {
    return new Catalogues(read, [process.cwd()]);
}

/** What one rule says of a resource; a configuration goes to the rules that take its properties. */
export function judgeWith(rule: Rule, resource: Resource, { configuration = {}, readCatalogue: read }: JudgeOptions = {}): Judgement {
    const takesPools = rule.configuration.safeParse(configuration).success;
    return judge(rule, resource, takesPools ? configuration : {}, catalogues(read));
}

/** What all rules say of a manifest, in their order. */
export function findingsOf(manifest: Manifest, options: JudgeOptions = {}): ExpectedFinding[] {
    return RULES.flatMap((rule) => judgeWith(rule, resourceOf(manifest), options).violations
        .map(({ message, level = rule.level }) => ({ policy: rule.name, level, message })));
}

export function ruleOf(code: string): Rule {
    const rule = RULES.find((candidate) => candidate.code === code);
    if (rule === undefined) throw new Error(`There is no rule ${code}.`);
    return rule;
}

export interface Fixture {
    readonly file: string;
    readonly manifests: readonly Manifest[];
    readonly configuration: Readonly<Record<string, unknown>>;
    readonly findings: readonly ExpectedFinding[];
}

const FIXTURES = path.join(__dirname, "../fixtures");

/** The fixtures of rules: `CODE-what.yaml` with `CODE-what.expected.yaml` beside it. */
export function fixtures(side: "valid" | "invalid"): readonly Fixture[] {
    const folder = path.join(FIXTURES, side);
    const files = readdirSync(folder).filter((name) => /^E\d{3}-.*(?<!\.expected)\.yaml$/.test(name)).sort();
    return files.map((file) => {
        const manifests = parseAllDocuments(readFileSync(path.join(folder, file), "utf8")).map((document) => document.toJS() as Manifest);
        const expected = parse(readFileSync(path.join(folder, file.replace(/\.yaml$/, ".expected.yaml")), "utf8")) as Partial<Fixture>;
        return { file, manifests, configuration: expected.configuration ?? {}, findings: expected.findings ?? [] };
    });
}
