// The settle time before the mesh leg: dependsOn waits for the API server only, and the proxies need a moment more.
// Resource hooks run when an object really is created or updated: never in a preview, never when nothing changed.
import { setTimeout } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";

/** Whether hooks can be registered and would ever run; Pulumi's mock monitor has none, a preview runs none. */
function hooksRun(): boolean {
    const monitor = pulumi.runtime.getMonitor() as { registerResourceHook?: unknown } | undefined;
    return !pulumi.runtime.isDryRun() && typeof monitor?.registerResourceHook === "function";
}

export class Settle {
    private lastChange: number | undefined;

    constructor(private readonly settleTime: pulumi.Output<number>) {}

    /** For every object that must have reached the proxies first. */
    readonly changes: pulumi.ResourceHookBinding = (() => {
        const note = (): void => {
            this.lastChange = Date.now();
        };
        return hooksRun() ? { afterCreate: [note], afterUpdate: [note] } : {};
    })();

    /** For the object that moves the traffic. */
    readonly waits: pulumi.ResourceHookBinding = (() => {
        const wait = async (): Promise<void> => {
            if (this.lastChange === undefined) return;
            const settleTime = await new Promise<number>((resolve) => this.settleTime.apply(resolve));
            const rest = this.lastChange + settleTime - Date.now();
            if (rest > 0) await setTimeout(rest);
        };
        return hooksRun() ? { beforeCreate: [wait], beforeUpdate: [wait] } : {};
    })();
}
