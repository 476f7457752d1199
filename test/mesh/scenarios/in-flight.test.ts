// A: a response is under way when the A record moves. Is it whole, who sent it, and what do the proxy's counters show?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Route } from "../../../model";
import type { Lab } from "../lab";
import type { Pod } from "../lab/pods";
import { clusterName } from "../counters";
import { Addresses } from "../runs";
import { isDue, isFull, scenario } from "../scenario";
import { LOGICAL, declared } from "../variants";

type Path = "direct" | "mtls-passthrough" | "l7";
type Resolution = "strict" | "logical";
/** Envoy's DNS clusters as they are, or the ones before, which a runtime setting brings back. */
type Implementation = "new" | "old";
interface Combination { readonly path: Path; readonly resolution: Resolution; readonly implementation: Implementation }
interface Inputs { readonly streamSeconds: number; readonly flipAt: number; readonly snapshotsAt: readonly [number, number]; readonly afterSeconds: number; readonly ttl: number }

const COLUMNS = ["membership_change", "upstream_cx_active", "upstream_cx_destroy", "upstream_cx_destroy_local", "upstream_cx_destroy_with_active_rq"] as const;
/** As counted since BEFORE, apart from `upstream_cx_active`. */
type Snapshot = Readonly<Record<(typeof COLUMNS)[number], number>> & { /** Address in the endpoint list → open connections. */ readonly endpoints: Readonly<Record<string, number>> };
interface Figures {
    readonly old: string;
    readonly new: string;
    readonly client: { readonly ok: boolean; readonly bytes: number | undefined; readonly seconds: number; readonly from: string | undefined };
    readonly before: Snapshot;
    readonly mid1: Snapshot;
    readonly mid2: Snapshot;
    readonly after: Snapshot;
    /** Who answers afterwards: the old VIP when it answers any of eight requests, since each of the proxy's workers has connections of its own. */
    readonly next: string | undefined;
}

const DNS_IMPLEMENTATION = "envoy.reloadable_features.enable_new_dns_implementation";
const PATHS: readonly Path[] = ["direct", "mtls-passthrough", "l7"];
const COMBINATIONS = (["new", "old"] as const).flatMap((implementation) => PATHS.flatMap((path) => (["strict", "logical"] as const).map((resolution): Combination => ({ path, resolution, implementation }))));
const TITLES: Readonly<Record<Path, string>> = { direct: "L4 direct", "mtls-passthrough": "L4 mTLS passthrough", l7: "L7, the sidecar originates TLS" };
const DOCUMENTS: Readonly<Record<string, string>> = {
    "direct-strict": "complete, 40.05 s, all from the old VIP; membership_change 4, 4, 5; active 0, 1, 1, 0; destroy 38, 38, 38, 39",
    "direct-logical": "complete, 40.06 s and 40.05 s",
    "l7-strict": "complete, 40.05 s; membership_change 17, 18; active 0, 1, 1, 0; destroy 51, 51, 51, 52, destroy_local 7 → 8; the next request uses the new VIP",
    "l7-logical": "complete, 40.05 s; membership_change 20, unchanged; active 0, 1, 1, 1; destroy 52, unchanged; the connection stays, labelled with the new address, and may carry requests to the old VIP",
};
const EARLIER: Readonly<Record<string, string>> = { "strict-new": "as the documents", "logical-new": "membership_change +1, no connection under the new address", "logical-old": "exactly as the documents" };
const WHY: Readonly<Record<string, string>> = {
    "strict-new": "Figures since BEFORE. Ours has the new address at MID1: TTL 5 s",
    "logical-new": "Envoy's newer LOGICAL cluster counts each change of its address, and replaces the address under the connection",
};
const idOf = ({ path, resolution, implementation }: Combination): string => `${path}-${resolution}-${implementation}`;
const hostOf = (combination: Combination): string => `${idOf(combination)}.inflight.example`;
const portOf = ({ path }: Combination): number => path === "l7" ? 80 : 443;
const addresses = new Addresses();

