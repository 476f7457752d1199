// The objects that rules read, in any resource that reaches Pulumi's engine (generic and generated classes, patches, lists,
// children) and in any plain Kubernetes object.
import { normaliseHost } from "../model/host";
import type { Path } from "../model/problem";
import { once } from "./once";
import { type Plain, type PlainObject, UNKNOWN, type Unknown, isList, isObject, own, plainCopy } from "./plain";
import { SECRET, secretsOf } from "./secrets";

/** The kinds that rules read, by API group. No two groups share a kind here: the Gateway of the Gateway API is another one, and not read. */
const READ: Readonly<Record<string, "all" | readonly string[]>> = {
    "networking.istio.io": "all",
    "security.istio.io": "all",
    "networking.k8s.io": ["NetworkPolicy"],
    "": ["Service", "Namespace"],
};

/** The Kubernetes provider of a Pulumi program, whose settings count for every object that it writes. */
export const PROVIDER = "Provider";
const PROVIDER_TYPE = "pulumi:providers:kubernetes";

/** The parts of an object's metadata that rules read. */
const IDENTITY = ["name", "namespace", "annotations"];

/** Where an object lives that names no namespace: kubectl's own default, and the provider's. */
const DEFAULT_NAMESPACE = "default";

/** The parts of a policy's arguments that a verdict rests on. */
export interface Resource {
    readonly type: string;
    readonly urn: string;
    readonly name: string;
    /** Read through `plainCopy` only: the SDK's proxy throws at unknown values. */
    readonly props: unknown;
}

/**
 * One object that rules read. Every reader answers with the value, with undefined when the field is absent, and
 * with UNKNOWN when nobody can tell: unknown in a preview, absent from a patch (which says nothing about the rest of the
 * object), or of a type that Istio's schema refuses anyway.
 */
export class MeshObject {
    constructor(
        readonly kind: string,
        readonly apiVersion: string,
        /** Where the object stands in its resource: empty, or `items`, index. */
        readonly position: Path,
        private readonly body: PlainObject,
        /** A server-side apply patch: what it leaves out is not known to be absent from the object. */
        readonly isPatch: boolean,
        /** What an object without a name is told by: `the resource partner`. */
        private readonly origin: string,
        private readonly isSecretInResource: (path: Path) => boolean,
        private readonly onUnknown?: (path: Path) => void,
        private known?: boolean,
    ) {}

    private made: Map<string, unknown> | undefined = undefined;

    /** The same object, which tells of every read that ends at a value nobody knows yet. */
    watched(onUnknown: (path: Path) => void): MeshObject {
        return new MeshObject(this.kind, this.apiVersion, this.position, this.body, this.isPatch, this.origin, this.isSecretInResource, onUnknown);
    }

    /** What `make` reads from the object, made once: several rules ask for the same. A watched object is read each time, since it tells of each read. */
    once<T>(key: string, make: () => T): T {
        if (this.onUnknown !== undefined) return make();
        return once(this.made ??= new Map<string, unknown>(), key, make);
    }

    /** The secret values of the object, and their forms in messages: hosts in the one spelling, without a namespace. */
    get secrets(): ReadonlySet<string> {
        const found = new Set<string>();
        if (this.isSecretInResource === NOTHING_SECRET) return found;
        const visit = (value: Plain, path: Path): void => {
            if (typeof value === "string" || typeof value === "number") {
                if (!this.isSecret(path)) return;
                const text = String(value), host = normaliseHost(text.slice(text.indexOf("/") + 1));
                for (const form of [text, normaliseHost(text), host]) found.add(form);
            } else if (isList(value)) value.forEach((item, index) => visit(item, [...path, index]));
            else if (isObject(value)) for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
        };
        visit(this.body, []);
        return found;
    }

    /** Whether every part of it is known, as in files and clusters: then there is nothing to watch for. */
    get isKnown(): boolean {
        return this.known ??= !holdsUnknown(this.body);
    }

    /** The first place that nobody knows yet, of the spec and of what says who the object is and for whom. */
    get unknownPath(): Path | undefined {
        if (this.isKnown) return undefined;
        const metadata = own(this.body, "metadata");
        if (metadata === UNKNOWN) return ["metadata"];
        const told = isObject(metadata) ? IDENTITY.map((key) => unknownIn(own(metadata, key), ["metadata", key])) : [];
        return unknownIn(own(this.body, "spec"), ["spec"]) ?? told.find((path) => path !== undefined);
    }

