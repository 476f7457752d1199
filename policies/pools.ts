// What is known of the pool behind a host: from the object's own annotations, then the pack's configuration, then the catalogue.
import { ANNOTATIONS, type Pool, poolFromAnnotations } from "../model/annotations";
import { hostMatches, normaliseHost } from "../model/host";
import type { MeshObject } from "./objects";
import { UNKNOWN } from "./plain";

/** A pool that is declared for a host or, as `*.partner.example`, for every host below a name. */
export interface HostPool extends Pool {
    readonly host: string;
    /** The declared loss window, where one is known: a Go duration. */
    readonly lossWindow?: string;
}

export type PoolAnswer =
    /** `isSecret` where it is known from a secret annotation; `isSizeUnknown` where a preview does not know yet how many addresses there are. */
    | { readonly state: "declared"; readonly pool: Pool & Pick<HostPool, "lossWindow">; readonly isSecret: boolean; readonly isSizeUnknown: boolean }
    /** Nobody has said anything about the pool. */
    | { readonly state: "undeclared" }
    /** Somebody may have: an annotation that is unknown in this preview or left out by a patch, or a source that cannot be read. */
    | { readonly state: "unknown" };

export class Pools {
    private readonly sources: readonly Source[];

    /**
     * @param sources in the order in which they count
     * @param complete false where a source could not be read, so that a host in none of the others is not known to be undeclared
     */
    constructor(sources: readonly (readonly HostPool[])[], private readonly complete: boolean) {
        this.sources = sources.filter((pools) => pools.length > 0).map((pools) => new Source(pools));
    }

    /** The pool behind a host of an object. */
    of(object: MeshObject, host: string): PoolAnswer {
        const own = annotated(object, host), known = this.known(host);
        // Annotations carry no window.
        if (own.state === "declared") return known?.lossWindow === undefined ? own : { ...own, pool: { ...own.pool, lossWindow: known.lossWindow } };
        if (own.state === "unknown") return own;
        if (known !== undefined) return { state: "declared", pool: known, isSecret: false, isSizeUnknown: false };
        return { state: this.complete && !object.isPatch ? "undeclared" : "unknown" };
    }

    /** Whether every source was read; otherwise a host that is in none may be in the one that was not. */
    get isComplete(): boolean {
        return this.complete;
    }

    /** What the configuration or the catalogue says of a host. */
    known(host: string): HostPool | undefined {
        for (const source of this.sources) {
            const pool = source.find(host);
            if (pool !== undefined) return pool;
        }
        return undefined;
    }
}

/** The annotations speak of the host that `istio-egress/host` names, where it is there, and of every host of the object otherwise. */
function annotated(object: MeshObject, host: string): PoolAnswer {
    const about = object.annotation(ANNOTATIONS.host), membership = object.annotation(ANNOTATIONS.membership);
    if (about === UNKNOWN || membership === UNKNOWN) return { state: "unknown" };
    if (about !== undefined && about !== host && normaliseHost(about) !== normaliseHost(host)) return { state: "undeclared" };
    return object.once("annotated pool", () => annotatedPool(object, membership));
}

function annotatedPool(object: MeshObject, membership: string | undefined): PoolAnswer {
    const count = object.annotation(ANNOTATIONS.addressesPerAnswer);
    const pool = poolFromAnnotations({ [ANNOTATIONS.membership]: membership, [ANNOTATIONS.addressesPerAnswer]: count === UNKNOWN ? undefined : count });
    if (pool === undefined) return { state: "undeclared" };
    const isSecret = [ANNOTATIONS.membership, ANNOTATIONS.addressesPerAnswer].some((name) => object.isSecret(["metadata", "annotations", name]));
    return { state: "declared", pool, isSecret, isSizeUnknown: count === UNKNOWN };
}

/** The pools of one source, by name: a catalogue has as many as there are hosts to look up. */
class Source {
    private readonly exact = new Map<string, HostPool>();
    private readonly patterns: readonly HostPool[];

    constructor(pools: readonly HostPool[]) {
        for (const pool of pools) {
            const name = normaliseHost(pool.host);
            if (!this.exact.has(name)) this.exact.set(name, pool);
        }
        this.patterns = pools.filter(({ host }) => host.startsWith("*"));
    }

    /** The first that names the host exactly, otherwise the first pattern that covers it. */
    find(host: string): HostPool | undefined {
        const name = normaliseHost(host);
        return this.exact.get(name) ?? this.patterns.find((pool) => hostMatches(pool.host, name));
    }
}
