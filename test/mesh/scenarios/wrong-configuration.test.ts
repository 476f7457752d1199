// Each wrong configuration, as others write it, shows its symptom: what the application sees, what the proxies log, what istiod counts.
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { clusterName, delta } from "../counters";
import type { Lab } from "../lab";
import type { LoadResult } from "../lab/agent/load";
import type { Exchange } from "../lab/agent/client";
import { vip } from "../lab/layout";
import type { KubernetesObject } from "../lab/cluster";
import { expectBetween, lost } from "../figures";
import { scenario } from "../scenario";
import { MERGE_WINDOW_MS } from "../variants";

const PARTNER = "api.partner.example", OTHER = "pay.other.example";
/** The right answers. */
const RIGHT = { partner: vip(1), other: vip(3) };

/** What a wrong configuration looks like from outside. */
interface Symptom {
    /** The VIP that answered each host's request, or why none did. */
    readonly partner: string;
    readonly other: string;
    /** What the gateway and the sidecar logged of connections that failed: flags and details. */
    readonly atGateway: readonly string[];
    readonly atSidecar: readonly string[];
    /** What Envoy refuses, and those of the case's additional objects that istiod counts as rejected. */
    readonly rejected: readonly string[];
    readonly rejectedConfigs: readonly string[];
    /** The type of the host's cluster at the gateway. */
    readonly clusterType: string;
}

const NOTHING: Pick<Symptom, "atGateway" | "atSidecar" | "rejected" | "rejectedConfigs"> = { atGateway: [], atSidecar: [], rejected: [], rejectedConfigs: [] };
const FAILED = /^(closed|reset|tls)$/;

interface Case {
    readonly file: string;
    readonly title: string;
    readonly expect: (symptom: Symptom) => void;
    readonly earlier?: string;
    readonly why?: string;
    /** Where a failed connection is logged. */
    readonly logs?: "gateway" | "sidecar";
    readonly isQuick?: boolean;
}

