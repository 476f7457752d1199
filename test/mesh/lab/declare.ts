// Declarations for scenarios: the README's host on the lab's gateway, changed as a scenario needs it.
import { Membership, OnConnectFailure, OnEmptyAnswer, Resolution, Route } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { GATEWAY, NAMESPACES } from "./layout";

/** What the GSLB does, for hosts whose connections wait for it, as they do by default. */
export const WAITING = { detectionTime: "10s", dnsTtl: "5s" } as const;

/**
 * A fixed pool of one address, on mTLS passthrough, for both consumers. Its connections fail at once, and while DNS answers nothing, so that
 * scenarios see what each of Istio's fields does alone; those about waiting say `failover: WAITING`.
 */
export function declare(changes: Partial<DeclarationInput> = {}): DeclarationInput {
    const { gateway, ...declaration }: DeclarationInput = {
        host: "api.partner.example",
        namespace: NAMESPACES.hosts,
        pool: { membership: Membership.Fixed, addressesPerAnswer: 1 },
        failover: { ...WAITING, onConnectFailure: OnConnectFailure.Fail },
        route: Route.MtlsPassthrough,
        gateway: GATEWAY,
        consumers: NAMESPACES.consumers.map((namespace) => ({ namespace })),
        ownership: { owner: "team-lab", purpose: "to be measured" },
        settleTime: "0s", // Nothing is under load while a scenario is set up; what the settle time is good for, scenario lifecycle measures.
        ...changes,
    };
    const placed = declaration.route === Route.Direct ? declaration : { ...declaration, gateway };
    return keepsNothing(placed) ? { ...placed, pool: { onEmptyAnswer: OnEmptyAnswer.Fail, ...placed.pool } } : placed;
}

/** Whether an empty answer is to do what it does in Istio: where connections fail at once too. */
function keepsNothing({ failover, pool, resolution }: DeclarationInput): boolean {
    return failover?.onConnectFailure === OnConnectFailure.Fail && pool.membership === Membership.Fixed && resolution !== Resolution.DnsRoundRobin;
}
