// The audit: files or a cluster in, what the rules say of them out. Rules and messages are those of the policy pack.
import { readCatalogue } from "../../policies/catalogue-pools";
import { Catalogues } from "../../policies/catalogues";
import { type JudgeOptions, type JudgedFinding, type JudgedNote, judgeObjects } from "../../policies/judge";
import { type Levels, levelOf } from "../../policies/levels";
import type { MeshObject } from "../../policies/objects";
import type { HostPool } from "../../policies/pools";
import { type Rule, isSetRule } from "../../policies/rule";
import type { Baseline } from "./baseline";
import type { ClusterReading, ClusterRequest } from "./cluster";
import { Locator } from "./locate";
import { type ReadObject, type ReadOptions, type Reading, type Written, readPaths } from "./read";
import type { AuditFinding, AuditNote, AuditReport, AuditedObject, FailOn, Location } from "./report";

export interface AuditRequest {
    readonly input: { readonly kind: "paths"; readonly paths: readonly string[]; readonly options: ReadOptions } | { readonly kind: "cluster"; readonly request: ClusterRequest };
    readonly rules: readonly Rule[];
    /** Levels and properties by policy name, in the format of `--policy-pack-config`. */
    readonly configuration: Levels;
    readonly pools: readonly HostPool[];
    readonly environment?: string;
    readonly failOn: FailOn;
    readonly baseline?: Baseline;
    readonly now: Date;
}

export async function audit(request: AuditRequest): Promise<AuditReport> {
    const { input, rules, configuration, failOn, baseline } = request, reading = await read(input);
    const judged = judgeAll(reading, request), places = new Places(reading.objects);
    const findings = judged.findings.map((finding) => {
        const note = places.note(finding);
        return findingOf(note, finding, baseline?.takes(note) ?? false);
    });
    const exempted = judged.exempted.map((finding) => ({ ...findingOf(places.note(finding), finding, false), reason: finding.reason, until: finding.until }));
    return {
        findings, exempted, failOn,
        unjudged: judged.unjudged.map((note) => places.note(note)),
        problems: [...reading.problems, ...judged.problems.map((text) => ({ file: "configuration", text }))],
        notices: judged.notices, objects: reading.objects.map(({ object }) => places.object(object)), read: reading.total, files: reading.sources.length,
        rules: rules.flatMap((rule) => {
            const level = levelOf(rule, configuration);
            return level === "disabled" ? [] : [{ code: rule.code, name: rule.name, level, severity: rule.severity, description: rule.description, remediation: rule.remediation }];
        }),
        gone: baseline?.gone ?? 0,
    };
}

function findingOf({ code, name, object, path, field, text, message, location }: AuditNote, { level, severity }: JudgedFinding, known: boolean): AuditFinding {
    return { code, name, object, path, field, text, message, location, level, severity, known };
}

async function read(input: AuditRequest["input"]): Promise<Reading & Partial<Pick<ClusterReading, "mesh">>> {
    if (input.kind === "paths") return readPaths(input.paths, input.options);
    const { readCluster } = await import("./cluster.js");
    return readCluster(input.request);
}

interface AllJudged {
    readonly findings: readonly JudgedFinding[];
    readonly unjudged: readonly JudgedNote[];
    readonly exempted: ReturnType<typeof judgeObjects>["exempted"];
    readonly problems: readonly string[];
    readonly notices: readonly string[];
}

/**
 * All objects together, since many rules are about what they say of each other. An object that is written several times can
 * exist once only: the last one counts for what is said together, as it does for `kubectl apply`, and each is judged by itself.
 */
function judgeAll(reading: Reading & Partial<Pick<ClusterReading, "mesh">>, { rules, configuration, pools, environment, now }: AuditRequest): AllJudged {
    const { last, before, notices } = byIdentity(reading.objects);
    const options: JudgeOptions = { rules, configuration, catalogues: new Catalogues(readCatalogue, [process.cwd()]), pools, now, ...(environment === undefined ? {} : { environment, stack: environment }), ...reading.mesh };
    const together = judgeObjects(last, options);
    if (before.length === 0) return { ...together, notices };
    const alone = judgeObjects(before, { ...options, rules: rules.filter((rule) => !isSetRule(rule)) }), order = new Map(reading.objects.map(({ object }, index) => [object, index]));
    const merge = <T extends { readonly object: MeshObject }>(one: readonly T[], other: readonly T[]): readonly T[] => [...one, ...other].sort((a, b) => (order.get(a.object) ?? 0) - (order.get(b.object) ?? 0));
    return {
        findings: merge(together.findings, alone.findings), unjudged: merge(together.unjudged, alone.unjudged), exempted: merge(together.exempted, alone.exempted),
        problems: [...new Set([...together.problems, ...alone.problems])], notices,
    };
}

