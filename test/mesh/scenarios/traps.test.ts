// What misleads an operator: live connections that no list shows, an address that the application forces, several endpoints under LOGICAL_DNS.
import { expect } from "chai";
import { Resolution, Route } from "../../../model";
import { clusterName } from "../counters";
import { declare } from "../lab/declare";
import { consumerPod, gatewayPod, vip } from "../lab/layout";
import { scenario } from "../scenario";

const consumers = [{ namespace: "payments" }];
const HOSTS = {
    mutual: declare({ host: "mutual.trap.example", consumers }),
    logical: declare({ host: "logical.trap.example", consumers, resolution: Resolution.DnsRoundRobin }),
    passthrough: declare({ host: "passthrough.trap.example", consumers, route: Route.Passthrough }),
    direct: declare({ host: "direct.trap.example", consumers, route: Route.Direct }),
    inactive: declare({ host: "inactive.trap.example", consumers, active: false }),
};
/** Answered by DNS, and dialled by the application instead. */
const ANSWERED = vip(1), FORCED = vip(2), FLIPPED = vip(3);

scenario("traps", { title: "Traps", question: "What does an operator see of connections to an address that DNS has removed, and where does an application get that forces an address?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        for (const { host } of Object.values(HOSTS)) await lab().dns.addresses(host, [ANSWERED], { ttl: 1 });
        await lab().up(HOSTS);
    });

    for (const mode of ["mutual", "logical"] as const) {
        const name = mode === "mutual" ? "STRICT" : "LOGICAL", { host } = HOSTS[mode];
        cell({
            id: `blind-spot-${name.toLowerCase()}`, title: `Live connections to an address that DNS has removed, ${name}`, full: { connections: 5 }, quick: { connections: 2 },
            measure: async (one, { connections: count }) => {
                const gateway = one.gateways.pod(0).envoy, cluster = clusterName(host);
                await one.dns.addresses(host, [ANSWERED], { ttl: 1 });
                await one.members(host, [ANSWERED]);
                const connections = await Promise.all(Array.from({ length: count }, () => one.apps.payments.connect(host)));
                for (const connection of connections) await connection.ask();
                await one.dns.addresses(host, [FLIPPED], { ttl: 1 });
                await one.members(host, [FLIPPED]);
                const [members, counted, open] = [await gateway.members(cluster), await gateway.cluster(cluster), await one.vips.open()];
                const answers = await Promise.all(connections.map((connection) => connection.ask()));
                await Promise.all(connections.map((connection) => connection.close()));
                return {
                    count, members: members.map(({ address, active }) => ({ address, active })), clusterActive: counted["upstream_cx_active"] ?? 0,
                    atOldVip: open[ANSWERED] ?? 0, stillServed: answers.filter(({ ok, reply }) => ok && reply?.who?.vip === ANSWERED).length,
                };
            },
            expect: ({ count, members, clusterActive, atOldVip, stillServed }) => {
                expect([clusterActive, atOldVip, stillServed]).to.deep.equal([count, count, count]);
                expect(members).to.deep.equal([{ address: FLIPPED, active: 0 }]);
            },
            shown: ({ count, members, clusterActive, atOldVip }) =>
                `${String(count)} connections, all served by the old VIP (it holds ${String(atOldVip)}); endpoints: ${members.map(({ address, active }) => `${address} with ${String(active)} active`).join(", ")}; the cluster's upstream_cx_active: ${String(clusterActive)}`,
            documents: name === "STRICT" ? "in no endpoint list, only in the cluster's total upstream_cx_active" : "the connection's label in the endpoint dump shows the new address",
            why: name === "STRICT" ? undefined : "this Envoy's DNS cluster makes a new host of the new address and shows no connection under it; the documents' Envoy kept one host and changed its label",
        });
    }

    for (const mode of ["mutual", "logical", "passthrough", "direct", "inactive"] as const) {
        const { host, route, active } = HOSTS[mode], isObeyed = active === false;
        cell({
            id: `forced-address-${mode}`, title: `The application forces an address; ${isObeyed ? "active: false" : `route ${route}${mode === "logical" ? ", LOGICAL" : ""}`}`, full: { connections: 50 }, quick: { connections: 5 },
            measure: async (one, { connections }) => {
                await one.dns.addresses(host, [ANSWERED], { ttl: 1 });
                if (!isObeyed) await one.members(host, [ANSWERED], route === Route.Direct ? { pod: one.sidecars.payments } : {});
                const begin = Date.now(), { by, failed } = await one.apps.payments.load(host, { address: FORCED, count: connections, pace: { kind: "concurrency", connections: 4 } });
                const [connection] = (await one.vips.connections(begin)).filter(({ sni }) => sni === host);
                return { by, failed, from: connection?.peer ?? "?" };
            },
            expect: ({ by, failed, from }) => {
                expect(failed).to.equal(0);
                expect(Object.keys(by)).to.deep.equal([isObeyed ? FORCED : ANSWERED]);
                expect(from).to.equal((isObeyed || route === Route.Direct ? consumerPod("payments") : gatewayPod(0)).address);
            },
            shown: ({ by, from }) => `DNS says ${ANSWERED}, the application dials ${FORCED}: ${Object.entries(by).map(([address, count]) => `${String(count)} answered by ${address}`).join(", ")}, from ${from === gatewayPod(0).address ? "the gateway" : "the application's own pod"}`,
            ...(isObeyed ? { why: "without the mesh leg the sidecar dials what the application dialled (the client's view, resolution NONE)" } : { documents: "goes where Envoy's list says" }),
        });
    }

    cell({
        id: "logical-two-endpoints", title: "LOGICAL with two endpoints", full: {}, quick: {},
        measure: async (one) => ({
            refusal: await one.cluster.apply([{
                apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "two", namespace: "egress" },
                spec: {
                    hosts: ["two.trap.example"], location: "MESH_EXTERNAL", resolution: "DNS_ROUND_ROBIN", ports: [{ number: 443, name: "tls", protocol: "TLS" }],
                    endpoints: [{ address: "a.trap.example" }, { address: "b.trap.example" }],
                },
            }]).then(() => "accepted", (error: Error) => error.message),
        }),
        expect: ({ refusal }) => expect(refusal).to.match(/DNS_ROUND_ROBIN/), shown: ({ refusal }) => refusal,
        documents: "rejected by Envoy", earlier: "rejected", why: "the API server refuses it before Envoy sees it",
    });
});
