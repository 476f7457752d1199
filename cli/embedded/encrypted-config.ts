// Encrypted configuration, for which a preview has no key: unknown secrets for the program that asks for secrets, an error else.
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Sdk from "@pulumi/pulumi";
import { Failure } from "../failure";
import { UNKNOWN_SENTINEL } from "./values";

/** The methods of Pulumi's Config: get, getSecret, getNumber, … requireSecretObject. */
const METHODS = ["get", "require"].flatMap((verb) => ["", "Secret"].flatMap((secret) => ["", "Boolean", "Number", "Object"].map((type) => `${verb}${secret}${type}`)));

type Method = (this: { readonly name: string }, key: string, ...others: unknown[]) => unknown;

/** What `setAllConfig` gets for the keys, for whoever reads configuration past Config: the wire's mark of an unknown value. */
export function placeholders(keys: readonly string[]): Record<string, string> {
    return Object.fromEntries(keys.map((key) => [key, UNKNOWN_SENTINEL]));
}

/**
 * Pulumi's Config knows text only, and would make of any placeholder a known value. So while `work` runs it answers for
 * these keys (`namespace:name`) otherwise, in this package's copy of the SDK and in that of the program's folder.
 *
 * @param file the environment's configuration, as messages name it
 */
export async function withEncryptedConfig<T>(keys: readonly string[], folder: string, file: string, work: () => Promise<T>): Promise<T> {
    if (keys.length === 0) return work();
    const restore = copiesOfSdk(folder).flatMap((sdk) => METHODS.map((method) => replace(sdk, method, keys, file)));
    try {
        return await work();
    } finally {
        for (const undo of restore) undo();
    }
}

function replace(sdk: typeof Sdk, method: string, keys: readonly string[], file: string): () => void {
    const methods = sdk.Config.prototype as unknown as Record<string, Method>;
    const original = methods[method];
    if (original === undefined) return () => undefined;
    methods[method] = function (key, ...others) {
        const full = `${this.name}:${key}`;
        if (!keys.includes(full)) return original.call(this, key, ...others);
        if (method.includes("Secret")) return sdk.secret<unknown>(sdk.unknown);
        throw new Failure(`Configuration ${full} is encrypted, and this preview has no key for it: read it with ${secretTwin(method)}, which gives an unknown value here, `
            + `set a plain value for previews in ${file}, or use \`pulumi preview\`, which decrypts it.`);
    };
    return () => void (methods[method] = original);
}

/** `requireNumber` → `requireSecretNumber`. */
function secretTwin(method: string): string {
    return method.replace(/^(get|require)/, "$1Secret");
}

function copiesOfSdk(folder: string): readonly (typeof Sdk)[] {
    const id = "@pulumi/pulumi", copies = new Set([createRequire(__filename)(id) as typeof Sdk]);
    try {
        copies.add(createRequire(join(folder, "index.js"))(id) as typeof Sdk);
    } catch { /* a program without the SDK has no Config */ }
    return [...copies];
}
