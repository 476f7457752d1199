// C: answers of several addresses, and answers that are samples of a big pool. Who gets the connections, and how often does the list change?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Membership } from "../../../model";
import { clusterName } from "../counters";
import type { Lab } from "../lab";
import { vip } from "../lab/layout";
import { counting } from "../runs";
import { isFull, scenario } from "../scenario";
import { LOGICAL, answering, declared } from "../variants";
import type { Changes } from "../variants";

type Resolution = "strict" | "logical";
const RESOLUTIONS: readonly Resolution[] = ["strict", "logical"];
const COUNTS = [2, 4, 50] as const;
/** Of the pool, the addresses that one answer holds. */
const POOL = Array.from({ length: 500 }, (_, index) => vip(index + 1)), SAMPLE = 8;

interface Spread { readonly addresses: number; readonly members: number; /** Connections by address, most first. */ readonly by: readonly number[]; readonly first: boolean; readonly failed: number; readonly sent: number; readonly xdsRejects: number }
interface Churn {
    readonly seconds: number;
    readonly answers: number;
    readonly membershipChanges: number;
    /** The most and the fewest members that were seen. */
    readonly members: readonly [fewest: number, most: number];
    readonly addressesSeen: number;
    readonly addressesUsed: number;
    readonly failed: number;
    readonly sent: number;
}

const hostOf = (resolution: Resolution, count: number): string => `${resolution}-${String(count)}.many.example`;
const poolOf = (resolution: Resolution): string => `${resolution}.pool.example`;
const ROTATING: Changes = { pool: { membership: Membership.Rotating } };

scenario("many-addresses", { title: "Several addresses", question: "An answer holds several addresses, or a sample of a big pool: who gets the connections, and how often does the proxy's list change?" }, ({ lab, cell }) => {
    /** istiod counts since its start, and earlier scenarios may have made Envoy refuse something. */
    let rejectedBefore = 0;
    before(async function () {
        this.timeout(240_000);
        rejectedBefore = (await lab().istiod.complaints()).xdsRejects;
        const counts = COUNTS.filter((count) => isFull || count !== 4);
        for (const resolution of RESOLUTIONS) {
            for (const count of counts) await lab().dns.addresses(hostOf(resolution, count), POOL.slice(0, count));
            await lab().dns.addresses(poolOf(resolution), POOL, { order: "random", sample: SAMPLE, ttl: 1 });
        }
        const hosts = RESOLUTIONS.flatMap((resolution) => {
            const changes = resolution === "logical" ? [LOGICAL] : [];
            return [
                ...counts.map((count) => [`${resolution}-${String(count)}`, declared(hostOf(resolution, count), answering(count), ...changes)] as const),
                // A fixed pool where it is a mistake, to see what STRICT makes of samples.
                [`${resolution}-pool`, declared(poolOf(resolution), resolution === "logical" ? ROTATING : answering(SAMPLE))] as const,
            ];
        });
        expect(await lab().up(Object.fromEntries(hosts))).to.deep.equal({});
    });

    for (const count of COUNTS) {
        for (const resolution of RESOLUTIONS) {
            cell<{ readonly perAddress: number }, Spread>({
                id: `${resolution}-${String(count)}`, title: `${String(count)} A records × ${resolution.toUpperCase()}`, full: { perAddress: 20 }, ...(count === 4 ? {} : { quick: { perAddress: count === 2 ? 20 : 4 } }),
                measure: async (one, { perAddress }) => {
                    const spread = await spreadOf(one, resolution, count, perAddress);
                    return { ...spread, xdsRejects: spread.xdsRejects - rejectedBefore };
                },
                expect: ({ members, by, sent, failed, first, xdsRejects }) => {
                    expect({ failed, xdsRejects }).to.deep.equal({ failed: 0, xdsRejects: 0 });
                    if (resolution === "logical") return void expect({ members, by, first }).to.deep.equal({ members: 1, by: [sent], first: true });
                    expect([members, by.length]).to.deep.equal([count, count]);
                    // ROUND_ROBIN, by each of the gateway's worker threads for itself.
                    expect(Math.max(...by) - Math.min(...by)).to.be.at.most(WORKERS + 1);
                },
                shown: ({ members, by, sent }) => `${String(sent)} connections: ${resolution === "logical" ? "all to the first address" : `${String(Math.min(...by))} to ${String(Math.max(...by))} to each`}; ${String(members)} member${members === 1 ? "" : "s"}`,
                documents: count !== 2 ? undefined : resolution === "strict" ? "7 and 5 of 12, two members" : "15 of 15 to the first address, one member, nothing rejected",
                why: count === 2 && resolution === "strict" ? "ROUND_ROBIN, which the library writes, instead of istiod's LEAST_REQUEST" : undefined,
            });
        }
    }

    for (const resolution of RESOLUTIONS) {
        cell<{ readonly seconds: number; readonly perSecond: number }, Churn>({
            id: `pool-${resolution}`, title: `Answers of ${String(SAMPLE)} addresses drawn from ${String(POOL.length)}, TTL 1 s × ${resolution.toUpperCase()}`, full: { seconds: 60, perSecond: 20 }, quick: { seconds: 6, perSecond: 20 },
            measure: (one, { seconds, perSecond }) => churn(one, resolution, seconds, perSecond),
            expect: ({ seconds, answers, membershipChanges, members, addressesSeen, addressesUsed, failed }) => {
                expect(failed).to.equal(0);
                expect(answers, "answers to the gateway").to.be.greaterThan(seconds * 0.5);
                if (resolution === "logical") {
                    expect(members).to.deep.equal([1, 1]);
                    return;
                }
                expect(members).to.deep.equal([SAMPLE, SAMPLE]);
                expect(membershipChanges, "one change per answer").to.be.within(answers * 0.8 - 2, answers + 2);
                expect(addressesSeen).to.be.greaterThan(SAMPLE * 2);
                expect(addressesUsed).to.be.greaterThan(SAMPLE);
            },
            shown: ({ seconds, answers, membershipChanges, members, addressesSeen, sent, failed }) =>
                `${String(seconds)} s, ${String(answers)} answers: ${String(members[1])} member${members[1] === 1 ? "" : "s"} at a time, ${String(addressesSeen)} addresses in the list in all, membership_change +${String(membershipChanges)}; ${String(failed)} of ${String(sent)} failed`,
            documents: resolution === "strict" ? "an absent address is removed: a failover is recorded (membership_change)" : "no list: membership_change unchanged",
            why: resolution === "logical" ? "Envoy's newer LOGICAL cluster counts each change of its one address as a change of membership" : undefined,
        });
    }
});

