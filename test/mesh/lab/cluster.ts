// The lab's API server as a client sees it: apply, delete and list objects of any kind.
import { parseAllDocuments } from "yaml";
import type { ApiServer, KubernetesObject } from "../../support/api-server";

export type { KubernetesObject } from "../../support/api-server";

/** Hand-written objects: YAML of one or more documents, or the objects. */
export type Objects = string | readonly object[];

interface Resource { readonly name: string; readonly kind: string; readonly namespaced: boolean }

/** The groups and versions whose objects reach proxies through istiod's own store. */
const CONFIGURATION = ["networking.istio.io/v1", "networking.istio.io/v1alpha3", "security.istio.io/v1", "telemetry.istio.io/v1", "extensions.istio.io/v1alpha1"];
/** At once: as many as the API server takes from one client without making it wait. */
const BATCH = 10;

export class Cluster {
    private readonly resources = new Map<string, Promise<readonly Resource[]>>();

    constructor(readonly request: ApiServer["request"]) {}

    /** Server-side apply, in the given order where kinds differ; a refusal is an error with the API server's or istiod's words. */
    async apply(given: Objects): Promise<void> {
        for (const object of objectsOf(given)) {
            const { status, body } = await this.request("PATCH", `${await this.urlOf(object)}?fieldManager=lab&force=true`, object);
            if (status >= 300) throw new Error(`${nameOf(object)} is refused: ${body.message ?? String(status)}`);
        }
    }

    /** Applies the status too, which nobody else writes in a lab. */
    async applyWithStatus(object: KubernetesObject): Promise<void> {
        await this.apply([object]);
        const { status, body } = await this.request("PATCH", `${await this.urlOf(object)}/status?fieldManager=lab&force=true`, object);
        if (status >= 300) throw new Error(`The status of ${nameOf(object)} is refused: ${body.message ?? String(status)}`);
    }

    /** Objects that are not there are no error. */
    async delete(given: Objects): Promise<void> {
        for (const object of objectsOf(given)) {
            const grace = object.kind === "Pod" ? "?gracePeriodSeconds=0" : "";
            const { status, body } = await this.request("DELETE", `${await this.urlOf(object)}${grace}`);
            if (status >= 300 && status !== 404) throw new Error(`${nameOf(object)} cannot be deleted: ${body.message ?? String(status)}`);
        }
    }

    /** All objects that istiod turns into the proxies' configuration. */
    async configuration(): Promise<readonly KubernetesObject[]> {
        const lists = await Promise.all(CONFIGURATION.map(async (version) => {
            const resources = (await this.resourcesOf(version)).filter(({ name }) => !name.includes("/"));
            return Promise.all(resources.map(async ({ name, kind }) => {
                const { items = [] } = (await this.request("GET", `/apis/${version}/${name}`)).body;
                return items.map((item): KubernetesObject => ({ ...item, kind, apiVersion: version }));
            }));
        }));
        const byKey = new Map(lists.flat(2).map((object) => [nameOf(object), object])); // v1alpha3 serves most kinds of v1 again.
        return [...byKey.values()];
    }

    async deleteConfiguration(except: (object: KubernetesObject) => boolean): Promise<void> {
        const left = (await this.configuration()).filter((object) => !except(object));
        for (let index = 0; index < left.length; index += BATCH) await Promise.all(left.slice(index, index + BATCH).map((object) => this.delete([object])));
    }

    private async urlOf(object: KubernetesObject): Promise<string> {
        const version = object.apiVersion ?? "v1", kind = object.kind ?? "";
        const resource = (await this.resourcesOf(version)).find((one) => one.kind === kind && !one.name.includes("/"));
        if (resource === undefined) throw new Error(`The API server knows no ${kind} of ${version}.`);
        const namespace = resource.namespaced ? `/namespaces/${textOf(object.metadata?.["namespace"], "default")}` : "";
        return `${rootOf(version)}${namespace}/${resource.name}/${String(object.metadata?.["name"])}`;
    }

    private resourcesOf(version: string): Promise<readonly Resource[]> {
        const known = this.resources.get(version) ?? this.request("GET", rootOf(version)).then(({ body }) => (body as { resources?: readonly Resource[] }).resources ?? []);
        this.resources.set(version, known);
        return known;
    }
}

function rootOf(version: string): string {
    return version.includes("/") ? `/apis/${version}` : `/api/${version}`;
}

function objectsOf(given: Objects): readonly KubernetesObject[] {
    if (typeof given !== "string") return given;
    return parseAllDocuments(given).map((document) => {
        const [error] = document.errors;
        if (error !== undefined) throw error;
        return document.toJS() as KubernetesObject | null;
    }).filter((object) => object !== null);
}

/** "ServiceEntry egress/partner-api". */
export function nameOf({ kind, metadata }: KubernetesObject): string {
    return `${kind ?? "?"} ${textOf(metadata?.["namespace"], "")}/${String(metadata?.["name"])}`;
}

function textOf(value: unknown, otherwise: string): string {
    return typeof value === "string" ? value : otherwise;
}