scenario("in-flight", { title: "A response under way while the A record moves", question: "Is a 40 s response whole when the record moves after 5 s, who sends it, and what do the counters of the proxy show?" }, ({ lab, cell }) => {
    const used = COMBINATIONS.filter((one) => isFull ? isDue("in-flight", idOf(one)) : one.implementation === "new");
    before(async function () {
        this.timeout(240_000);
        for (const one of used) await lab().dns.addresses(hostOf(one), addresses.take(1));
        // A cluster keeps the implementation under which it was made.
        for (const implementation of ["new", "old"] as const) {
            if (!used.some((one) => one.implementation === implementation)) continue;
            const there = used.filter((one) => one.implementation === "new" || implementation === "old");
            if (implementation === "old") await setRuntime(lab(), "false");
            await lab().cluster.apply(there.filter(({ path }) => path === "l7").flatMap(originating));
            expect(await lab().up(Object.fromEntries(there.filter(({ path }) => path !== "l7").map((one) => [idOf(one), declaredFor(one)])))).to.deep.equal({});
        }
        await setRuntime(lab(), null);
    });

    // All are under way at once: each has its own host and addresses, and a minute for all is enough.
    let running: ReadonlyMap<string, Promise<Figures>> | undefined;
    for (const combination of COMBINATIONS) {
        const { path, resolution, implementation } = combination;
        cell<Inputs, Figures>({
            id: idOf(combination), title: `${TITLES[path]} × ${resolution === "strict" ? "STRICT" : "LOGICAL"}${implementation === "old" ? ", Envoy's old DNS clusters" : ""}`,
            full: { streamSeconds: 40, flipAt: 5, snapshotsAt: [12, 30], afterSeconds: 3, ttl: 5 },
            ...(implementation === "new" ? { quick: { streamSeconds: 9, flipAt: 1, snapshotsAt: [4, 7], afterSeconds: 1, ttl: 1 } } : {}),
            measure: (one, inputs) => {
                running ??= new Map(used.map((other) => [idOf(other), watch(one, other, inputs)]));
                return running.get(idOf(combination)) ?? Promise.reject(new Error("not started"));
            },
            expect: (figures) => check(combination, figures),
            shown: ({ client, old, new: later, mid1, mid2, after, next }) => [
                `${client.ok ? "complete" : "cut"}, ${client.seconds.toFixed(2)} s, from the ${client.from === old ? "old" : "new"} VIP`,
                `membership_change ${row("membership_change", mid1, mid2, after)}`, `active ${row("upstream_cx_active", mid1, mid2, after)}`, `destroy ${row("upstream_cx_destroy", mid1, mid2, after)}`,
                next === later ? "the next requests use the new VIP" : "a later request still uses the old VIP",
            ].join("; "),
            documents: DOCUMENTS[`${path}-${resolution}`], earlier: path === "mtls-passthrough" ? EARLIER[`${resolution}-${implementation}`] : undefined, why: WHY[`${resolution}-${implementation}`],
        });
    }
});

/** 0 at BEFORE, then MID1, MID2, AFTER. */
function row(name: (typeof COLUMNS)[number], ...snapshots: readonly Snapshot[]): string {
    return ["0", ...snapshots.map((snapshot) => String(snapshot[name]))].join(", ");
}

async function watch(lab: Lab, combination: Combination, { streamSeconds, flipAt, snapshotsAt, afterSeconds, ttl }: Inputs): Promise<Figures> {
    const host = hostOf(combination), port = portOf(combination), pod = ownerOf(lab, combination), [old = "", later = ""] = addresses.take(2);
    const request = (path: string): ReturnType<Lab["apps"]["payments"]["request"]> =>
        lab.apps.payments.request(host, { path, port, timeoutMs: 90_000, ...(combination.path === "l7" ? { protocol: "plaintext", address: "10.77.9.9" } : {}) });
    await lab.dns.addresses(host, [old], { ttl });
    await lab.members(host, [old], { pod, port });
    const cluster = clusterName(host, port), zero = await read(pod, cluster), begin = Date.now();
    const snapshot = async (): Promise<Snapshot> => since(zero, await read(pod, cluster));
    const before = await snapshot();
    const stream = request(`/slow/${String(streamSeconds)}`);
    // The times of the documents' snapshots.
    const at = (seconds: number): Promise<void> => wait(Math.max(0, begin + seconds * 1000 - Date.now()));
    await at(flipAt);
    await lab.dns.addresses(host, [later], { ttl });
    await at(snapshotsAt[0]);
    const mid1 = await snapshot();
    await at(snapshotsAt[1]);
    const mid2 = await snapshot(), { ok, reply, ms } = await stream;
    await wait(afterSeconds * 1000);
    const after = await snapshot(), nexts: (string | undefined)[] = [];
    for (let count = 0; count < 8; count++) nexts.push((await request("/")).reply?.who?.vip);
    return { old, new: later, client: { ok, bytes: reply?.bytes, seconds: ms / 1000, from: reply?.who?.vip }, before, mid1, mid2, after, next: nexts.find((next) => next !== later) ?? later };
}