function byIdentity(objects: readonly ReadObject[]): { readonly last: readonly MeshObject[]; readonly before: readonly MeshObject[]; readonly notices: readonly string[] } {
    const groups = new Map<unknown, ReadObject[]>();
    for (const one of objects) {
        const { name, namespace, kind, apiVersion, isPatch } = one.object;
        // What has no name yet is nobody else's.
        const key = typeof name !== "string" || typeof namespace !== "string" || isPatch ? one : [apiVersion.slice(0, Math.max(apiVersion.indexOf("/"), 0)), kind, namespace, name].join("\n");
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [one]);
        else group.push(one);
    }
    const twice = [...groups.values()].filter((group) => group.length > 1), places = (group: readonly ReadObject[]): string => [...new Set(group.map(({ source, written }) => `${source}${written === undefined ? "" : `:${written.line}`}`))].join(", ");
    const notices = twice.slice(0, SHOWN_TWICE).map((group) => `${group[0]?.object.label ?? ""} is written ${group.length} times (${places(group)}), and a cluster can hold it once: each is judged by itself, the last one together with the other objects.`);
    if (twice.length > SHOWN_TWICE) notices.push(`${twice.length - SHOWN_TWICE} more objects are written several times: audit one environment at a time.`);
    return { last: [...groups.values()].flatMap((group) => group.at(-1)?.object ?? []), before: twice.flatMap((group) => group.slice(0, -1).map(({ object }) => object)), notices };
}

const SHOWN_TWICE = 3;

/** Its position is found when somebody asks: a text report shows no notes unless it is told to. */
class Note implements AuditNote {
    constructor(private readonly judged: JudgedFinding | JudgedNote, readonly object: AuditedObject, private readonly locate: (judged: JudgedFinding | JudgedNote) => Location) {}

    get code(): string {
        return this.judged.code;
    }

    get name(): string {
        return this.judged.name;
    }

    get path(): JudgedFinding["path"] {
        return this.judged.path;
    }

    get field(): string {
        return this.judged.field;
    }

    get text(): string {
        return this.judged.text;
    }

    get message(): string {
        return this.judged.message;
    }

    get location(): Location {
        return this.locate(this.judged);
    }
}

/** Where objects and their fields are; a text is parsed for positions when it has a first finding. */
class Places {
    private readonly read: ReadonlyMap<MeshObject, ReadObject>;
    private readonly objects = new Map<MeshObject, AuditedObject>();
    private readonly locators = new Map<Written, Locator>();

    constructor(objects: readonly ReadObject[]) {
        this.read = new Map(objects.map((one) => [one.object, one]));
    }

    object(object: MeshObject): AuditedObject {
        let known = this.objects.get(object);
        if (known === undefined) {
            // Spreading optional parts takes ten times as long, for thousands of objects.
            const { kind, name, namespace, label } = object;
            known = { kind, label, location: this.origin(object), name: typeof name === "string" ? name : undefined, namespace: typeof namespace === "string" && label.includes("/") ? namespace : undefined };
            this.objects.set(object, known);
        }
        return known;
    }

    note(judged: JudgedFinding | JudgedNote): AuditNote {
        return new Note(judged, this.object(judged.object), this.locate);
    }

    private readonly locate = ({ object, path }: JudgedFinding | JudgedNote): Location => {
        const read = this.read.get(object), origin = this.origin(object);
        if (read?.written === undefined) return origin;
        let locator = this.locators.get(read.written);
        if (locator === undefined) {
            locator = new Locator(read.written.text);
            this.locators.set(read.written, locator);
        }
        const region = locator.at(read.document, [...object.position, ...path]), above = read.written.line - 1;
        return { ...origin, region: { ...region, line: region.line + above, endLine: region.endLine + above } };
    };

    private origin(object: MeshObject): Location {
        const read = this.read.get(object), file = read?.source ?? "", template = read?.written?.template;
        return template === undefined ? { file } : { file, template };
    }
}
