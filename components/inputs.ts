// Component arguments, whose leaves may be Outputs: resolves what is known, and remembers what came from where.
import * as pulumi from "@pulumi/pulumi";
import { type Path, formatPath } from "../model";
import { samplesFor } from "./samples";

/** A value that came in as an Output or a promise. */
export interface Leaf {
    readonly path: Path;
    readonly output: pulumi.Output<unknown>;
    readonly known: boolean;
    readonly secret: boolean;
    /** Valid values of this property; the first stands in while the value is unknown. */
    readonly samples: readonly unknown[];
}

/** Arguments as plain data. A value that is not known yet (in a preview) is stood in for by a sample. */
export interface ResolvedInputs {
    readonly value: unknown;
    readonly leaves: readonly Leaf[];
}

/**
 * The parts of an Output that the SDK has always had and leaves out of its type: without them nobody can tell that a
 * value is unknown, since `apply` then simply does not run.
 */
interface OutputState {
    readonly isKnown: Promise<boolean>;
    promise(withUnknowns?: boolean): Promise<unknown>;
}

/**
 * Resolves arguments; at once when they hold no Output and no promise, so that plain values are checked in the constructor.
 * `within` is the property of a declaration that the arguments are, when they are not a declaration themselves.
 */
export function resolveInputs(args: unknown, within: Path = []): ResolvedInputs | Promise<ResolvedInputs> {
    if (typeof args !== "object" || args === null || pulumi.Output.isInstance(args) || args instanceof Promise) {
        throw new pulumi.RunError("The arguments must be an object; its properties may be Outputs, but not the whole of it.");
    }
    const pending: { path: Path; output: pulumi.Output<unknown> }[] = [];
    const value = walk(args, [], pending);
    if (pending.length === 0) return { value, leaves: [] };
    return resolvePending(value, pending, within);
}

function walk(value: unknown, path: Path, pending: { path: Path; output: pulumi.Output<unknown> }[]): unknown {
    if (pulumi.Output.isInstance(value) || value instanceof Promise) {
        pending.push({ path, output: pulumi.output(value) });
        return undefined;
    }
    if (pulumi.Resource.isInstance(value)) {
        throw new pulumi.RunError(`${formatPath(path)} is a resource, and its value is what is needed: pass what it publishes, such as the reference of an EgressGateway.`);
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index], pending));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key], pending)]));
}

async function resolvePending(value: unknown, pending: readonly { path: Path; output: pulumi.Output<unknown> }[], within: Path): Promise<ResolvedInputs> {
    const leaves: Leaf[] = [];
    let result = value;
    for (const { path, output } of pending) result = setAt(result, path, await resolveOutput(path, output, within, leaves));
    return { value: result, leaves };
}

/** An Output that is known in part is taken apart, so that its known parts are checked and shown. */
async function resolveOutput(path: Path, output: pulumi.Output<unknown>, within: Path, leaves: Leaf[]): Promise<unknown> {
    const state = output as unknown as OutputState;
    const [known, secret, value] = await Promise.all([state.isKnown, pulumi.isSecret(output), state.promise(true)]);
    if (!known && typeof value === "object" && value !== null && !pulumi.isUnknown(value)) {
        const lifted = output as unknown as Record<string, pulumi.Output<unknown>>;
        const parts = await Promise.all(Object.keys(value).map(async (key) => {
            const name = Array.isArray(value) ? Number(key) : key;
            return [key, await resolveOutput([...path, name], pulumi.output(lifted[key]), within, leaves)] as const;
        }));
        return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
    }
    const samples = samplesFor([...within, ...path]);
    leaves.push({ path, output, known, secret, samples });
    return known ? value : samples[0];
}

/** A copy of plain data with the value at one path replaced; undefined removes the property. */
export function setAt(target: unknown, path: Path, value: unknown): unknown {
    const [key, ...rest] = path;
    if (key === undefined) return value;
    if (Array.isArray(target)) return target.map((item: unknown, index) => (index === key ? setAt(item, rest, value) : item));
    const fields = typeof target === "object" && target !== null ? (target as Record<string, unknown>) : {};
    const { [key]: old, ...others } = fields;
    const next = setAt(old, rest, value);
    return next === undefined ? others : { ...fields, [key]: next };
}

/** The properties that only samples stand in for. */
export function unknownPaths(inputs: ResolvedInputs): readonly Path[] {
    return inputs.leaves.filter((leaf) => !leaf.known).map((leaf) => leaf.path);
}
