// The provider functions that a program may call in a preview without any provider.
import { parseAllDocuments } from "yaml";
import type { Json, JsonObject } from "./types";

/** @param outputs the outputs of all resources registered so far, by URN */
export function callFunction(token: string, args: JsonObject, outputs: ReadonlyMap<string, JsonObject>): JsonObject {
    switch (token) {
        case "pulumi:pulumi:getResource": return getResource(textOf(args["urn"]), outputs);
        case "kubernetes:yaml:decode": return { result: decodeYaml(args) };
        default: throw new Error(`The embedded engine runs no providers, so ${token} cannot be called: use \`pulumi preview\` for this program.`);
    }
}

function getResource(urn: string, outputs: ReadonlyMap<string, JsonObject>): JsonObject {
    const state = outputs.get(urn);
    if (state === undefined) throw new Error(`There is no resource ${urn} in this program.`);
    return { urn, id: "", state };
}

/** What the Kubernetes provider makes of YAML text: its objects, lists taken apart, with the default namespace if one is given. */
function decodeYaml(args: JsonObject): JsonObject[] {
    const documents = parseAllDocuments(textOf(args["text"]));
    const objects = "empty" in documents ? [] : documents.flatMap((document) => {
        const [error] = document.errors;
        if (error !== undefined) throw new Error(`The YAML text is not valid: ${error.message}`);
        return items(document.toJS() as Json);
    });
    const namespace = args["defaultNamespace"];
    if (typeof namespace !== "string" || namespace === "") return objects;
    return objects.map((object) => ({ ...object, metadata: { namespace, ...(object["metadata"] as JsonObject | undefined) } }));
}

function items(value: Json): JsonObject[] {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
    const list = value["items"];
    return textOf(value["kind"]).endsWith("List") && Array.isArray(list) ? list.flatMap(items) : [value];
}

function textOf(value: Json | undefined): string {
    return typeof value === "string" ? value : "";
}