const CASES: readonly Case[] = [
    { file: "good", title: "Right", expect: (seen) => expect(seen).to.deep.include({ ...RIGHT, ...NOTHING }), isQuick: true },
    {
        file: "subset-without-sni", title: "ISTIO_MUTUAL subset without sni", logs: "gateway", earlier: "NR filter_chain_not_found", isQuick: true,
        expect: ({ partner, other, atGateway }) => {
            expect(partner).to.match(FAILED);
            expect(other).to.equal(RIGHT.other);
            expect(atGateway.join(" ")).to.match(/^NR filter_chain_not_found/);
        },
    },
    {
        file: "two-hosts-one-server", title: "One ISTIO_MUTUAL server for two hosts", earlier: "both go to the first one's backend", isQuick: true,
        why: "one tcp route carries both: that of the older VirtualService, or the first by name where both are of the same second",
        expect: ({ partner, other }) => {
            expect(partner).to.equal(other);
            expect(partner).to.be.oneOf([RIGHT.partner, RIGHT.other]);
        },
    },
    {
        file: "wildcard-passthrough", title: "Wildcard PASSTHROUGH with a VirtualService for a host of an ISTIO_MUTUAL server", earlier: "Envoy rejects the whole listener", isQuick: true,
        why: "Envoy goes on with the listener before, until it is restarted",
        expect: ({ partner, other, rejected }) => {
            expect([partner, other]).to.deep.equal([RIGHT.partner, RIGHT.other]);
            expect(rejected.join(" ")).to.match(/has the same matching rules/);
        },
    },
    {
        file: "duplicate-server", title: "The same host in a second Gateway", earlier: "dropped, counted in pilot_total_rejected_configs", isQuick: true,
        why: "istiod goes on counting it after it has been deleted",
        expect: ({ partner, other, rejected, rejectedConfigs }) => {
            expect([partner, other, rejected]).to.deep.equal([RIGHT.partner, RIGHT.other, []]);
            expect(rejectedConfigs).to.deep.equal(["istio-egress/second"]);
        },
    },
    {
        file: "none-behind-gateway", title: "Resolution NONE behind the gateway", logs: "gateway", earlier: "UH", isQuick: true,
        expect: ({ partner, atGateway }) => {
            expect(partner).to.match(FAILED);
            expect(atGateway.join(" ")).to.match(/^UH/);
        },
    },
    {
        file: "https-server", title: "Protocol HTTPS instead of TLS on the ISTIO_MUTUAL server", logs: "gateway", earlier: "NR",
        why: "the gateway reads HTTP where the application's TLS comes (DPE, http1.codec_error)",
        expect: ({ partner, other }) => {
            expect(partner).to.match(FAILED);
            expect(other).to.equal(RIGHT.other);
        },
    },
    {
        file: "tls-route-at-gateway", title: "A tls route for the gateway where tcp is needed", logs: "gateway", earlier: "NR",
        expect: ({ partner, other, atGateway }) => {
            expect(partner).to.match(FAILED);
            expect(other).to.equal(RIGHT.other);
            expect(atGateway.join(" ")).to.match(/^NR/);
        },
    },
    {
        file: "entry-unseen-by-gateway", title: "ServiceEntry that the gateway cannot see", logs: "gateway",
        expect: ({ partner, other, clusterType }) => {
            expect(partner).to.match(FAILED);
            expect([other, clusterType]).to.deep.equal([RIGHT.other, "none"]);
        },
    },
    {
        file: "subsets-exported-unequally", title: "Two rules of the egress Service in one namespace, unequal exportTo", logs: "sidecar",
        expect: ({ partner, other }) => expect([partner, other].filter((answer) => FAILED.test(answer)).length).to.equal(1),
    },
    {
        file: "consumer-rule-hides", title: "A rule for the egress Service in the consumer's namespace beside those of the Service's", logs: "sidecar", isQuick: true,
        expect: ({ partner, other, atSidecar }) => {
            for (const answer of [partner, other]) expect(answer).to.match(FAILED);
            expect(atSidecar.join(" ")).to.match(/NC|UH|NR/);
        },
    },
    {
        file: "race-first-connect", title: "resolution DNS with connect strategy RACE_FIRST_TCP_CONNECT", earlier: "LOGICAL_DNS",
        expect: ({ partner, clusterType }) => expect([partner, clusterType]).to.deep.equal([RIGHT.partner, "LOGICAL_DNS"]),
    },
];

interface EjectionInputs { readonly connections: number }
interface Ejection { readonly load: LoadResult; readonly ejections: number; readonly overflows: number; readonly connectTimeout: string }
/** Two addresses, one of which refuses. */
const EJECTION: readonly { readonly file: string; readonly title: string; readonly least: number; readonly most: number; readonly expect: (seen: Ejection) => void; readonly earlier: string; readonly why?: string; readonly isQuick?: boolean }[] = [
    {
        file: "ejection-cap-missing", title: "Outlier detection without maxEjectionPercent", least: 50, most: 85, earlier: "0 ejections, 56 overflows, 226 of 300 lost", isQuick: true,
        expect: ({ ejections, overflows }) => {
            expect(ejections).to.equal(0);
            expect(overflows).to.be.greaterThan(0);
        },
    },
    {
        file: "port-entry-tls-only", title: "portLevelSettings with tls only", least: 50, most: 85, earlier: "outlier detection and connectTimeout gone (10 s), 231 of 300 lost",
        expect: ({ ejections, overflows, connectTimeout }) => expect([ejections, overflows, connectTimeout]).to.deep.equal([0, 0, "10s"]),
    },
    {
        file: "split-with-5xx-only", title: "Split with consecutive5xxErrors only", least: 0, most: 10, earlier: "still ejects, after Envoy's default of 5 local-origin failures",
        expect: ({ ejections }) => expect(ejections).to.equal(1),
    },
    {
        file: "no-split", title: "No split, consecutive5xxErrors 3", least: 0, most: 10, earlier: "ejects",
        expect: ({ ejections }) => expect(ejections).to.equal(1),
    },
];

