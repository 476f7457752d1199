// The Istio objects in any resource that reaches Pulumi's engine: generic and generated classes, patches, lists, children.
import { type Path } from "../model";
import { type Plain, type PlainObject, UNKNOWN, type Unknown, isList, isObject, own, plainCopy } from "./plain";
import { SECRET, secretsOf } from "./secrets";

const GROUP = "networking.istio.io/";

/** The parts of a policy's arguments that a verdict rests on. */
export interface Resource {
    readonly type: string;
    readonly urn: string;
    readonly name: string;
    /** Read through `plainCopy` only: the SDK's proxy throws at unknown values. */
    readonly props: unknown;
}

/**
 * One object of networking.istio.io. Every reader answers with the value, with undefined when the field is absent, and
 * with UNKNOWN when nobody can tell: unknown in a preview, absent from a patch (which says nothing about the rest of the
 * object), or of a type that Istio's schema refuses anyway.
 */
export class IstioObject {
    constructor(
        readonly kind: string,
        /** Where the object stands in its resource: empty, or `items`, index. */
        readonly position: Path,
        private readonly body: PlainObject,
        /** A server-side apply patch: what it leaves out is not known to be absent from the object. */
        readonly isPatch: boolean,
        private readonly resourceName: string,
        private readonly isSecretInResource: (path: Path) => boolean,
    ) {}

    at(path: Path): Plain | undefined {
        const value = this.stated(path);
        return value === undefined && this.isPatch ? UNKNOWN : value;
    }

    /** What the resource itself says: undefined where it says nothing, also in a patch. */
    stated(path: Path): Plain | undefined {
        let current: Plain = this.body;
        for (const key of path) {
            if (!isObject(current) && !isList(current)) return UNKNOWN;
            const next = own(current, key);
            if (next === undefined || next === null) return undefined;
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
        if (typeof name !== "string") return `${this.kind} of the resource ${this.resourceName}`;
        return `${this.kind} ${typeof namespace === "string" ? `${this.show(["metadata", "namespace"], namespace)}/` : ""}${this.show(["metadata", "name"], name)}`;
    }
}

/** The Istio objects of a resource; none for every other kind of resource. */
export function istioObjects(resource: Resource): readonly IstioObject[] {
    const token = /^kubernetes:([^:]+):(\w+)$/.exec(resource.type);
    const tokenKind = token?.[2] ?? "";
    const apiVersion = textOf(resource.props, "apiVersion") ?? token?.[1] ?? "";
    const kind = textOf(resource.props, "kind") ?? tokenKind;
    if (!apiVersion.startsWith(GROUP) && !kind.endsWith("List")) return [];
    const body = plainCopy(resource.props);
    if (!isObject(body)) return [];
    // `ServiceEntryPatch` is how Pulumi names a server-side apply patch; no kind of Istio ends like that.
    const isPatch = tokenKind.endsWith("Patch");
    const make: MakeObject = (ofKind, position, part) => new IstioObject(ofKind, position, part, isPatch, resource.name, secretsOf(resource.props));
    return collect(body, { apiVersion, kind: isPatch ? kind.replace(/Patch$/, "") : kind }, [], make);
}

type MakeObject = (kind: string, position: Path, body: PlainObject) => IstioObject;

interface TypeMeta {
    readonly apiVersion: string;
    readonly kind: string;
}

/** `type` is what the container says; a list's items may repeat it or leave it out. */
function collect(body: PlainObject, type: TypeMeta, position: Path, make: MakeObject): readonly IstioObject[] {
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
    return type.apiVersion.startsWith(GROUP) ? [make(type.kind, position, body)] : [];
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
