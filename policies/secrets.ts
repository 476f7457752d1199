// Which parts of a resource are secret. Messages are printed and kept, so that no secret value belongs in one.
import { createRequire } from "node:module";
import type { Path } from "../model/problem";

/** How a message shows a secret value. */
export const SECRET = "[secret]";

/** The SDK's names of a marked value on the wire (`specialSigKey`, `specialSecretSig`), and of the object behind its proxy. */
const SIGNATURE = "4dabf18193072939515e22adb298388d", SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";
const PROXY_TARGET = "__getSpecialProxyTarget";

interface Struct { toJavaScript(): unknown }
type Deserialize = (struct: Struct, keepSecrets: boolean) => object;

/** Properties as a policy gets them → the same as the engine sent them. */
const sent = new WeakMap<object, Struct>();
/** What the engine sent → the properties that policies which validate get; they only read them. */
const read = new WeakMap<Struct, object>();
const patched = new WeakSet<object>();

/**
 * The engine marks secret values, and the SDK takes the marks off before it asks a policy to validate. This keeps what was
 * sent beside what the policy gets. Called before a pack serves; without it no part of a resource is known to be secret.
 *
 * The SDK also reads every resource anew for each policy that validates: that was two thirds of the time of the stack's
 * policies. Here they share what the first one got. Policies that remediate write, and get their own.
 */
export function keepSecretMarks(): void {
    const sdk = createRequire(__filename)("@pulumi/policy/deserialize") as { deserializeProperties: Deserialize };
    if (patched.has(sdk)) return;
    patched.add(sdk);
    const original = sdk.deserializeProperties;
    sdk.deserializeProperties = (struct, keepSecrets) => {
        const known = keepSecrets ? undefined : read.get(struct);
        if (known !== undefined) return known;
        const properties = original(struct, keepSecrets);
        sent.set(properties, struct);
        if (!keepSecrets) read.set(struct, properties);
        return properties;
    };
}

/** What the engine sent for a resource: the same object for every policy that judges the same request; undefined outside of a pack. */
export const sentAs = (props: unknown): object | undefined => structOf(props);

/** Tells of any place in a resource's properties whether its value is secret, by itself or as a part of something secret. */
export function secretsOf(props: unknown): (path: Path) => boolean {
    const struct = structOf(props);
    if (struct === undefined) return () => false;
    let wire: unknown;
    return (path) => isSecretAt(wire ??= struct.toJavaScript(), path);
}

/** Enumerated words such as DNS or ISTIO_MUTUAL tell nothing, and are in half of all sentences; nor do single digits. */
const TELLING = /[^A-Z_]/, SHORTEST = 2;

/** A text without the secret values that it holds as whole words. */
export function redact(text: string, secrets: ReadonlySet<string>): string {
    let safe = text;
    for (const secret of secrets) {
        if (secret.length < SHORTEST || !TELLING.test(secret)) continue;
        safe = safe.replace(new RegExp(`(?<![\\w-])${secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`, "g"), SECRET);
    }
    return safe;
}

function structOf(props: unknown): Struct | undefined {
    if (typeof props !== "object" || props === null) return undefined;
    const target = (props as Record<string, unknown>)[PROXY_TARGET];
    return typeof target === "object" && target !== null ? sent.get(target) : undefined;
}

function isSecretAt(value: unknown, path: Path): boolean {
    if (typeof value !== "object" || value === null) return false;
    if ((value as Record<string, unknown>)[SIGNATURE] === SECRET_SIGNATURE) return true;
    const [key, ...rest] = path;
    return key !== undefined && Object.hasOwn(value, key) && isSecretAt((value as Record<string | number, unknown>)[key], rest);
}
