// Declarations for scenarios: the README's host on the lab's gateway, changed as a scenario needs it.
import { Membership, Route } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { GATEWAY, NAMESPACES } from "./layout";

/** A fixed pool of one address, on mTLS passthrough, for both consumers. */
export function declare(changes: Partial<DeclarationInput> = {}): DeclarationInput {
    const { gateway, ...declaration }: DeclarationInput = {
        host: "api.partner.example",
        namespace: NAMESPACES.hosts,
        pool: { membership: Membership.Fixed, addressesPerAnswer: 1 },
        failover: { detectionTime: "10s", dnsTtl: "5s" },
        route: Route.MtlsPassthrough,
        gateway: GATEWAY,
        consumers: NAMESPACES.consumers.map((namespace) => ({ namespace })),
        ownership: { owner: "team-lab", purpose: "to be measured" },
        ...changes,
    };
    return declaration.route === Route.Direct ? declaration : { ...declaration, gateway };
}