    at(path: Path): Plain | undefined {
        const value = this.stated(path);
        return value === undefined && this.isPatch ? UNKNOWN : value;
    }

    /** What the resource itself says: undefined where it says nothing, also in a patch. */
    stated(path: Path): Plain | undefined {
        let current: Plain = this.body;
        for (let depth = 0; depth < path.length; depth++) {
            // Here, and not by the helpers: every rule reads every field this way.
            if (typeof current !== "object" || current === null) return UNKNOWN;
            const key = path[depth] ?? "", next: Plain | undefined = (current as Readonly<Record<string | number, Plain>>)[key];
            // What is inherited is no field.
            if (next === undefined || next === null || !Object.hasOwn(current, key)) return undefined;
            if (next === UNKNOWN) this.onUnknown?.(path.slice(0, depth + 1));
            current = next;
        }
        return current;
    }

    number(path: Path): number | undefined | Unknown {
        const value = this.at(path);
        return value === undefined || (typeof value === "number" && Number.isFinite(value)) ? value : UNKNOWN;
    }

    text(path: Path): string | undefined | Unknown {
        const value = this.at(path);
        return value === undefined || typeof value === "string" ? value : UNKNOWN;
    }

    flag(path: Path): boolean | undefined | Unknown {
        const value = this.at(path);
        return value === undefined || typeof value === "boolean" ? value : UNKNOWN;
    }

    /** The positions of a list: its items are read by path. An absent list has none; one that is not known neither. */
    indexes(path: Path): readonly number[] {
        const value = this.at(path);
        return isList(value) ? value.map((_, index) => index) : [];
    }

    /** An annotation that the resource itself carries; one that is no text is none. */
    annotation(name: string): string | undefined | Unknown {
        const value = this.stated(["metadata", "annotations", name]);
        return typeof value === "string" || value === UNKNOWN ? value : undefined;
    }

    /** The texts of a list; UNKNOWN where the list, or one of them, is not known. An absent list is undefined. */
    texts(path: Path): readonly string[] | undefined | Unknown {
        const value = this.at(path);
        if (value === undefined || !isList(value)) return value === undefined ? undefined : UNKNOWN;
        return value.every((item) => typeof item === "string") ? value : UNKNOWN;
    }

    /** The keys of a map; none where it is absent or not known. */
    keys(path: Path): readonly string[] {
        const value = this.at(path);
        return isObject(value) ? Object.keys(value) : [];
    }

    get name(): string | Unknown {
        const name = this.stated(["metadata", "name"]);
        return typeof name === "string" ? name : UNKNOWN;
    }

    /** The namespace that the object lives in; a provider or a kubeconfig may move the ones that name none, all together. */
    get namespace(): string | Unknown {
        const namespace = this.stated(["metadata", "namespace"]);
        return namespace === undefined ? DEFAULT_NAMESPACE : typeof namespace === "string" ? namespace : UNKNOWN;
    }

    isSecret(path: Path): boolean {
        return this.isSecretInResource([...this.position, ...path]);
    }

    /** The value of a field as messages show it: `[secret]` where it is one. */
    show(path: Path, value: string | number): string {
        return this.isSecret(path) ? SECRET : String(value);
    }

    /** `ServiceEntry egress/partner-api`: how messages name the object. */
    get label(): string {
        const name = this.stated(["metadata", "name"]), namespace = this.stated(["metadata", "namespace"]);
        if (typeof name !== "string") return `${this.kind} of ${this.origin}`;
        return `${this.kind} ${typeof namespace === "string" ? `${this.show(["metadata", "namespace"], namespace)}/` : ""}${this.show(["metadata", "name"], name)}`;
    }
}

