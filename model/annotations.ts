// The annotations by which an object carries the intent of its declaration, written by manifests/ and read by policies/.
import { Membership } from "./resolution";

const PREFIX = "istio-egress/";

export const ANNOTATIONS = {
    /** The declaration's name. */
    declaration: `${PREFIX}declaration`,
    host: `${PREFIX}host`,
    route: `${PREFIX}route`,
    membership: `${PREFIX}membership`,
    addressesPerAnswer: `${PREFIX}addresses-per-answer`,
    owner: `${PREFIX}owner`,
    purpose: `${PREFIX}purpose`,
    expires: `${PREFIX}expires`,
} as const;

/** What is known of the pool behind a host. */
export interface Pool {
    readonly membership: Membership;
    /** Absent where it is unknown; rotating pools need none. */
    readonly addressesPerAnswer?: number;
}

/** The pool that an object declares by annotations; undefined when it declares none or an unreadable one. */
export function poolFromAnnotations(annotations: Readonly<Record<string, unknown>>): Pool | undefined {
    const membership = Object.values(Membership).find((value) => value === annotations[ANNOTATIONS.membership]);
    if (membership === undefined) return undefined;
    const count = Number(annotations[ANNOTATIONS.addressesPerAnswer]);
    return Number.isInteger(count) && count >= 1 ? { membership, addressesPerAnswer: count } : { membership };
}

/** The annotations of a pool. */
export function poolAnnotations(pool: Pool): Record<string, string> {
    return {
        [ANNOTATIONS.membership]: pool.membership,
        ...(pool.addressesPerAnswer === undefined ? {} : { [ANNOTATIONS.addressesPerAnswer]: String(pool.addressesPerAnswer) }),
    };
}
