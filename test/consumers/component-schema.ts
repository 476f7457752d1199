// The schema that the component provider serves: what Pulumi's own analyzer makes of the entry point, with one adaptation.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Analyzer } from "@pulumi/pulumi/provider/experimental/analyzer";
import { generateSchema } from "@pulumi/pulumi/provider/experimental/schema";
import * as components from "../../components";
import { repository } from "../../tools/support/places";

interface Property { readonly $ref?: string; readonly items?: Property; readonly additionalProperties?: Property }
type Properties = Readonly<Record<string, Property>>;
interface Resource { readonly inputProperties: Properties; readonly properties: Properties }
interface ComplexType { readonly type: string; readonly enum?: readonly { readonly value: unknown }[]; readonly properties?: Properties }
interface Schema { readonly resources: Readonly<Record<string, Resource>>; readonly types: Readonly<Record<string, ComplexType>> }

const PREFIX = "#/types/";

/** Without its version: the provider adds the package's. */
export function componentSchema(): Schema {
    // A project of the entry point alone, since the analyzer compiles all that the tsconfig.json beside it includes.
    const folder = path.join(repository, "out/analyzer");
    mkdirSync(folder, { recursive: true });
    const entry = path.relative(folder, path.join(repository, "index.ts"));
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", files: [entry], include: [] }));
    const { description } = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as { description: string };
    const names = Object.entries(components).filter(([, exported]) => typeof exported === "function").map(([name]) => name);
    const found = new Analyzer(folder, "istio-egress", { name: "istio-egress", main: entry }, new Set(names)).analyze();
    const schema = generateSchema("istio-egress", "", description, found.components, found.typeDefinitions, found.dependencies);
    return plainOutputs(JSON.parse(JSON.stringify({ ...schema, version: undefined })) as Schema);
}

/**
 * Enums in outputs become what they are made of: Pulumi YAML assigns a value of an enum's type to nothing, not even to the
 * same enum, so that `${gateway.reference}` would not be taken as a host's gateway.
 */
function plainOutputs(schema: Schema): Schema {
    const inputs = reachable(schema, Object.values(schema.resources).map(({ inputProperties }) => inputProperties));
    const outputs = reachable(schema, Object.values(schema.resources).map(({ properties }) => properties));
    const plain = (properties: Properties): Properties => Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, withoutEnums(schema, property)]));
    return {
        ...schema,
        resources: Object.fromEntries(Object.entries(schema.resources).map(([name, resource]) => [name, { ...resource, properties: plain(resource.properties) }])),
        types: Object.fromEntries(Object.entries(schema.types).map(([name, type]) => {
            const isOutput = outputs.has(name) && type.properties !== undefined;
            if (isOutput && inputs.has(name)) throw new Error(`${name} is the type of an input and of an output: give the output an interface of its own.`);
            return [name, isOutput ? { ...type, properties: plain(type.properties ?? {}) } : type];
        })),
    };
}

function withoutEnums(schema: Schema, { $ref, ...property }: Property): Property {
    const named = $ref === undefined ? undefined : schema.types[$ref.slice(PREFIX.length)];
    return {
        ...(named?.enum === undefined ? ($ref === undefined ? {} : { $ref }) : { type: named.type }),
        ...property,
        ...(property.items === undefined ? {} : { items: withoutEnums(schema, property.items) }),
        ...(property.additionalProperties === undefined ? {} : { additionalProperties: withoutEnums(schema, property.additionalProperties) }),
    };
}

/** The names of all types that properties lead to. */
function reachable(schema: Schema, from: readonly Properties[]): ReadonlySet<string> {
    const found = new Set<string>();
    const visit = (property: Property | undefined): void => {
        if (property === undefined) return;
        visit(property.items);
        visit(property.additionalProperties);
        const name = property.$ref?.slice(PREFIX.length);
        if (name === undefined || found.has(name)) return;
        found.add(name);
        Object.values(schema.types[name]?.properties ?? {}).forEach(visit);
    };
    from.flatMap((properties) => Object.values(properties)).forEach(visit);
    return found;
}