/** Of the gateway: `concurrency` in its proxy configuration. */
const WORKERS = 2;

async function spreadOf(lab: Lab, resolution: Resolution, count: number, perAddress: number): Promise<Spread> {
    const host = hostOf(resolution, count), gateway = lab.gateways.pod(0), [first = ""] = POOL, sent = count * perAddress;
    await lab.members(host, resolution === "strict" ? POOL.slice(0, count) : [first]);
    const { run: { by, failed } } = await counting(lab, host, () => lab.apps.payments.load(host, { count: sent, pace: { kind: "concurrency", connections: 4 } }));
    const members = await gateway.envoy.members(clusterName(host));
    return {
        addresses: count, members: members.length, by: Object.values(by).sort((a, b) => b - a), first: by[first] === sent, failed, sent, xdsRejects: (await lab.istiod.complaints()).xdsRejects,
    };
}

async function churn(lab: Lab, resolution: Resolution, seconds: number, perSecond: number): Promise<Churn> {
    const host = poolOf(resolution), { envoy, plan } = lab.gateways.pod(0), seen = new Set<string>(), sizes: number[] = [], begin = Date.now();
    let isOver = false;
    const look = async (): Promise<void> => {
        for (; !isOver; await wait(200)) {
            const members = await envoy.members(clusterName(host));
            sizes.push(members.length);
            for (const { address } of members) seen.add(address);
        }
    };
    const looking = look();
    const { run: { sent, failed, by, counted } } = await counting(lab, host, () => lab.apps.payments.load(host, { count: seconds * perSecond, pace: { kind: "rate", perSecond } }));
    isOver = true;
    await looking;
    const asked = (await lab.dns.queries(begin)).filter(({ name, client, type }) => name === host && client === plan.address && type === "A");
    return {
        seconds, answers: asked.length, membershipChanges: counted["membership_change"] ?? 0, members: [Math.min(...sizes), Math.max(...sizes)], addressesSeen: seen.size, addressesUsed: Object.keys(by).length, failed, sent,
    };
}
