// The JSON Schema of catalogue files, for editors: made from the model's schema, so that the two cannot drift apart.
import { z } from "zod";
import { declarationSchema } from "../model/declaration";
import type { Path } from "../model/problem";
import { MAX_NAME_LENGTH, NAME_PATTERN } from "./sections";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

const NAME: JsonSchema = { type: "string", pattern: NAME_PATTERN.source, maxLength: MAX_NAME_LENGTH };

/**
 * The schema of a catalogue file, draft-07 since editors' YAML language servers know it best. No property is required,
 * since defaults or an extended file may give it, and null removes one; what is missing after the merge only the
 * library can tell.
 */
export function catalogueJsonSchema(): JsonSchema {
    const declaration = declarationJsonSchema(), { gateway, ...properties } = propertiesOf(declaration);
    const gatewayName = {
        ...NAME,
        description: "The name of a gateway of this file's gateways, or of those of the files that it extends. A default one is not for hosts with route direct.",
    };
    return {
        $schema: "http://json-schema.org/draft-07/schema#",
        title: "Catalogue of external hosts",
        description: "The external hosts of one environment, each a declaration, with the gateways that carry them.",
        type: "object",
        additionalProperties: false,
        properties: {
            extends: { type: "string", minLength: 1, description: "The catalogue file that this one changes, relative to this file. Maps merge, lists and values replace, null removes." },
            gateways: named("The gateways that declarations name.", "gateway"),
            defaults: { allOf: [{ $ref: "#/definitions/declaration" }], description: "What every declaration has that does not say otherwise." },
            hosts: named("The declarations, by their names. A name is stable: objects are named after it.", "declaration"),
        },
        definitions: {
            declaration: mergeable({ ...declaration, properties: { ...properties, gateway: gatewayName } }),
            gateway: mergeable(gateway ?? {}),
        },
    } as JsonSchema;
}

/** The text of catalogue.schema.json. */
export function catalogueSchemaText(): string {
    return `${JSON.stringify(catalogueJsonSchema(), null, 2)}\n`;
}

/** Tells whether a path lies within what the model's schema of a declaration knows. */
export function knownProperties(): (path: Path) => boolean {
    const declaration = declarationJsonSchema();
    return (path) => {
        let schema: unknown = declaration;
        for (const step of path) {
            const { items, additionalProperties } = schema as JsonSchema;
            const properties = propertiesOf(schema as JsonSchema);
            schema = typeof step === "number" ? items : (properties[step] ?? additionalProperties);
            if (schema === false) return false;
            // Anything may lie below what is not described.
            if (schema === undefined || schema === true) return true;
        }
        return true;
    };
}

function declarationJsonSchema(): JsonSchema {
    return z.toJSONSchema(declarationSchema, { io: "input", target: "draft-7" });
}

function named(description: string, definition: string): unknown {
    return {
        type: ["object", "null"], description, propertyNames: NAME,
        additionalProperties: { $ref: `#/definitions/${definition}` },
    };
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
    return (schema.properties ?? {}) as Record<string, JsonSchema>;
}

/** A schema of which several files may each say a part: nothing is required, null removes. Lists replace as a whole. */
function mergeable(schema: JsonSchema): JsonSchema {
    const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== "required" && keyword !== "$schema")) as JsonSchema;
    const properties = Object.fromEntries(Object.entries(propertiesOf(rest)).map(([name, property]) => [name, mergeable(property)]));
    const isMap = rest.type === "object", { additionalProperties } = rest;
    return {
        ...rest,
        ...(rest.type === undefined ? {} : { type: [rest.type, "null"].flat() }),
        ...(rest.enum === undefined ? {} : { enum: [...rest.enum, null] }),
        ...(rest.properties === undefined ? {} : { properties }),
        ...(isMap && typeof additionalProperties === "object" ? { additionalProperties: mergeable(additionalProperties) } : {}),
    } as JsonSchema;
}
