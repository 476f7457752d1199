// What the API server does to Istio's objects, as it happens: a watch of each kind, in the order of the server's revisions.
import { readFile } from "node:fs/promises";
import https from "node:https";
import { setTimeout as wait } from "node:timers/promises";
import { parse } from "yaml";
import { API_VERSIONS } from "../../model";
import type { IstioKind } from "../../model";
import type { ApiServer, KubernetesObject } from "../support/api-server";
import { URLS } from "./lifecycle";
import { objectKey } from "./stack-harness";

export interface Entry {
    readonly type: "ADDED" | "MODIFIED" | "DELETED";
    /** "ServiceEntry egress/egress-api-partner-example". */
    readonly key: string;
    readonly object: KubernetesObject;
    /** The server's revision, one count for all kinds. */
    readonly revision: number;
    /** When it was heard of, in milliseconds. */
    readonly time: number;
}

/** A watch is a few milliseconds behind the server. */
const BEHIND_MS = 500;

interface Kubeconfig { readonly clusters: { readonly cluster: { readonly server: string } }[]; readonly users: { readonly user: { readonly token: string } }[] }

export class Journal {
    private readonly found: Entry[] = [];
    private readonly streams: { destroy: () => void }[] = [];
    private readonly waiting: { count: number; done: () => void }[] = [];

    /** What happens during some work. */
    static async during<T>(server: ApiServer, work: (journal: Journal) => Promise<T>): Promise<{ readonly result: T; readonly entries: readonly Entry[] }> {
        const journal = await Journal.start(server);
        try {
            const result = await work(journal);
            await wait(BEHIND_MS);
            return { result, entries: journal.entries };
        } finally {
            for (const stream of journal.streams) stream.destroy();
        }
    }

    private static async start(server: ApiServer): Promise<Journal> {
        const journal = new Journal();
        const { clusters, users } = parse(await readFile(server.kubeconfig, "utf8")) as Kubeconfig;
        const address = clusters[0]?.cluster.server ?? "", headers = { authorization: `Bearer ${users[0]?.user.token ?? ""}` };
        for (const [kind, plural] of Object.entries(URLS)) {
            const url = `/apis/${API_VERSIONS[kind as IstioKind]}/${plural}`;
            const { body } = await server.request("GET", `${url}?limit=1`);
            await journal.watch(`${address}${url}?watch=1&resourceVersion=${String(body.metadata?.["resourceVersion"])}`, headers);
        }
        return journal;
    }

    private get entries(): readonly Entry[] {
        return [...this.found].sort((a, b) => a.revision - b.revision);
    }

    /** Fulfilled once so many things have happened. */
    heard(count: number): Promise<void> {
        return new Promise((done) => {
            this.waiting.push({ count, done });
            this.tell();
        });
    }

    private watch(url: string, headers: Record<string, string>): Promise<void> {
        return new Promise((resolve, reject) => {
            const request = https.get(url, { headers, rejectUnauthorized: false }, (response) => {
                let text = "";
                response.setEncoding("utf8").on("error", () => undefined).on("data", (chunk: string) => {
                    const lines = (text + chunk).split("\n");
                    text = lines.pop() ?? "";
                    for (const line of lines) this.note(JSON.parse(line) as { type: Entry["type"]; object: KubernetesObject });
                });
                resolve();
            });
            // Later ones mean the end of the watch, or of the server.
            request.on("error", reject);
            this.streams.push(request);
        });
    }

    private note({ type, object }: { type: Entry["type"]; object: KubernetesObject }): void {
        this.found.push({ type, object, key: objectKey(object), revision: Number(object.metadata?.["resourceVersion"]), time: Date.now() });
        this.tell();
    }

    private tell(): void {
        for (const one of this.waiting) if (this.found.length >= one.count) one.done();
    }
}
