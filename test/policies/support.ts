// What the tests of the policies share: resources as the SDK hands them over, and judging in this process.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import * as sdkProxy from "@pulumi/policy/proxy";
import { readCatalogue } from "../../policies/catalogue-pools";
import { Catalogues, type ReadCatalogue, stackOf } from "../../policies/catalogues";
import { configSchema } from "../../policies/configuration";
import { fixesOf, judge } from "../../policies/judge";
import { Mesh } from "../../policies/mesh";
import { type Resource, meshObjects } from "../../policies/objects";
import { type Fix, type Level, type Rule, formatFinding, formatUnjudged } from "../../policies/rule";
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
    readonly environment?: string;
    /** The Pulumi types of the manifests, where they are not what the manifests say. */
    readonly types?: readonly string[];
}

/** The day on which tests judge. */
export const NOW = new Date("2026-11-30T12:00:00Z");

/** What one rule says of resources, as texts. */
export interface Judgement {
    readonly violations: readonly { readonly message: string; readonly level?: Level }[];
    readonly unjudged: readonly string[];
    readonly exempted: readonly string[];
    readonly problems: readonly string[];
    readonly fixes: readonly Fix[];
}

export function catalogues(read: ReadCatalogue = readCatalogue): Catalogues {
    return new Catalogues(read, [process.cwd()]);
}

const takenBy = new WeakMap<Rule, ReadonlySet<string>>();

/** The part of a configuration that a rule takes. */
export function propertiesFor(rule: Rule, configuration: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const keys = Object.keys(configuration);
    if (keys.length === 0) return {};
    let taken = takenBy.get(rule);
    if (taken === undefined) takenBy.set(rule, taken = new Set(Object.keys(configSchema(rule.configuration).properties)));
    return Object.fromEntries(Object.entries(configuration).filter(([key]) => taken.has(key)));
}

/** What one rule says of resources; each rule gets the properties of a configuration that it takes. */
export function judgeWith(rule: Rule, resources: Resource | readonly Resource[], options: JudgeOptions = {}): Judgement {
    const all = [resources].flat();
    return judgeMesh(rule, new Mesh(all.flatMap(meshObjects)), stackOf(all[0]?.urn ?? ""), options);
}

function judgeMesh(rule: Rule, mesh: Mesh, stack: string, { configuration = {}, readCatalogue: read, environment }: JudgeOptions): Judgement {
    const judgement = judge(rule, mesh, propertiesFor(rule, configuration), { catalogues: catalogues(read), now: NOW, stack, environment });
    return {
        violations: judgement.findings.map(({ object, finding }) => ({ message: formatFinding(rule, object, finding), level: finding.level })),
        unjudged: judgement.unjudged.map(({ object, note }) => formatUnjudged(rule, object, note)),
        exempted: judgement.exempted.map(({ object, reason }) => `${object.label}: ${reason}`),
        problems: judgement.problems,
        fixes: fixesOf(judgement),
    };
}

/** By message, that is by code. */
export function inOrder<T extends { readonly message: string }>(findings: readonly T[]): T[] {
    return [...findings].sort((one, other) => (one.message < other.message ? -1 : one.message > other.message ? 1 : 0));
}

/** What all rules say of manifests that are judged together, by code. */
export function findingsOf(manifests: Manifest | readonly Manifest[], options: JudgeOptions = {}): ExpectedFinding[] {
    const mesh = new Mesh([manifests].flat().map((manifest, index) => resourceOf(manifest, options.types?.[index])).flatMap(meshObjects));
    return inOrder(RULES.flatMap((rule) => judgeMesh(rule, mesh, "dev", options).violations.map(({ message, level = rule.level }) => ({ policy: rule.name, level, message }))));
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
    /** The stack's name, which E601 goes by. Default dev. */
    readonly environment: string;
    readonly findings: readonly ExpectedFinding[];
}

const FIXTURES = path.join(__dirname, "../fixtures");

/** The fixtures of rules: `CODE-what.yaml` with `CODE-what.expected.yaml` beside it. */
export function fixtures(side: "valid" | "invalid"): readonly Fixture[] {
    return (read[side] ??= readFixtures(side));
}

const read: Partial<Record<"valid" | "invalid", readonly Fixture[]>> = {};

function readFixtures(side: "valid" | "invalid"): readonly Fixture[] {
    const folder = path.join(FIXTURES, side);
    const files = readdirSync(folder).filter((name) => /^E\d{3}-.*(?<!\.expected)\.yaml$/.test(name)).sort();
    return files.map((file) => {
        const manifests = parseAllDocuments(readFileSync(path.join(folder, file), "utf8")).map((document) => document.toJS() as Manifest);
        const beside = path.join(folder, file.replace(/\.yaml$/, ".expected.yaml"));
        const expected = (existsSync(beside) ? parse(readFileSync(beside, "utf8")) ?? {} : {}) as Partial<Fixture>;
        return { file, manifests, configuration: expected.configuration ?? {}, environment: expected.environment ?? "dev", findings: expected.findings ?? [] };
    });
}

/** ACCEPT=1 npx mocha test/policies/fixtures.test.ts: the findings of today become the expected ones. */
export function accept(side: "valid" | "invalid", { file, configuration, environment }: Fixture, findings: readonly ExpectedFinding[]): void {
    const expected = { ...(Object.keys(configuration).length === 0 ? {} : { configuration }), ...(environment === "dev" ? {} : { environment }), ...(side === "valid" ? {} : { findings }) };
    const text = Object.keys(expected).length === 0 ? "" : stringify(expected, { lineWidth: 0 });
    writeFileSync(path.join(FIXTURES, side, file.replace(/\.yaml$/, ".expected.yaml")), `# What the rules say of ${file}, all of them together${side === "valid" ? ": nothing" : ""}.\n${text}`);
}
