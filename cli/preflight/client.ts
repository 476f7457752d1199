// Calls of the official Kubernetes client with bounds: so many at a time, each with a time limit, all together with one too.
import { Agent } from "node:https";
import type * as client from "@kubernetes/client-node";
import { NotKubernetes, TimeOut, causeOf, statusOf } from "./causes";
import type { Seen } from "./snapshot";

/** The package, which is loaded only where a cluster is looked at. */
export type Client = typeof client;

export interface Limits {
    /** For one call. */
    readonly callMs: number;
    /** For all of them. */
    readonly allMs: number;
    readonly atOnce: number;
}

const LIMITS: Limits = { callMs: 10_000, allMs: 60_000, atOnce: 6 };
const PAGE = 500;

/** A page of a list, as every list call answers. */
interface Page<T> {
    readonly items: readonly T[];
    readonly metadata?: { readonly _continue?: string };
}

export class Cluster {
    readonly #end: AbortSignal;
    readonly #waiting: (() => void)[] = [];
    #running = 0;
    #agent: Agent | undefined;

    constructor(private readonly client: Client, private readonly config: client.KubeConfig, private readonly limits: Limits = LIMITS) {
        this.#end = AbortSignal.timeout(limits.allMs);
    }

    /** An API of the client, on the chosen context, whose requests end in time. */
    api<T>(kind: new (configuration: ReturnType<Client["createConfiguration"]>) => T): T {
        const { createConfiguration, ServerConfiguration } = this.client, server = this.config.getCurrentCluster()?.server;
        if (server === undefined) throw new Error("The context has no cluster.");
        return new kind(createConfiguration({
            baseServer: new ServerConfiguration(server, {}),
            authMethods: { default: this.config },
            promiseMiddleware: [{
                pre: (context) => {
                    const agent = context.getAgent();
                    // Those of proxies, of other classes, stay as they are.
                    if (agent?.constructor === Agent) context.setAgent(this.#keeping(agent));
                    context.setSignal(AbortSignal.any([this.#end, AbortSignal.timeout(this.limits.callMs)]));
                    return Promise.resolve(context);
                },
                post: (context) => Promise.resolve(context),
            }],
        }));
    }

    /** The client makes an agent, and so a TLS handshake, per request; one that keeps its connections serves all (four seconds became 0.4). */
    #keeping(given: Agent): Agent {
        this.#agent ??= new Agent({ ...given.options, keepAlive: true });
        return this.#agent;
    }

    /** Closes what is kept open. */
    close(): void {
        this.#agent?.destroy();
    }

    /** One call; what it throws is the caller's. A command for the credentials may hang too, which no signal ends. */
    async call<T>(work: () => Promise<T>): Promise<T> {
        while (this.#running >= this.limits.atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        this.#running++;
        let timer: NodeJS.Timeout | undefined;
        try {
            if (this.#end.aborted) throw new TimeOut("The preflight took too long.");
            return await Promise.race([work(), new Promise<never>((_, reject) => {
                timer = setTimeout(() => reject(new TimeOut("The call took too long.")), this.limits.callMs + 500);
            })]);
        } finally {
            clearTimeout(timer);
            this.#running--;
            this.#waiting.shift()?.();
        }
    }

    /** The version of Kubernetes, which every API server tells anybody. */
    async version(): Promise<string> {
        const { gitVersion } = await this.call(() => this.api(this.client.VersionApi).getCode()) as { gitVersion?: unknown };
        if (typeof gitVersion !== "string") throw new NotKubernetes();
        return gitVersion;
    }

    /** What was found, or why it was not seen; `action` reads on from "may not". */
    async look<T>(action: string, work: () => Promise<T>): Promise<Seen<T>> {
        try {
            return { seen: true, value: await this.call(work) };
        } catch (error) {
            if (statusOf(error) === 403) return { seen: false, why: { kind: "forbidden", action } };
            return { seen: false, why: { kind: "failed", action, text: causeOf(error).text } };
        }
    }

    /** The same for one object; undefined where it does not exist. */
    lookUp<T>(action: string, work: () => Promise<T>): Promise<Seen<T | undefined>> {
        return this.look(action, () => absentAsUndefined(work));
    }

    /** The same for a list, page by page. */
    async lookThrough<T>(action: string, page: (limit: number, from: string | undefined) => Promise<Page<T>>): Promise<Seen<readonly T[]>> {
        const items: T[] = [];
        let from: string | undefined;
        do {
            const seen = await this.look(action, () => page(PAGE, from));
            if (!seen.seen) return seen;
            items.push(...seen.value.items);
            from = continuation(seen.value);
        } while (from !== undefined);
        return { seen: true, value: items };
    }
}

export async function absentAsUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
        return await work();
    } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
    }
}

/** Typed lists call it _continue, those of custom resources continue. */
function continuation({ metadata }: Page<unknown>): string | undefined {
    const from = metadata === undefined ? undefined : "continue" in metadata ? metadata["continue"] : metadata._continue;
    return typeof from === "string" && from !== "" ? from : undefined;
}