function check({ path, resolution, implementation }: Combination, { old, new: later, client, before, mid1, mid2, after, next }: Figures): void {
    expect(client).to.include({ ok: true, from: old });
    const three = (name: (typeof COLUMNS)[number]): readonly number[] => [mid1, mid2, after].map((snapshot) => snapshot[name]);
    expect(before.upstream_cx_active).to.equal(0);
    const stays = path === "l7" && resolution === "logical" && implementation === "old";
    expect(three("upstream_cx_active"), "upstream_cx_active").to.deep.equal([1, 1, stays ? 1 : 0]);
    expect(three("upstream_cx_destroy"), "upstream_cx_destroy").to.deep.equal([0, 0, stays ? 0 : 1]);
    expect(three("upstream_cx_destroy_with_active_rq"), "upstream_cx_destroy_with_active_rq").to.deep.equal([0, 0, path === "l7" ? 0 : 1]); // At L4 a connection counts as a request as long as it lives.
    const changes = resolution === "logical" && implementation === "old" ? 0 : 1;
    expect(mid2.membership_change, "membership_change").to.equal(changes);
    expect(Object.keys(mid2.endpoints), "endpoint list").to.deep.equal([later]);
    expect(next, "who answers the next request").to.equal(stays ? old : later);
}

async function read(pod: Pod, cluster: string): Promise<Snapshot> {
    const [statistics, members] = await Promise.all([pod.envoy.cluster(cluster), pod.envoy.members(cluster)]);
    const values = Object.fromEntries(COLUMNS.map((name) => [name, statistics[name] ?? 0])) as Record<(typeof COLUMNS)[number], number>;
    return { ...values, endpoints: Object.fromEntries(members.map(({ address, active }) => [address, active])) };
}

function since(zero: Snapshot, now: Snapshot): Snapshot {
    const values = Object.fromEntries(COLUMNS.map((name) => [name, name === "upstream_cx_active" ? now[name] : now[name] - zero[name]])) as Record<(typeof COLUMNS)[number], number>;
    return { ...values, endpoints: now.endpoints };
}

/** The proxy that owns the host's cluster. */
function ownerOf(lab: Lab, { path }: Combination): Pod {
    return path === "mtls-passthrough" ? lab.gateways.pod(0) : lab.sidecars.payments;
}

async function setRuntime(lab: Lab, value: string | null): Promise<void> {
    await Promise.all([lab.gateways.pod(0), lab.sidecars.payments].map((pod) => pod.envoy.runtime({ [DNS_IMPLEMENTATION]: value })));
}

function declaredFor(combination: Combination): ReturnType<typeof declared> {
    return declared(hostOf(combination), combination.path === "direct" ? { route: Route.Direct } : {}, combination.resolution === "logical" ? LOGICAL : {});
}

/** The documents' L7: the application speaks plain HTTP, the sidecar TLS. */
function originating(combination: Combination): readonly object[] {
    const host = hostOf(combination), metadata = { name: idOf(combination), namespace: "payments" };
    return [
        {
            apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata,
            spec: {
                hosts: [host], exportTo: ["."], location: "MESH_EXTERNAL", resolution: combination.resolution === "strict" ? "DNS" : "DNS_ROUND_ROBIN",
                ports: [{ number: 80, name: "http", protocol: "HTTP", targetPort: 443 }],
            },
        },
        // Whose certificate it is does not matter here: pods have the system's roots, not the lab's authority.
        { apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata, spec: { host, exportTo: ["."], trafficPolicy: { tls: { mode: "SIMPLE", sni: host, insecureSkipVerify: true } } } },
    ];
}
