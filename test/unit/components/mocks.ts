// A Pulumi runtime for tests of components: Pulumi's own mock monitor, which also notes what mocks do not show.
import * as pulumi from "@pulumi/pulumi";

export interface Registration {
    readonly type: string;
    readonly name: string;
    readonly inputs: Record<string, unknown>;
}

/** Starts a fresh runtime; returns what is registered from then on. */
export async function startRuntime(preview = false): Promise<Registration[]> {
    const registrations: Registration[] = [];
    await pulumi.runtime.setMocks({
        newResource: ({ type, name, inputs, id }) => {
            registrations.push({ type, name, inputs: inputs as Record<string, unknown> });
            return { id: id === undefined || id === "" ? `${name}-id` : id, state: inputs as Record<string, unknown> };
        },
        call: ({ inputs }) => inputs as Record<string, unknown>,
    }, "project", "stack", preview);
    return registrations;
}

/** Waits until an Output has resolved; undefined when it is unknown. */
export function valueOf<T>(output: pulumi.Output<T>): Promise<T | undefined> {
    return (output as unknown as { promise(): Promise<T | undefined> }).promise();
}

/** A value that comes later, as the outputs of another resource do. */
export function delayed<T>(value: T): pulumi.Output<T> {
    return pulumi.output(new Promise<T>((resolve) => setTimeout(() => resolve(value), 5))) as pulumi.Output<T>;
}

/** A value that is not known in a preview. */
export function unknown<T>(): pulumi.Output<T> {
    const Constructor = pulumi.Output as unknown as new (...args: unknown[]) => pulumi.Output<T>;
    return new Constructor(new Set(), Promise.resolve(undefined), Promise.resolve(false), Promise.resolve(false), Promise.resolve(new Set()));
}

/** Lets every pending registration finish. */
export async function settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 15));
    await (pulumi.runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs();
}

/** Holds back what Pulumi logs while there is no engine. */
export function captureLog(): { stop(): readonly string[] } {
    const lines: string[] = [], write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (chunk: Uint8Array | string): boolean => {
        lines.push(String(chunk));
        return true;
    };
    return {
        stop: () => {
            process.stderr.write = write;
            return lines;
        },
    };
}
