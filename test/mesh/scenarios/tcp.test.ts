// Plain TCP: no name on the wire, a server that speaks first, hosts told apart by the address that is dialled, and a dead address.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Protocol, Route } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { delta } from "../counters";
import type { Lab } from "../lab";
import type { Fault } from "../lab/faults";
import { consumerPod, gatewayPod, vip } from "../lab/layout";
import { Addresses, counting, failures, slowest } from "../runs";
import type { Run } from "../runs";
import { scenario } from "../scenario";
import { MERGE_WINDOW_MS, WITHOUT_OUTLIER, answering, attemptsFilter, declared } from "../variants";
import type { Attempts, Changes } from "../variants";

const PORT = 5432, LISTENED = 15432;
/** Addresses of the documentation range: what is dialled is nobody's, so that only the mesh can have led to the VIP. */
const dialled = (last: number): string => `192.0.2.${String(last)}`;
const overTcp = (host: string, address: string, ...changes: readonly Changes[]): DeclarationInput =>
    declared(host, { ports: [{ number: PORT, protocol: Protocol.Tcp }], addresses: [address] }, ...changes);

/** Two hosts on one gateway port, and one without a gateway. */
const HOSTS = {
    "clearing-database": overTcp("db.clearing.example", dialled(20)),
    "ledger-database": overTcp("db.ledger.example", dialled(21)),
    "direct-database": overTcp("db.direct.example", dialled(22), { route: Route.Direct }),
};
const SERVERS: Readonly<Record<keyof typeof HOSTS, string>> = { "clearing-database": vip(1), "ledger-database": vip(2), "direct-database": vip(3) };
const UNDECLARED = dialled(99);
/** Two addresses, one of them dead. */
const DEAD = {
    library: overTcp("library.dead.example", dialled(30), answering(2)),
    plain: overTcp("plain.dead.example", dialled(31), answering(2), WITHOUT_OUTLIER),
    attempts: overTcp("attempts.dead.example", dialled(32), answering(2)),
};
type Variant = keyof typeof DEAD;
const TITLES: Readonly<Record<Variant, string>> = {
    library: "what the library emits", plain: "connectTimeout 1 s only", attempts: "and 5 connect attempts with back-off 50–500 ms, by hand",
};
const ATTEMPTS: Attempts = { count: 5, backOff: ["0.05s", "0.5s"] };

interface Seen {
    readonly name: string;
    readonly sent: number;
    readonly failed: number;
    /** Answers of a server that is another host's. */
    readonly astray: number;
    /** Who the server's connections came from, and the first ClientHello from the sidecar to the gateway. */
    readonly from: readonly string[];
    readonly atGateway: { readonly sni?: string; readonly alpn: readonly string[] } | null;
}

interface DeadInputs { readonly connections: number; readonly runs: number }
interface DeadRow { readonly variant: Variant; readonly fault: Fault; readonly least: number; readonly most: number; readonly isThorough?: boolean; readonly isQuick?: boolean; readonly earlier?: string; readonly why?: string }
const DEAD_ROWS: readonly DeadRow[] = [
    { variant: "plain", fault: "drop", least: 44, most: 56 },
    { variant: "plain", fault: "refuse", least: 44, most: 56, isQuick: true },
    { variant: "library", fault: "drop", least: 0, most: 3, isQuick: true, earlier: "9 of 600" },
    { variant: "library", fault: "refuse", least: 0, most: 3, earlier: "4 of 600" },
    { variant: "attempts", fault: "drop", least: 0, most: 0, isThorough: true },
    { variant: "attempts", fault: "refuse", least: 0, most: 0, isThorough: true },
];

const addresses = new Addresses();

