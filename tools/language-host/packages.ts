// Finds the npm packages that have a Pulumi resource plugin, so that the CLI knows which plugins a program needs.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { PackageDependency } from "@pulumi/pulumi/proto/plugin_pb";

interface Manifest {
    readonly version?: string;
    readonly pulumi?: { readonly resource?: boolean; readonly name?: string; readonly version?: string; readonly server?: string };
}

/** The packages in every `node_modules` from the directory upwards whose package.json says `"pulumi": {"resource": true}`. */
export function packagesWithPlugins(directory: string): PackageDependency[] {
    const found = new Map<string, PackageDependency>();
    for (let current = directory, previous = ""; current !== previous; previous = current, current = path.dirname(current)) {
        for (const [name, file] of manifestFiles(path.join(current, "node_modules"))) {
            if (found.has(name)) continue;
            const { version, pulumi } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
            if (pulumi?.resource !== true) continue;
            const dependency = new PackageDependency();
            dependency.setKind("resource");
            dependency.setName(pulumi.name ?? name.replace(/^@pulumi\//, ""));
            dependency.setVersion(pulumi.version ?? version ?? "");
            dependency.setServer(pulumi.server ?? "");
            found.set(name, dependency);
        }
    }
    return [...found.values()];
}

function manifestFiles(modules: string): [name: string, file: string][] {
    const names = folders(modules).flatMap((name) => name.startsWith("@") ? folders(path.join(modules, name)).map((sub) => `${name}/${sub}`) : [name]);
    return names.map((name): [string, string] => [name, path.join(modules, name, "package.json")]).filter(([, file]) => existsSync(file));
}

function folders(directory: string): string[] {
    return existsSync(directory) ? readdirSync(directory).filter((name) => !name.startsWith(".")) : [];
}
