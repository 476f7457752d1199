// Reading values of unknown shape: of meshConfig, and of the specs of objects that others wrote.
import { EVERYWHERE } from "../../../model/preflight";
import { isMap } from "../../plain";
import type { MeshConfig, Snapshot } from "../snapshot";

export type Values = Readonly<Record<string, unknown>>;

/** The mesh-wide default of an exportTo; what istiod takes where it is not known. */
export function exportDefault(meshes: readonly MeshConfig[], field: "defaultServiceExportTo" | "defaultVirtualServiceExportTo" | "defaultDestinationRuleExportTo"): readonly string[] {
    for (const { config } of meshes) {
        const words = config.seen ? strings(config.value?.[field]) : [];
        if (words.length > 0) return words;
    }
    return EVERYWHERE;
}

/** The namespace whose objects count for the whole mesh. */
export function rootNamespace({ meshes, istioNamespace }: Pick<Snapshot, "meshes" | "istioNamespace">): string {
    for (const { config } of meshes) {
        const root = config.seen ? text(config.value?.["rootNamespace"]) : undefined;
        if (root !== undefined && root !== "") return root;
    }
    return istioNamespace;
}

/** The strings of a list; none for anything else. */
export function strings(value: unknown): readonly string[] {
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

/** The maps of a list; none for anything else. */
export function maps(value: unknown): readonly Values[] {
    return Array.isArray(value) ? value.filter(isMap) : [];
}

export function text(value: unknown): string | undefined {
    return typeof value === "string" ? value : undefined;
}

/** A map's values; empty for anything else. */
export function mapOf(value: unknown): Values {
    return isMap(value) ? value : {};
}
