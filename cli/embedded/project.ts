// Reads a Pulumi project for one environment: Pulumi.yaml, Pulumi.<env>.yaml, the program's entry point and its configuration.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { messageOf, usageError } from "../failure";
import { shownPath } from "../paths";
import { isMap } from "../plain";

/** The configuration keys that this command itself reads. */
const KEYS = { catalogue: "istio-egress:catalogue", policyConfig: "istio-egress:policyConfig" } as const;

export interface Project {
    readonly name: string;
    /** The folder of Pulumi.yaml. */
    readonly root: string;
    readonly env: string;
    /** The file of the environment's configuration. */
    readonly stackFile: string;
    /** The working directory of the program, as the Pulumi CLI chooses it. */
    readonly pwd: string;
    /** The file or folder that is loaded. */
    readonly entry: string;
    readonly isModule: boolean;
    /** Plain values by full key, `namespace:name`. */
    readonly config: Readonly<Record<string, string>>;
    /** Keys whose values are encrypted, and so unknown here: `config` has no value for them. */
    readonly secretKeys: readonly string[];
    /** Absolute path of the environment's catalogue, when its configuration names one. */
    readonly catalogue?: string;
    /** Absolute path of the environment's policy configuration, when its configuration names one. */
    readonly policyConfig?: string;
}

type Settings = Record<string, unknown>;

export function readProject(projectDir: string, env: string): Project {
    const root = resolve(projectDir);
    const file = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(root, name)).find((path) => existsSync(path));
    if (file === undefined) throw usageError(`There is no Pulumi.yaml in ${shownPath(root)}: run the command in the project's folder, or name it with --project.`);
    const settings = readSettings(file);
    if (typeof settings["name"] !== "string" || settings["name"] === "") throw usageError(`${shownPath(file)}: name is missing: a Pulumi project has one.`);
    const name = settings["name"];
    checkRuntime(file, settings["runtime"]);

    const stackFile = findStackFile(root, settings["stackConfigDir"], env);
    const { values, secretKeys } = readConfig(name, settings["config"], readSettings(stackFile)["config"]);
    const { pwd, entry, isModule } = findEntry(root, file, settings["main"]);
    const fileOf = (key: string): string | undefined => {
        const path = values[key];
        if (path === undefined) return undefined;
        if (!existsSync(resolve(root, path))) throw usageError(`${shownPath(stackFile)}: ${key} is "${path}", but ${shownPath(resolve(root, path))} does not exist: the path is relative to the folder of Pulumi.yaml.`);
        return resolve(root, path);
    };
    return { name, root, env, stackFile, pwd, entry, isModule, config: values, secretKeys, catalogue: fileOf(KEYS.catalogue), policyConfig: fileOf(KEYS.policyConfig) };
}

/** A YAML or JSON file as a map, or a usage error with file, line and column. */
export function readSettings(file: string): Settings {
    const lineCounter = new LineCounter();
    const document = parseDocument(attempt(file, () => readFileSync(file, "utf8")), { lineCounter, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) {
        const { line, col } = lineCounter.linePos(error.pos[0]);
        throw usageError(`${shownPath(file)}:${line}:${col}: ${error.message}`);
    }
    const value = attempt(file, () => document.toJS() as unknown);
    if (value === null) return {};
    if (!isMap(value)) throw usageError(`${shownPath(file)}:1:1: a map was expected, such as "name: …".`);
    return value;
}

/** What fails on a file is told with its name. */
function attempt<T>(file: string, work: () => T): T {
    try {
        return work();
    } catch (error) {
        throw usageError(`${shownPath(file)} cannot be read: ${messageOf(error)}.`);
    }
}

function checkRuntime(file: string, runtime: unknown): void {
    const name = isMap(runtime) ? runtime["name"] : runtime;
    if (name !== "nodejs") throw usageError(`${shownPath(file)}: runtime is ${JSON.stringify(name)}, but this command runs Node.js programs only: use \`pulumi preview\` for others.`);
}

function findStackFile(root: string, stackConfigDir: unknown, env: string): string {
    const folder = typeof stackConfigDir === "string" ? join(root, stackConfigDir) : root;
    const file = join(folder, `Pulumi.${env}.yaml`);
    if (/^[\w.-]+$/.test(env) && existsSync(file)) return file;
    const known = (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => /^Pulumi\.(.+)\.yaml$/.exec(name)?.[1] ?? []).sort();
    const list = known.length === 0 ? `${shownPath(folder)} has no Pulumi.<env>.yaml at all` : `there are ${known.join(", ")}`;
    throw usageError(`There is no environment "${env}": ${list}. An environment is a file Pulumi.<env>.yaml.`);
}

function readConfig(project: string, defaults: unknown, stack: unknown): { values: Record<string, string>; secretKeys: string[] } {
    const values: Record<string, string> = {};
    const secretKeys: string[] = [];
    const keyOf = (key: string): string => (key.includes(":") ? key : `${project}:${key}`);
    for (const [key, declared] of Object.entries(isMap(defaults) ? defaults : {})) {
        // A project declares `key: value`, or a schema with `value` or `default`.
        const value = isMap(declared) ? (declared["value"] ?? declared["default"]) : declared;
        if (value !== undefined && value !== null) values[keyOf(key)] = text(value);
    }
    for (const [key, value] of Object.entries(isMap(stack) ? stack : {})) {
        delete values[keyOf(key)];
        if (holdsSecret(value)) secretKeys.push(keyOf(key));
        else values[keyOf(key)] = text(value);
    }
    return { values, secretKeys };
}

/** Pulumi's rule: a folder runs in itself, and the nearest package.json may name the file; a file runs in its folder. */
function findEntry(root: string, projectFile: string, main: unknown): { pwd: string; entry: string; isModule: boolean } {
    const target = resolve(root, typeof main === "string" ? main : ".");
    if (!existsSync(target)) throw usageError(`${shownPath(projectFile)}: main is "${relative(root, target)}", but ${shownPath(target)} does not exist.`);
    const isFolder = statSync(target).isDirectory();
    const pwd = isFolder ? target : dirname(target);
    const manifestFile = findUp(pwd, "package.json");
    const manifest = manifestFile === undefined ? {} : readSettings(manifestFile);
    const named = isFolder && manifestFile !== undefined ? mainOf(dirname(manifestFile), manifest) : undefined;
    return { pwd, entry: named ?? target, isModule: manifest["type"] === "module" };
}

function mainOf(folder: string, manifest: Settings): string | undefined {
    const exported = isMap(manifest["exports"]) ? manifest["exports"]["."] : manifest["exports"];
    const conditions = isMap(exported) ? (exported["default"] ?? exported["require"] ?? exported["import"]) : exported;
    const main = conditions ?? (manifest["exports"] === undefined ? manifest["main"] : undefined);
    if (typeof main !== "string") return undefined;
    const file = join(folder, main);
    return existsSync(file) ? file : undefined;
}

function findUp(folder: string, name: string): string | undefined {
    for (let current = folder; ; current = dirname(current)) {
        if (existsSync(join(current, name))) return join(current, name);
        if (current === dirname(current) || basename(current) === "node_modules") return undefined;
    }
}

function holdsSecret(value: unknown): boolean {
    if (Array.isArray(value)) return value.some(holdsSecret);
    if (!isMap(value)) return false;
    return (typeof value["secure"] === "string" && Object.keys(value).length === 1) || Object.values(value).some(holdsSecret);
}

function text(value: unknown): string {
    return typeof value === "string" ? value : JSON.stringify(value);
}