scenario("tcp", {
    title: "TCP", question: "Do plain TCP connections reach the host whose address was dialled, with a server that speaks first, and what do they lose when one of two addresses is dead?",
}, ({ lab, cell }) => {
    let earlier: Record<string, number> = {};
    before(async function () {
        this.timeout(120_000);
        earlier = { ...await lab().istiod.complaints() };
        addresses.take(Object.keys(SERVERS).length);
        for (const [name, { host }] of Object.entries(HOSTS)) await lab().dns.addresses(host, [SERVERS[name as keyof typeof HOSTS]]);
        for (const { host } of Object.values(DEAD)) await lab().dns.addresses(host, addresses.take(2), { ttl: 1 });
        await lab().cluster.apply([attemptsFilter(DEAD.attempts.host, ATTEMPTS, LISTENED)]);
        expect(await lab().up({ ...HOSTS, ...DEAD })).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());

    cell({
        id: "hosts", title: "Two hosts on one gateway port, one without a gateway", full: { connections: 200 }, quick: { connections: 10 },
        measure: async (one, { connections }) => {
            const seen: Seen[] = [];
            for (const name of Object.keys(HOSTS) as (keyof typeof HOSTS)[]) seen.push(await look(one, name, connections));
            return { seen };
        },
        expect: ({ seen }) => {
            for (const { name, failed, astray, from, atGateway } of seen) {
                const { host, route } = HOSTS[name as keyof typeof HOSTS], isDirect = route === Route.Direct;
                expect([failed, astray], name).to.deep.equal([0, 0]);
                expect(from).to.deep.equal([isDirect ? consumerPod("payments").address : gatewayPod(0).address]);
                expect(atGateway).to.deep.equal(isDirect ? null : { sni: host, alpn: ["istio"] });
            }
        },
        shown: ({ seen }) => `${String(seen.reduce((sum, { sent }) => sum + sent, 0))} connections to ${String(seen.length)} hosts: none lost, none astray; sidecar to gateway: SNI ${seen[0]?.atGateway?.sni ?? "?"}, ALPN istio`,
        earlier: "two hosts on one gateway port",
    });

    cell({
        id: "conversation", title: "A server that speaks first, lines both ways", full: {}, quick: {},
        measure: async (one) => ({ lines: await one.apps.payments.talkPlain(dialled(20), PORT, "select 1") }),
        expect: ({ lines }) => expect(lines).to.deep.equal([`220 ${vip(1)} ready`, "select 1"]),
        shown: ({ lines }) => lines.join(" / "),
    });

    cell({
        id: "undeclared-address", title: "An address that no host declares, on the same port", full: {}, quick: {},
        measure: async (one) => {
            const begin = Date.now(), outcome = await one.apps.payments.talkPlain(UNDECLARED, PORT, "select 1").then((lines) => lines.join(" / "), (error: Error) => error.message);
            const reached = (await one.vips.connections(begin)).length;
            return { outcome, reached };
        },
        expect: ({ reached }) => expect(reached, "connections that a declared host got instead").to.equal(0),
        shown: ({ outcome }) => `reaches no declared host: ${outcome}`,
        why: "its connection passes by the route, to nobody here",
    });

    cell({
        id: "spread", title: "Two addresses, dialled by one", full: { connections: 200 }, quick: { connections: 20 },
        measure: async (one, { connections }) => {
            const { host } = DEAD.library, pair = addresses.take(2);
            await one.dns.addresses(host, pair, { ttl: 1 });
            await one.members(host, pair, { port: PORT });
            const { sent, failed, by } = await one.apps.payments.load(host, { protocol: "tcp", address: dialled(30), port: PORT, count: connections, pace: { kind: "concurrency", connections: 4 } });
            return { sent, failed, by };
        },
        expect: ({ sent, failed, by }) => {
            expect(failed).to.equal(0);
            for (const count of Object.values(by)) expect(count).to.be.closeTo(sent / 2, sent / 4);
            expect(Object.keys(by)).to.have.length(2);
        },
        shown: ({ sent, by }) => `${String(sent)} connections to one address: ${Object.values(by).join(" and ")}`, earlier: "20 to one of two: 10 and 10", why: "the gateway chooses the address, whatever was dialled",
    });

    for (const { variant, fault, least, most, isThorough = false, isQuick = false, earlier: figure, why } of DEAD_ROWS) {
        cell<DeadInputs, { readonly runs: readonly Run[] }>({
            id: `dead-${fault}-${variant}`, title: `One of two addresses dead: ${fault}, ${TITLES[variant]}`, timeoutMs: 400_000,
            full: { connections: isThorough ? 1000 : 600, runs: isThorough ? 3 : 1 }, ...(isQuick ? { quick: { connections: 120, runs: 1 } } : {}),
            measure: async (one, { connections, runs }) => {
                const done: Run[] = [];
                for (let index = 0; index < runs; index++) done.push(await dead(one, variant, fault, connections));
                return { runs: done };
            },
            expect: ({ runs }) => {
                for (const { failed, sent, by } of runs) {
                    // The failures that eject an address are a number, whatever is sent: a share of the full set's.
                    const share = 100 * failed / (least === 0 ? Math.max(sent, 600) : sent), chance = least === 0 ? 0 : 300 * Math.sqrt(0.25 / sent);
                    expect(share, `${String(failed)} of ${String(sent)}`).to.be.within(Math.max(0, least - chance), most + chance);
                    expect(Object.keys(by), "the live address alone").to.have.length(1);
                }
            },
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, earlier: figure, why,
        });
    }

    cell({
        id: "complaints", title: "What istiod and Envoy refuse", full: {}, quick: {},
        measure: async (one) => ({ ...delta(earlier, { ...await one.istiod.complaints() }), rejections: await one.settled() }),
        expect: (figures) => expect(figures).to.deep.equal({ rejectedConfigs: 0, xdsRejects: 0, webhookRefusals: 0, rejections: {} }),
        shown: () => "nothing",
    });
});

async function look(lab: Lab, name: keyof typeof HOSTS, count: number): Promise<Seen> {
    const { host, addresses: [address = ""] = [] } = HOSTS[name], begin = Date.now(), gateway = lab.gateways.pod(0);
    await gateway.agent.call("captureStart", { ports: [LISTENED] });
    const { sent, failed, by } = await lab.apps.payments.load(host, { protocol: "tcp", address, port: PORT, count, pace: { kind: "concurrency", connections: 4 } });
    const [hello] = await gateway.agent.call("captureStop");
    const connections = (await lab.vips.connections(begin)).filter((one) => one.vip === SERVERS[name]);
    return {
        name, sent, failed, astray: sent - failed - (by[SERVERS[name]] ?? 0), from: [...new Set(connections.map(({ peer }) => peer))],
        atGateway: hello === undefined ? null : { ...(hello.sni === undefined ? {} : { sni: hello.sni }), alpn: hello.alpn },
    };
}

async function dead(lab: Lab, variant: Variant, fault: Fault, count: number): Promise<Run> {
    const { host, addresses: [address = ""] = [] } = DEAD[variant], [gone = "", alive = ""] = addresses.take(2);
    const load = (connections: number): ReturnType<typeof lab.apps.payments.load> =>
        lab.apps.payments.load(host, { protocol: "tcp", address, port: PORT, count: connections, pace: { kind: "concurrency", connections: 8 }, timeoutMs: 30_000 });
    await lab.dns.addresses(host, [gone, alive], { ttl: 1 });
    await lab.members(host, [gone, alive], { port: PORT });
    await wait(MERGE_WINDOW_MS + 200);
    expect((await load(8)).failed, "before the fault").to.equal(0);
    lab.faults.vip(gone, fault);
    const { run } = await counting(lab, host, () => load(count), { port: PORT });
    lab.faults.clearVip(gone);
    return run;
}
