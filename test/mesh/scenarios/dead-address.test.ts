// D: two A records, one of them dead. What do new connections lose, with which settings?
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Lab } from "../lab";
import type { Fault } from "../lab/faults";
import { Addresses, counting, expectShare, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isDue, isFull, scenario } from "../scenario";
import {
    DOCUMENTED_OUTLIER, LEAST_REQUEST, LOGICAL, MERGE_WINDOW_MS, SHORT_BACK_OFF, WITHOUT_OUTLIER, WITHOUT_TIMEOUT, answering, attemptsFilter, declared, withoutMergeWindow,
} from "../variants";
import type { Attempts, Changes } from "../variants";

/** What is expected per fault: nothing lost, a share in per cent, or a few failures in all. */
type Claim = { readonly kind: "none" } | { readonly kind: "share"; readonly percent: number } | { readonly kind: "few"; readonly most: number };
type PerFault<Value> = Readonly<Partial<Record<Fault, Value>>>;

interface Row {
    readonly id: string;
    readonly title: string;
    readonly changes: readonly Changes[];
    readonly attempts?: Attempts;
    readonly claims: PerFault<Claim>;
    readonly documents?: string;
    readonly earlier?: PerFault<string>;
    readonly why?: string;
    /** Belongs to the quick set too. */
    readonly quick?: readonly Fault[];
    /** Three runs of 1,000, as where nothing is to be lost. */
    readonly isThorough?: boolean;
    /** Default 8. */
    readonly atATime?: number;
    readonly connections?: number;
    /** The address is dead as soon as DNS has answered it; by default after Envoy's merge window. */
    readonly isNew?: boolean;
    readonly hasNoWindow?: boolean;
}

interface Inputs { readonly connections: number; readonly runs: number; readonly atATime: number }

const none: Claim = { kind: "none" };
const share = (percent: number): Claim => ({ kind: "share", percent });
const few = (most: number): Claim => ({ kind: "few", most });
const hostOf = ({ id }: Row): string => `${id}.dead.example`;
const BEST = { count: 5, backOff: SHORT_BACK_OFF };

const WINDOW = "an ejection within 1 s of the cluster's last change, as after a change of the answer or a re-admission, reaches the proxy's workers when that second is over: Envoy's update_merge_window";

/** Seen on a machine with ten times more to run than it has cores. */
const MERGED = "refused attempts fail in milliseconds: without (enough) back-off they are used up before the workers of the proxy know of the ejection, for which Envoy may take a second (update_merge_window)";

const ROWS: readonly Row[] = [
    {
        id: "timeout-least-request", title: "connectTimeout 1 s only, LEAST_REQUEST (what istiod takes)", changes: [WITHOUT_OUTLIER, LEAST_REQUEST], claims: { drop: share(67), refuse: share(75) },
        earlier: { drop: "66.8 %", refuse: "75.7 %" }, quick: ["refuse"],
    },
    {
        id: "timeout-one-at-a-time", title: "The same, one connection at a time", changes: [WITHOUT_OUTLIER, LEAST_REQUEST], claims: { drop: share(50), refuse: share(50) }, atATime: 1, documents: "51.7 %",
        why: "LEAST_REQUEST favours the dead address only while the live one has connections; the documents opened one at a time",
    },
    {
        id: "timeout-round-robin", title: "connectTimeout 1 s only, ROUND_ROBIN", changes: [WITHOUT_OUTLIER], claims: { drop: share(50), refuse: share(50) }, earlier: { drop: "50.2 %", refuse: "50.2 %" }, quick: ["refuse"],
    },
    {
        id: "no-timeout", title: "No connectTimeout, ROUND_ROBIN", changes: [WITHOUT_TIMEOUT], claims: { drop: share(50) }, connections: 48, earlier: { drop: "10 s per failure" },
    },
    {
        id: "outlier", title: "+ outlier detection of the documents (LEAST_REQUEST, minHealthPercent 0)", changes: [DOCUMENTED_OUTLIER, LEAST_REQUEST], claims: { drop: few(12), refuse: few(20) },
        documents: "0.21 %, ejections_enforced_total 2", earlier: { drop: "8 of 600 (1.33 %)", refuse: "4 of 600 (0.67 %)" },
        why: "what fails is a count, not a share: 3 that fill the threshold and those that begin until every worker of the proxy knows of the ejection; the documents opened one at a time",
    },
    {
        id: "library", title: "What the library emits (outlier detection, ROUND_ROBIN, minHealthPercent 1)", changes: [], claims: { drop: few(12), refuse: few(20) }, quick: ["drop"],
    },
    { id: "library-new", title: "The same, the address dead as soon as it is in the list", changes: [], claims: { drop: few(60), refuse: few(400) }, isNew: true, why: WINDOW },
    { id: "library-new-no-window", title: "The same without Envoy's update_merge_window (EnvoyFilter)", changes: [], claims: { drop: few(12), refuse: few(30) }, isNew: true, hasNoWindow: true },
    {
        id: "attempts-3", title: "+ 3 connect attempts, no outlier detection (LEAST_REQUEST)", changes: [WITHOUT_OUTLIER, LEAST_REQUEST], attempts: { count: 3 }, claims: { drop: share(28), refuse: share(39) },
        earlier: { drop: "28.2 %", refuse: "38.7 %" }, why: "LEAST_REQUEST favours the dead address by how long the live one's connections last",
    },
    {
        id: "outlier-attempts-3", title: "Outlier detection + 3 attempts (LEAST_REQUEST)", changes: [DOCUMENTED_OUTLIER, LEAST_REQUEST], attempts: { count: 3 }, claims: { drop: few(3), refuse: few(60) }, earlier: { drop: "0 of 600", refuse: "1 of 600" },
        why: MERGED,
    },
    {
        id: "outlier-attempts-3-round-robin", title: "Outlier detection + 3 attempts, ROUND_ROBIN", changes: [DOCUMENTED_OUTLIER], attempts: { count: 3 }, claims: { drop: none, refuse: few(12) }, isThorough: true,
        earlier: { drop: "0 of 600", refuse: "0 of 600" }, why: MERGED,
    },
    {
        id: "outlier-attempts-5", title: "Outlier detection + 5 attempts (LEAST_REQUEST)", changes: [DOCUMENTED_OUTLIER, LEAST_REQUEST], attempts: { count: 5 }, claims: { drop: none, refuse: few(30) }, isThorough: true, earlier: { drop: "0 of 600", refuse: "0 of 600" },
        why: MERGED,
    },
    {
        id: "outlier-attempts-5-back-off", title: "Outlier detection + 5 attempts with back-off 50–500 ms (LEAST_REQUEST)", changes: [DOCUMENTED_OUTLIER, LEAST_REQUEST], attempts: BEST, claims: { drop: none, refuse: few(2) }, isThorough: true,
        earlier: { drop: "0 of 600", refuse: "0 of 600" }, why: MERGED,
    },
    {
        id: "best", title: "Outlier detection + ROUND_ROBIN + 5 attempts with back-off 50–500 ms", changes: [DOCUMENTED_OUTLIER], attempts: BEST, claims: { drop: none, refuse: none }, earlier: { drop: "0 of 1,000", refuse: "0 of 1,000" },
    },
    {
        id: "best-min-health-1", title: "The same on the library's rule (minHealthPercent 1)", changes: [], attempts: BEST, claims: { drop: none, refuse: none }, earlier: { refuse: "0 of 1,000" }, quick: ["drop"],
    },
    {
        id: "logical-dead-first", title: "LOGICAL, the dead address first in the answer", changes: [LOGICAL], claims: { drop: none, refuse: none }, earlier: { drop: "0 of 300, +0.3 s each" }, quick: ["drop"],
    },
];

