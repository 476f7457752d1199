// What the admission forms of the rules about ServiceEntries share.
import { type Cel, distinct, normalised } from "./cel";
import { POOL_VARIABLES } from "./pool";

export const ENTRY_VARIABLES: readonly (readonly [string, Cel])[] = [
    ...POOL_VARIABLES,
    ["resolution", "object.spec.?resolution.orValue('')"],
    ["hosts", distinct(`object.spec.?hosts.orValue([]).map(n, ${normalised("n")})`)],
    ["ports", "object.spec.?ports.orValue([])"],
    ["endpoints", "object.spec.?endpoints.orValue([])"],
    ["isExternal", "object.spec.?location.orValue('MESH_EXTERNAL') == 'MESH_EXTERNAL' && !has(object.spec.workloadSelector)"],
];

export const EXAMPLE_HOST = "entry.example.invalid";

/** A ServiceEntry, for the texts of findings. */
export function entryOf(spec: object, annotations: Readonly<Record<string, string>> = {}): object {
    return { apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "example", namespace: "example", annotations }, spec: { hosts: [EXAMPLE_HOST], ...spec } };
}
