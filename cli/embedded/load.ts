// Loads a Pulumi program as the Pulumi CLI does: CommonJS or ES module, TypeScript through tsx, a function is called.
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure } from "../failure";
import { shownPath } from "../paths";
import type { Project } from "./project";

const load = createRequire(__filename);

/** Runs the program and returns what it exports: its stack outputs. */
export async function loadProgram(project: Project): Promise<unknown> {
    const file = entryFile(project);
    if (/^\.[cm]?ts$/.test(extname(file))) enableTypeScript(file);
    const exported: unknown = project.isModule ? await loadModule(file) : loadCommonJs(file);
    return typeof exported === "function" ? await (exported as () => unknown)() : exported;
}

function entryFile(project: Project): string {
    if (!statSync(project.entry).isDirectory()) return project.entry;
    const candidates = ["index.js", "index.mjs", "index.ts", "index.mts"].map((name) => join(project.entry, name));
    const found = candidates.find((candidate) => existsSync(candidate));
    if (found === undefined) throw new Failure(`${shownPath(project.entry)} has no index.ts or index.js: name the program with \`main\` in Pulumi.yaml.`);
    return found;
}

/** tsx is there when the command runs under it; otherwise it is taken from the program's project, then from this package. */
function enableTypeScript(file: string): void {
    if (".ts" in load.extensions) return;
    for (const from of [file, __filename]) {
        try {
            (createRequire(from)("tsx/cjs/api") as { register(): unknown }).register();
            return;
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
        }
    }
    throw new Failure(`${shownPath(file)} is TypeScript, and tsx, which runs it, is not installed: \`npm install --save-dev tsx\`, or compile the program and let \`main\` in Pulumi.yaml name the JavaScript file.`);
}

function loadCommonJs(file: string): unknown {
    // A second run in the same process loads the program's own modules again, so that they see their own stack.
    const folder = dirname(file) + sep;
    for (const loaded of Object.keys(load.cache)) {
        if (loaded.startsWith(folder) && !loaded.slice(folder.length).includes(`node_modules${sep}`)) delete load.cache[loaded];
    }
    return load(file);
}

async function loadModule(file: string): Promise<unknown> {
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    if (!("default" in exported)) return exported;
    if (Object.keys(exported).length > 1) throw new Failure(`${shownPath(file)} has a default export and named exports: a Pulumi program has one or the other.`);
    return exported["default"];
}
