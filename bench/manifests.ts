// Manifests of many hosts as files, as the audit's benchmark reads them.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { manifestsOf } from "../manifests";
import { checkDeclaration } from "../model";
import { declarationOf } from "./hosts";

/** What `mtls-passthrough` takes with the whole mesh as consumers: ServiceEntry, two DestinationRules, Gateway and VirtualServices. */
export function manifestTexts(hosts: number): readonly string[] {
    return Array.from({ length: hosts }, (_, index) => {
        const result = checkDeclaration(declarationOf(index));
        if (!result.ok) throw new Error(JSON.stringify(result.problems));
        return manifestsOf(`host-${index}`, result.declaration).map(({ object }) => stringify(object, { aliasDuplicateObjects: false }));
    }).flat();
}

export interface ManifestFiles {
    readonly objects: number;
    readonly bytes: number;
    /** One file with all objects. */
    readonly one: string;
    /** A folder with a file for each object. */
    readonly many: string;
}

export function writeManifests(folder: string, hosts: number): ManifestFiles {
    const texts = manifestTexts(hosts), one = path.join(folder, `hosts-${hosts}.yaml`), many = path.join(folder, `hosts-${hosts}`);
    mkdirSync(many, { recursive: true });
    writeFileSync(one, texts.join("---\n"));
    for (const [index, text] of texts.entries()) writeFileSync(path.join(many, `${index}.yaml`), text);
    return { objects: texts.length, bytes: texts.reduce((sum, text) => sum + text.length, 0), one, many };
}
