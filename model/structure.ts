// The structural check: zod's issues over a schema, as problems in this project's words.
import { z } from "zod";
import { DURATION_PATTERN } from "./duration";
import { nearest } from "./nearest";
import { type Path, Problems, type Problem, show } from "./problem";

/** Names that users ask for and that are not supported yet, with the reason, by the enum's property. */
const NOT_YET: Readonly<Record<string, readonly string[]>> = { route: ["ambient", "waypoint", "gateway-api"] };

export type Structure<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks `raw` against a schema; every issue becomes one problem, in the schema's order. */
export function checkStructure<T>(schema: z.ZodType<T>, raw: unknown): Structure<T> {
    const result = schema.safeParse(raw);
    if (result.success) return { ok: true, value: result.data };
    const problems = new Problems();
    for (const issue of result.error.issues) addIssue(problems, schema, raw, issue);
    return { ok: false, problems: problems.list };
}

function addIssue(problems: Problems, schema: z.ZodType, raw: unknown, issue: z.core.$ZodIssue): void {
    const path = issue.path.filter((key) => typeof key !== "symbol");
    const value = valueAt(raw, path);
    if (issue.code === "unrecognized_keys") {
        const known = Object.keys(shapeOf(schemaAt(schema, path)));
        for (const key of issue.keys) {
            const near = nearest(key, known);
            problems.add([...path, key], `is not a property of ${describeParent(path)}: ${near === undefined ? `use one of ${known.join(", ")}` : `did you mean ${near}?`}`);
        }
        return;
    }
    const field = schemaAt(schema, path), description = descriptionOf(field);
    if (value === undefined) problems.add(path, `is missing${description === undefined ? "." : `: ${description}`}`);
    else problems.add(path, `is ${show(value)}, but ${expectation(issue, path, value)}.${description === undefined ? "" : ` ${description}`}`);
}

/** `pool`, or `an entry of ports`. */
function describeParent(path: Path): string {
    const [last] = path.slice(-1);
    if (last === undefined) return "a declaration";
    return typeof last === "number" ? `an entry of ${String(path.at(-2))}` : last;
}

function expectation(issue: z.core.$ZodIssue, path: Path, value: unknown): string {
    switch (issue.code) {
        case "invalid_type": return `must be ${article(issue.expected)}`;
        case "invalid_value": {
            const options = `must be one of ${issue.values.map((option) => show(option)).join(", ")}`;
            const property = path.at(-1);
            return typeof property === "string" && typeof value === "string" && NOT_YET[property]?.includes(value) === true ? `that is not supported yet (sidecar mode only): it ${options}` : options;
        }
        case "too_small": return issue.origin === "array" ? "must have at least one entry" : issue.origin === "string" ? "must not be empty" : `must be ${String(issue.minimum)} or more`;
        case "too_big": return `must be ${String(issue.maximum)} or less`;
        case "invalid_format": return "pattern" in issue && issue.pattern === DURATION_PATTERN.toString()
            ? 'must be a Go duration such as "10s", "250ms" or "1m30s"'
            : "pattern" in issue ? `must match ${String(issue.pattern)}` : `must be a ${issue.format}`;
        case "custom": return "must not be empty";
        default: return issue.message;
    }
}

function article(type: string): string {
    const names: Readonly<Record<string, string>> = { int: "a whole number", number: "a number", string: "a text", boolean: "true or false", array: "a list", object: "a map", record: "a map" };
    return names[type] ?? `a ${type}`;
}

/** The description of a property in a schema. */
export function describeIn(schema: z.ZodType, path: Path): string | undefined {
    return descriptionOf(schemaAt(schema, path));
}

function valueAt(raw: unknown, path: Path): unknown {
    return path.reduce<unknown>((value, key) => (typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[key] : undefined), raw);
}

/** Steps through optional and default wrappers to the schema itself. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
    let inner = schema;
    while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap();
    return inner;
}

function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType | undefined {
    return path.reduce<z.core.$ZodType | undefined>((outer, key) => {
        if (outer === undefined) return undefined;
        const inner = unwrap(outer);
        if (inner instanceof z.ZodObject) return (inner.shape as Record<string, z.core.$ZodType>)[key];
        if (inner instanceof z.ZodArray) return inner.element;
        if (inner instanceof z.ZodRecord) return inner.valueType;
        return undefined;
    }, schema);
}

function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, unknown>> {
    const inner = schema === undefined ? undefined : unwrap(schema);
    return inner instanceof z.ZodObject ? (inner.shape) : {};
}

function descriptionOf(schema: z.core.$ZodType | undefined): string | undefined {
    if (schema === undefined) return undefined;
    return z.globalRegistry.get(schema)?.description ?? z.globalRegistry.get(unwrap(schema))?.description;
}