/** The objects of a resource that rules read; none for every other kind of resource. */
export function meshObjects(resource: Resource): readonly MeshObject[] {
    if (resource.type === PROVIDER_TYPE) return providerOf(resource);
    const token = /^kubernetes:([^:]+):(\w+)$/.exec(resource.type);
    const tokenKind = token?.[2] ?? "";
    // The type names the core group's versions with the group, which no object does.
    const apiVersion = textOf(resource.props, "apiVersion") ?? token?.[1]?.replace(/^core\//, "") ?? "";
    const kind = textOf(resource.props, "kind") ?? tokenKind;
    // `ServiceEntryPatch` is how Pulumi names a server-side apply patch; no kind that is read ends like that.
    const isPatch = tokenKind.endsWith("Patch");
    const type = { apiVersion, kind: isPatch ? kind.replace(/Patch$/, "") : kind };
    if (!isRead(type) && !kind.endsWith("List")) return [];
    const body = plainCopy(resource.props);
    if (!isObject(body)) return [];
    const make: MakeObject = ({ apiVersion: version, kind: ofKind }, position, part) => new MeshObject(ofKind, version, position, part, isPatch, `the resource ${resource.name}`, secretsOf(resource.props));
    return collect(body, type, [], make);
}

/** Of files and clusters: they mark nothing as secret. */
const NOTHING_SECRET = (): boolean => false;

/** The objects in a plain Kubernetes object, as a file or an API server has it: itself, or the items of a list; `origin` tells of one that has no name. */
export function objectsIn(value: unknown, origin = "no name"): readonly MeshObject[] {
    const body = plainCopy(value);
    return isObject(body) ? objectsInPlain(body, origin) : [];
}

/**
 * The same for a value that is plain already, and that nobody changes: it is not copied.
 * @param isKnown true where every part of it is known; undefined where nobody has looked yet
 */
export function objectsInPlain(body: PlainObject, origin: string, isKnown?: true): readonly MeshObject[] {
    const apiVersion = own(body, "apiVersion"), kind = own(body, "kind");
    const type = { apiVersion: typeof apiVersion === "string" ? apiVersion : "", kind: typeof kind === "string" ? kind : "" };
    const make: MakeObject = ({ apiVersion: version, kind: ofKind }, position, part) => new MeshObject(ofKind, version, position, part, false, origin, NOTHING_SECRET, undefined, isKnown);
    return collect(body, type, [], make);
}

function providerOf(resource: Resource): readonly MeshObject[] {
    const body = plainCopy(resource.props);
    return isObject(body) ? [new MeshObject(PROVIDER, "", [], body, false, `the resource ${resource.name}`, secretsOf(resource.props))] : [];
}

function holdsUnknown(value: Plain | undefined): boolean {
    if (value === UNKNOWN) return true;
    if (isList(value)) return value.some(holdsUnknown);
    return isObject(value) && Object.values(value).some(holdsUnknown);
}

function unknownIn(value: Plain | undefined, path: Path): Path | undefined {
    if (value === UNKNOWN) return path;
    if (isList(value)) return firstOf(value.entries(), path);
    return isObject(value) ? firstOf(Object.entries(value), path) : undefined;
}

function firstOf(entries: Iterable<readonly [string | number, Plain]>, path: Path): Path | undefined {
    for (const [key, value] of entries) {
        const found = unknownIn(value, [...path, key]);
        if (found !== undefined) return found;
    }
    return undefined;
}

function isRead({ apiVersion, kind }: TypeMeta): boolean {
    const slash = apiVersion.indexOf("/"), group = slash < 0 ? "" : apiVersion.slice(0, slash);
    const kinds = Object.hasOwn(READ, group) ? READ[group] : undefined;
    return kinds === "all" || (kinds?.includes(kind) ?? false);
}

type MakeObject = (type: TypeMeta, position: Path, body: PlainObject) => MeshObject;

interface TypeMeta {
    readonly apiVersion: string;
    readonly kind: string;
}

/** `type` is what the container says; a list's items may repeat it or leave it out. */
function collect(body: PlainObject, type: TypeMeta, position: Path, make: MakeObject): readonly MeshObject[] {
    const items = own(body, "items");
    if (type.kind.endsWith("List")) {
        if (!isList(items)) return [];
        return items.flatMap((item, index) => {
            if (!isObject(item)) return [];
            const apiVersion = own(item, "apiVersion"), kind = own(item, "kind");
            const inner = {
                apiVersion: typeof apiVersion === "string" ? apiVersion : type.apiVersion,
                kind: typeof kind === "string" ? kind : type.kind.replace(/List$/, ""),
            };
            return collect(item, inner, [...position, "items", index], make);
        });
    }
    return isRead(type) ? [make(type, position, body)] : [];
}

function textOf(props: unknown, key: string): string | undefined {
    if (typeof props !== "object" || props === null) return undefined;
    try {
        const value = plainCopy((props as Record<string, unknown>)[key]);
        return typeof value === "string" ? value : undefined;
    } catch {
        return undefined;
    }
}