scenario("wrong-configuration", {
    title: "Wrong configuration", question: "What does each wrong configuration look like to the application, in the proxies' logs, and in istiod's counters?",
}, ({ lab, cell }) => {
    before(async function () {
        this.timeout(60_000);
        for (const [host, address] of [[PARTNER, RIGHT.partner], [OTHER, RIGHT.other]] as const) await lab().dns.addresses(host, [address]);
        expect(await lab().apply(read("good"))).to.deep.equal({});
    });

    for (const { file, title, logs, isQuick, expect: expectation, earlier, why } of CASES) {
        cell({
            id: file, title, full: {}, ...(isQuick === true ? { quick: {} } : {}), timeoutMs: 90_000,
            measure: (one) => laid(one, file, (rejected) => look(one, file, rejected, logs)),
            expect: expectation, shown: show, earlier, why,
        });
    }

    for (const { file, title, least, most, expect: expectation, earlier, why, isQuick } of EJECTION) {
        cell<EjectionInputs, Ejection>({
            id: file, title: `${title}; two addresses, one refuses`, full: { connections: 300 }, ...(isQuick === true ? { quick: { connections: 100 } } : {}), timeoutMs: 120_000,
            measure: (one, { connections }) => laid(one, file, () => ejection(one, connections)),
            expect: (seen) => {
                expectBetween(seen.load, least, most);
                expectation(seen);
            },
            shown: ({ load, ejections, overflows, connectTimeout }) => `${lost(load)}; ${String(ejections)} ejections, ${String(overflows)} overflows, connect timeout ${connectTimeout}`, earlier, why,
        });
    }

    for (const { file, title, message, earlier } of [
        { file: "round-robin-two-endpoints", title: "DNS_ROUND_ROBIN with two endpoints", message: /DNS_ROUND_ROBIN/, earlier: "rejected" },
        { file: "threshold-without-split", title: "consecutiveLocalOriginFailures without the split", message: /split external local origin errors is set to false/ },
    ]) {
        cell({
            id: file, title: `${title}: refused`, full: {}, quick: {},
            measure: async (one) => ({ refusal: await one.cluster.apply(read(file)).then(() => "accepted", (error: Error) => error.message) }),
            expect: ({ refusal }) => expect(refusal).to.match(message), shown: ({ refusal }) => refusal, earlier,
        });
    }

    cell({
        id: "authorization", title: "Not wrong: an AuthorizationPolicy by principal and connection.sni at the gateway", full: {},
        measure: (one) => laid(one, "authorization", async () => {
            const begin = Date.now();
            const [allowed, denied, elsewhere] = [await one.apps.payments.request(PARTNER), await one.apps.orders.request(PARTNER), await one.apps.orders.request(OTHER)];
            const [entry] = await one.gateways.pod(0).logged(begin, ({ sni, clientIdentity }) => sni === PARTNER && clientIdentity?.includes("/ns/orders/") === true);
            return { allowed: answer(allowed), denied: answer(denied), elsewhere: answer(elsewhere), sentToVip: entry?.received ?? -1, details: entry?.details ?? "" };
        }),
        expect: ({ allowed, denied, elsewhere }) => {
            expect([allowed, elsewhere]).to.deep.equal([RIGHT.partner, RIGHT.other]);
            expect(denied).to.match(FAILED);
        },
        shown: ({ denied, details, sentToVip }) => `payments gets through, orders does not (${denied}; ${details}, ${String(sentToVip)} bytes taken from it), and reaches the other host`,
        earlier: "works per host",
    });
});

/** With a file's objects over the right ones, which are there again afterwards. */
async function laid<Value>(lab: Lab, file: string, action: (rejected: readonly string[]) => Promise<Value>): Promise<Value> {
    const objects = read(file), good = read("good");
    const keys = new Set(good.map(keyOf));
    try {
        const rejections = await lab.apply(objects);
        return await action(Object.values(rejections).flat().filter(({ name }) => name.startsWith("0.0.0.0_")).map(({ name, details }) => `${name}: ${details.trim()}`));
    } finally {
        lab.faults.clear();
        await lab.cluster.delete(objects.filter((object) => !keys.has(keyOf(object))));
        await lab.cluster.apply(good);
        await lab.settled();
    }
}