const addresses = new Addresses();

scenario("dead-address", { title: "A dead address beside a live one", question: "Two A records, one of them dead: what do new connections lose, with which settings?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(240_000);
        const rows = ROWS.filter(({ id, claims, quick }) => isFull ? Object.keys(claims).some((fault) => isDue("dead-address", `${id}-${fault}`)) : quick !== undefined);
        for (const row of rows) await lab().dns.addresses(hostOf(row), addresses.take(2), { ttl: 1 });
        await lab().cluster.apply(rows.flatMap((row) => row.attempts === undefined ? [] : [attemptsFilter(hostOf(row), row.attempts)]));
        await lab().cluster.apply(rows.filter(({ hasNoWindow }) => hasNoWindow === true).map((row) => withoutMergeWindow(hostOf(row))));
        expect(await lab().up(Object.fromEntries(rows.map((row) => [row.id, declared(hostOf(row), answering(2), ...row.changes)])))).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    for (const row of ROWS) {
        for (const fault of ["drop", "refuse"] as const) {
            const claim = row.claims[fault];
            if (claim === undefined) continue;
            const isThorough = claim.kind === "none" || row.isThorough === true;
            const { atATime = 8, connections = isThorough ? 1000 : 400 } = row;
            cell<Inputs, { runs: readonly Run[] }>({
                id: `${row.id}-${fault}`, title: `${row.title}: ${fault}`, timeoutMs: 600_000,
                full: { connections, runs: isThorough ? 3 : 1, atATime },
                ...(row.quick?.includes(fault) === true ? { quick: { connections: 120, runs: 1, atATime } } : {}),
                measure: (one, inputs) => measure(one, row, fault, inputs),
                expect: ({ runs }) => runs.forEach((run) => check(claim, run)),
                shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}, ${String(sum(runs, "outlier_detection.ejections_enforced_total"))} ejections`,
                documents: row.documents, earlier: row.earlier?.[fault], why: row.why,
            });
        }
    }
});

async function measure(lab: Lab, row: Row, fault: Fault, { connections, runs, atATime }: Inputs): Promise<{ readonly runs: readonly Run[] }> {
    const host = hostOf(row), done: Run[] = [];
    for (let index = 0; index < runs; index++) {
        const [dead = "", alive = ""] = addresses.take(2), isLogical = row.changes.includes(LOGICAL);
        await lab.dns.addresses(host, [dead, alive], { ttl: 1 });
        await lab.members(host, isLogical ? [dead] : [dead, alive]);
        if (row.isNew !== true) await wait(MERGE_WINDOW_MS + 200);
        await warmUp(lab, host);
        lab.faults.vip(dead, fault);
        const { run } = await counting(lab, host, () => lab.apps.payments.load(host, { count: connections, pace: { kind: "concurrency", connections: atATime }, timeoutMs: 30_000 }));
        lab.faults.clearVip(dead);
        done.push(run);
    }
    return { runs: done };
}

function check(claim: Claim, { failed, sent, by }: Run): void {
    expect(Object.keys(by), "addresses that answered: the live one alone").to.have.length(1);
    switch (claim.kind) {
        case "none": expect(failed).to.equal(0); break;
        case "share": expectShare(failed, sent, claim.percent); break;
        case "few": expect(failed).to.be.at.most(claim.most); break;
    }
}

function sum(runs: readonly Run[], name: string): number {
    return runs.reduce((total, { counted }) => total + (counted[name] ?? 0), 0);
}
