// All objects that are judged together, and what proxies see of them. Indexes are made once and shared by the rules.
import type { Path } from "../model/problem";
import { EVERYWHERE } from "../model/preflight";
import { type Viewers, viewersOf } from "../model/visibility";
import type { MeshObject } from "./objects";
import { once } from "./once";
import { UNKNOWN, type Unknown } from "./plain";

export interface MeshOptions {
    /** The kinds of which every object that exists is at hand, so that what is absent does not exist. Default: none. */
    readonly complete?: readonly string[] | "all";
    /** meshConfig.rootNamespace: its objects count for the whole mesh. Default istio-system. */
    readonly rootNamespace?: string;
    /** Default cluster.local. */
    readonly clusterDomain?: string;
    /** meshConfig.default…ExportTo, by kind. Default: everywhere. */
    readonly exportDefaults?: Readonly<Partial<Record<"Service" | "VirtualService" | "DestinationRule", readonly string[]>>>;
}

/** Istio's annotation by which a Service says who sees it. */
const SERVICE_EXPORT = "networking.istio.io/exportTo";

export class Mesh {
    readonly root: string;
    readonly domain: string;
    private readonly byKind = new Map<string, MeshObject[]>();
    private readonly made = new Map<string, unknown>();
    private readonly unknown = new Map<MeshObject, Path | undefined>();
    private readonly sure = new Map<string, boolean>();
    private readonly seenBy = new Map<MeshObject, Viewers | Unknown>();

    constructor(readonly objects: readonly MeshObject[], private readonly options: MeshOptions = {}) {
        this.root = options.rootNamespace ?? "istio-system";
        this.domain = options.clusterDomain ?? "cluster.local";
        for (const object of objects) {
            const known = this.byKind.get(object.kind);
            if (known === undefined) this.byKind.set(object.kind, [object]);
            else known.push(object);
        }
    }

    /** The objects of a kind, patches left out: they say nothing of the rest of their object. */
    of(kind: string): readonly MeshObject[] {
        return this.once(`of ${kind}`, () => (this.byKind.get(kind) ?? []).filter(({ isPatch }) => !isPatch));
    }

    /** The objects of these kinds, patches included, in the order of all. */
    among(kinds: readonly string[]): readonly MeshObject[] {
        return this.once(`among ${kinds.join(" ")}`, () => (kinds.length === 1 ? this.byKind.get(kinds[0] ?? "") ?? [] : this.objects.filter(({ kind }) => kinds.includes(kind))));
    }

    /** Whether an object of this kind that is not here does not exist. */
    isComplete(kind: string): boolean {
        const { complete = [] } = this.options;
        return (complete === "all" || complete.includes(kind)) && this.isSure(kind);
    }

    /**
     * Whether all objects of this kind that are here are known in full: only then may a rule conclude something from what none
     * of them says.
     */
    isSure(kind: string): boolean {
        let sure = this.sure.get(kind);
        if (sure === undefined) {
            sure = (this.byKind.get(kind) ?? []).every((object) => !object.isPatch && this.unknownIn(object) === undefined);
            this.sure.set(kind, sure);
        }
        return sure;
    }

    /** The namespaces whose proxies see an object. */
    viewers(object: MeshObject): Viewers | Unknown {
        let viewers = this.seenBy.get(object);
        if (viewers === undefined) {
            const { namespace } = object, exportTo = exportOf(object);
            viewers = namespace === UNKNOWN || exportTo === UNKNOWN ? UNKNOWN : viewersOf(exportTo, namespace, this.exportDefault(object.kind));
            this.seenBy.set(object, viewers);
        }
        return viewers;
    }

    /** Whether proxies of a namespace see an object. */
    sees(namespace: string, object: MeshObject): boolean | Unknown {
        const viewers = this.viewers(object);
        return viewers === UNKNOWN ? UNKNOWN : viewers === "everywhere" || viewers.has(namespace);
    }

    /** The objects that hold something that nobody knows yet. */
    get notKnown(): readonly MeshObject[] {
        return this.once("not known", () => this.objects.filter((object) => this.unknownIn(object) !== undefined));
    }

    /** The first place of an object that nobody knows yet. */
    unknownIn(object: MeshObject): Path | undefined {
        const known = this.unknown.get(object);
        if (known !== undefined || this.unknown.has(object)) return known;
        const path = object.unknownPath;
        this.unknown.set(object, path);
        return path;
    }

    /** The secret values of all objects: a message about one may name another. */
    get secrets(): ReadonlySet<string> {
        return this.once("secrets", () => new Set(this.objects.flatMap((object) => [...object.secrets])));
    }

    /** What `make` gives, made once for a key: an index that several rules look things up in. */
    once<T>(key: string, make: () => T): T {
        return once(this.made, key, make);
    }

    private exportDefault(kind: string): readonly string[] {
        const { exportDefaults = {} } = this.options;
        // A ServiceEntry is a service to istiod.
        return (kind === "ServiceEntry" ? exportDefaults.Service : kind === "Service" || kind === "VirtualService" || kind === "DestinationRule" ? exportDefaults[kind] : undefined) ?? EVERYWHERE;
    }
}

/** What an object says of who sees it. */
function exportOf(object: MeshObject): readonly string[] | undefined | Unknown {
    if (object.kind !== "Service") return object.texts(["spec", "exportTo"]);
    const words = object.annotation(SERVICE_EXPORT);
    return typeof words === "string" ? words.split(",").map((word) => word.trim()) : words;
}