async function look(lab: Lab, file: string, rejected: readonly string[], logs: "gateway" | "sidecar" | undefined): Promise<Symptom> {
    const begin = Date.now(), gateway = lab.gateways.pod(0), sidecar = lab.sidecars.payments;
    const [partner, other] = [await lab.apps.payments.request(PARTNER, { timeoutMs: 8_000 }), await lab.apps.payments.request(OTHER, { timeoutMs: 8_000 })];
    const hasFailed = ({ flags }: { readonly flags: string | null }): boolean => flags !== null && flags !== "-";
    const pod = { gateway, sidecar };
    if (logs !== undefined) await pod[logs].logged(begin, hasFailed, 5_000).catch(() => undefined); // What is missing, the expectation tells.
    const flagged = (one: typeof gateway): readonly string[] => [...new Set(one.accessLog(begin).filter(hasFailed).map(({ flags, code, details }) => [flags, code, details].filter((text) => text !== null && text !== "-").join(" ")))];
    const config = await gateway.envoy.clusterConfig(clusterName(PARTNER));
    const { type = "STATIC", cluster_type: custom } = (config ?? {}) as { readonly type?: string; readonly cluster_type?: { readonly name?: string } };
    const good = new Set(read("good").map(keyOf));
    const names = read(file).filter((object) => !good.has(keyOf(object))).map(({ metadata }) => `${String(metadata?.["namespace"])}/${String(metadata?.["name"])}`);
    const rejectedConfigs = (await lab.istiod.rejectedConfigs()).filter((name) => names.includes(name));
    return { partner: answer(partner), other: answer(other), atGateway: flagged(gateway), atSidecar: flagged(sidecar), rejected, rejectedConfigs, clusterType: config === undefined ? "none" : custom?.name ?? type };
}

async function ejection(lab: Lab, count: number): Promise<Ejection> {
    const gateway = lab.gateways.pod(0).envoy, name = clusterName(PARTNER);
    await lab.dns.addresses(PARTNER, [RIGHT.partner, vip(2)], { ttl: 1 });
    await lab.members(PARTNER, [RIGHT.partner, vip(2)]);
    await wait(MERGE_WINDOW_MS + 200);
    const before = await gateway.cluster(name);
    lab.faults.vip(vip(2), "refuse");
    const load = await lab.apps.payments.load(PARTNER, { count, pace: { kind: "concurrency", connections: 8 }, timeoutMs: 15_000 });
    const counted = delta(before, await gateway.cluster(name)), config = await gateway.clusterConfig(name);
    await lab.dns.addresses(PARTNER, [RIGHT.partner]);
    return {
        load, ejections: counted["outlier_detection.ejections_enforced_total"] ?? 0, overflows: counted["outlier_detection.ejections_overflow"] ?? 0,
        connectTimeout: String(config?.["connect_timeout"]),
    };
}

function answer({ reply, reason }: Exchange): string {
    return reply?.who?.vip ?? reason ?? "?";
}

function show({ partner, other, atGateway, atSidecar, rejected, rejectedConfigs, clusterType }: Symptom): string {
    const parts = [
        `${PARTNER}: ${partner}`, `${OTHER}: ${other}`, ...atGateway.map((text) => `gateway logs ${text}`), ...atSidecar.map((text) => `sidecar logs ${text}`),
        ...rejected.map((text) => `Envoy refuses ${text}`), ...rejectedConfigs.map((name) => `pilot_total_rejected_configs counts ${name}`), `cluster at the gateway: ${clusterType}`,
    ];
    return parts.join("; ");
}

function read(file: string): readonly KubernetesObject[] {
    const text = readFileSync(path.join(__dirname, "../fixtures/wrong", `${file}.yaml`), "utf8");
    return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}

function keyOf({ kind, metadata }: KubernetesObject): string {
    return `${String(kind)} ${String(metadata?.["namespace"])}/${String(metadata?.["name"])}`;
}
