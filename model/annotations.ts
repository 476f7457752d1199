// The annotations by which an object carries the intent of its declaration, written by manifests/ and read by policies/.
import { MAX_ADDRESSES_PER_ANSWER, Membership } from "./resolution";

/** What begins with this is the declaration's. */
export const ANNOTATION_PREFIX = "istio-egress/";

/** `istio-egress/exempt-E201: "until 2027-01-31: reason"` lets an object off one rule; one annotation per rule. */
export const EXEMPTION_PREFIX = `${ANNOTATION_PREFIX}exempt-`;

export const ANNOTATIONS = {
    /** The declaration's name. */
    declaration: `${ANNOTATION_PREFIX}declaration`,
    host: `${ANNOTATION_PREFIX}host`,
    route: `${ANNOTATION_PREFIX}route`,
    membership: `${ANNOTATION_PREFIX}membership`,
    addressesPerAnswer: `${ANNOTATION_PREFIX}addresses-per-answer`,
    owner: `${ANNOTATION_PREFIX}owner`,
    purpose: `${ANNOTATION_PREFIX}purpose`,
    expires: `${ANNOTATION_PREFIX}expires`,
    /**
     * The URN of the component that wrote the object. Two of them cannot hold one object: the API server refuses the
     * second writer, whose value conflicts, where it would otherwise take the object over and later delete it.
     */
    resource: `${ANNOTATION_PREFIX}resource`,
} as const;

/** What is known of the pool behind a host. */
export interface Pool {
    readonly membership: Membership;
    /** Absent where it is unknown or beyond what a pool can have; rotating pools need none. */
    readonly addressesPerAnswer?: number;
}

/** The pool that an object declares by annotations; undefined when it declares none or an unreadable one. */
export function poolFromAnnotations(annotations: Readonly<Record<string, unknown>>): Pool | undefined {
    const membership = Object.values(Membership).find((value) => value === annotations[ANNOTATIONS.membership]);
    if (membership === undefined) return undefined;
    // Digits only, as `poolAnnotations` writes them: " 2", "2.0" and "0x2" mean what nobody meant.
    const text = annotations[ANNOTATIONS.addressesPerAnswer], count = typeof text === "string" && /^[1-9]\d{0,2}$/.test(text) ? Number(text) : undefined;
    return count !== undefined && count <= MAX_ADDRESSES_PER_ANSWER ? { membership, addressesPerAnswer: count } : { membership };
}

/** The annotations of a pool. */
export function poolAnnotations(pool: Pool): Record<string, string> {
    return {
        [ANNOTATIONS.membership]: pool.membership,
        ...(pool.addressesPerAnswer === undefined ? {} : { [ANNOTATIONS.addressesPerAnswer]: String(pool.addressesPerAnswer) }),
    };
}
