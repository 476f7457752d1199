// What this account may not do, asked by access reviews: the widest question first, so that an administrator costs one call.
import type { IstioKind } from "../../model";
import { ISTIO_GROUP } from "./checks/crds";
import { RESOURCES, VERBS } from "./checks/permissions";
import type { Client, Cluster } from "./client";
import { type Needs, kindsByNamespace } from "./needs";
import type { Denied, Seen, Snapshot } from "./snapshot";

/** What is asked about; without a namespace all of them, `*` for everything. */
interface Question {
    readonly namespace?: string;
    readonly resource: string;
    readonly verb: string;
}

const ACTION = "create selfsubjectaccessreviews";

export async function collectDenied(client: Client, cluster: Cluster, needs: Needs): Promise<Snapshot["denied"]> {
    const api = cluster.api(client.AuthorizationV1Api);
    const ask = (question: Question): Promise<Seen<boolean>> => cluster.look(ACTION, async () => {
        const review = await api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes: { group: ISTIO_GROUP, ...question } } } });
        return review.status?.allowed === true;
    });
    const byNamespace = [...kindsByNamespace(needs)];
    if (isYes(await ask({ resource: "*", verb: "*" }))) return new Map(byNamespace.map(([namespace]) => [namespace, { seen: true, value: [] }]));
    const kinds = [...new Set(byNamespace.flatMap(([, some]) => some))];
    const everywhere: ReadonlyMap<string, boolean> = new Map(await Promise.all(kinds.flatMap((kind) => VERBS.map(async (verb) => [`${kind} ${verb}`, isYes(await ask({ resource: RESOURCES[kind], verb }))] as const))));
    return new Map(await Promise.all(byNamespace.map(async ([namespace, some]) => {
        const answers = await Promise.all(some.map((kind) => askForKind(kind, (verb) => everywhere.get(`${kind} ${verb}`) === true ? Promise.resolve({ seen: true, value: true }) : ask({ namespace, resource: RESOURCES[kind], verb }))));
        return [namespace, answers.reduce((all, one) => (all.seen && one.seen ? { seen: true, value: [...all.value, ...one.value] } : all.seen ? one : all))] as const;
    })));
}

const isYes = (answer: Seen<boolean>): boolean => answer.seen && answer.value;

async function askForKind(kind: IstioKind, ask: (verb: string) => Promise<Seen<boolean>>): Promise<Seen<readonly Denied[]>> {
    const answers = await Promise.all(VERBS.map(ask)), unseen = answers.find((answer) => !answer.seen);
    if (unseen !== undefined) return unseen;
    const verbs = VERBS.filter((_, index) => !isYes(answers[index] ?? { seen: true, value: false }));
    return { seen: true, value: verbs.length === 0 ? [] : [{ kind, verbs }] };
}
