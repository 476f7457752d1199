// What the other folders use of the catalogue: YAML → declarations with positions.
export type { CatalogueEntry } from "./declarations";
export { type CatalogueError, CatalogueFailure, formatErrors } from "./errors";
export { type Catalogue, type CatalogueResult, type LoadOptions, loadCatalogue, parseCatalogue } from "./load";
export { type Position, formatPosition } from "./position";
export { type Registry, type RegistryResult, isRegistered, parseRegistry, readRegistry, registryConflicts, withStack, withoutStack } from "./registry";
export { type JsonSchema, catalogueJsonSchema, catalogueSchemaText } from "./schema";
export type { ReadFile } from "./source";
