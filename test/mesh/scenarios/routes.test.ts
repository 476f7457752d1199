// Each route carries traffic, the wire shows what it should, and neither istiod nor Envoy complains about anything.
import { expect } from "chai";
import { Route } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { delta } from "../counters";
import type { Lab } from "../lab";
import { declare } from "../lab/declare";
import { consumerPod, gatewayPod, vip } from "../lab/layout";
import type { Consumer } from "../lab/layout";
import { scenario } from "../scenario";

/** Two hosts of each route behind a gateway, on one gateway port; the consumers' hosts overlap. */
const HOSTS = {
    "partner-api": declare({ host: "api.partner.example" }),
    "partner-pay": declare({ host: "pay.partner.example", consumers: [{ namespace: "orders" }] }),
    "other-api": declare({ host: "api.other.example", route: Route.Passthrough, consumers: [{ namespace: "payments" }] }),
    "other-pay": declare({ host: "pay.other.example", route: Route.Passthrough }),
    "plain-api": declare({ host: "api.plain.example", route: Route.Direct }),
};
/** Which VIP is which host's. */
const SERVERS: Readonly<Record<string, string>> = Object.fromEntries(Object.values(HOSTS).map(({ host }, index) => [host, vip(index + 1)]));
const ROUTES: readonly Route[] = [Route.MtlsPassthrough, Route.Passthrough, Route.Direct];
const GATEWAY_ADDRESS = gatewayPod(0).address, GATEWAY_ID = "spiffe://cluster.local/ns/istio-egress/sa/egressgateway";
const GATEWAY_PORT = 8443;


interface Hello { readonly sni?: string; readonly alpn?: readonly string[] }

/** What one consumer's connections to one host showed. */
interface Seen {
    readonly consumer: string;
    readonly host: string;
    readonly sent: number;
    readonly failed: number;
    /** Answers of a server that is another host's. */
    readonly astray: number;
    /** The ClientHello from the sidecar to the gateway; null when none goes there. */
    readonly atGateway: Hello | null;
    /** The ClientHello that the server got, and from whom. */
    readonly atServer: Hello & { readonly from: string };
    /** The names on Istio's own TLS between sidecar and gateway; null where there is none. */
    readonly client: string | null;
    readonly gateway: string | null;
    /** What the application was shown. */
    readonly certificate: string | undefined;
}

const SHOULD: Readonly<Record<string, (seen: Seen) => void>> = {
    [Route.MtlsPassthrough]: ({ host, consumer, atGateway, atServer, client, gateway }) => {
        expect(atGateway).to.deep.equal({ sni: host, alpn: ["istio"] });
        expect(atServer).to.deep.equal({ sni: host, alpn: ["http/1.1"], from: GATEWAY_ADDRESS });
        expect([client, gateway]).to.deep.equal([`spiffe://cluster.local/ns/${consumer}/sa/${consumer}`, GATEWAY_ID]);
    },
    [Route.Passthrough]: ({ host, atGateway, atServer, client, gateway }) => {
        expect(atGateway).to.deep.equal({ sni: host, alpn: ["http/1.1"] });
        expect(atServer).to.deep.equal({ sni: host, alpn: ["http/1.1"], from: GATEWAY_ADDRESS });
        expect([client, gateway]).to.deep.equal([null, null]);
    },
    [Route.Direct]: ({ host, consumer, atGateway, atServer, client, gateway }) => {
        expect(atGateway).to.equal(null);
        expect(atServer).to.deep.equal({ sni: host, alpn: ["http/1.1"], from: consumerPod(consumer as Consumer).address });
        expect([client, gateway]).to.deep.equal([null, null]);
    },
};

scenario("routes", { title: "Routes", question: "Does each route carry traffic to the right server, and what is on the wire at each hop?" }, ({ lab, cell }) => {
    // istiod counts since its start: other scenarios of this run may have made it complain.
    let earlier: Record<string, number> = {};
    before(async function () {
        this.timeout(120_000);
        earlier = { ...await lab().istiod.complaints() };
        for (const [host, server] of Object.entries(SERVERS)) await lab().dns.addresses(host, [server]);
        expect(await lab().up(HOSTS)).to.deep.equal({});
    });

    for (const route of ROUTES) {
        cell({
            id: route, title: `Route ${route}`, full: { connections: 200 }, quick: { connections: 10 },
            measure: async (one, { connections }) => {
                const seen: Seen[] = [];
                for (const declaration of Object.values(HOSTS).filter((host) => host.route === route)) {
                    for (const { namespace } of declaration.consumers) seen.push(await look(one, declaration, namespace as Consumer, connections));
                }
                return { seen };
            },
            expect: ({ seen }) => {
                for (const one of seen) {
                    expect([one.failed, one.astray], `${one.consumer} to ${one.host}`).to.deep.equal([0, 0]);
                    expect(one.certificate).to.equal(`DNS:${one.host}`);
                    SHOULD[route]?.(one);
                }
            },
            shown: ({ seen }) => `${String(seen.reduce((sum, { sent }) => sum + sent, 0))} connections of ${String(seen.length)} pairs of consumer and host: none lost, none astray. ${wire(seen)}`,
            earlier: route === Route.MtlsPassthrough ? "SNI of the host and ALPN istio at the gateway, the application's own ClientHello at the VIP" : undefined,
        });
    }

    cell({
        id: "complaints", title: "What istiod and Envoy refuse", full: {}, quick: {},
        measure: async (one) => ({ ...delta(earlier, { ...await one.istiod.complaints() }), rejections: await one.settled() }),
        expect: (figures) => expect(figures).to.deep.equal({ rejectedConfigs: 0, xdsRejects: 0, webhookRefusals: 0, rejections: {} }),
        shown: () => "nothing",
    });
});

function wire(seen: readonly Seen[]): string {
    const [one] = seen;
    if (one === undefined) return "";
    const hello = ({ sni = "none", alpn = [] }: Hello): string => `SNI ${sni}, ALPN ${alpn.join(" ")}`;
    const first = one.atGateway === null ? "" : `sidecar to gateway: ${hello(one.atGateway)}${one.client === null ? "" : `, ${one.client} to ${one.gateway ?? "?"}`}; `;
    return `${first}to the server: ${hello(one.atServer)}, certificate ${one.certificate ?? "none"}`;
}

async function look(lab: Lab, { host }: DeclarationInput, consumer: Consumer, connections: number): Promise<Seen> {
    const begin = Date.now(), gateway = lab.gateways.pod(0), app = lab.apps[consumer];
    await gateway.agent.call("captureStart", { ports: [GATEWAY_PORT] });
    // Dialled by an address that is nobody's: who answers is decided by the mesh alone.
    const { certificate } = await app.request(host, { address: "10.77.9.9" });
    const { sent, failed, by } = await app.load(host, { address: "10.77.9.9", count: connections, pace: { kind: "concurrency", connections: 4 } });
    const hellos = (await gateway.agent.call("captureStop")).filter(({ from }) => from === lab.sidecars[consumer].plan.address);
    const [first] = await lab.sidecars[consumer].logged(begin, ({ sni }) => sni === host);
    const [atServer] = (await lab.vips.connections(begin)).filter(({ sni }) => sni === host);
    const inner = hellos.length === 0 ? undefined : (await gateway.logged(begin, ({ sni }) => sni === host))[0];
    const [hello] = hellos;
    return {
        consumer, host, sent, failed, astray: sent - failed - (by[SERVERS[host] ?? ""] ?? 0),
        atGateway: hello === undefined ? null : { sni: hello.sni, alpn: hello.alpn }, atServer: { sni: atServer?.sni, alpn: atServer?.alpn, from: atServer?.peer ?? "?" },
        client: inner?.clientIdentity ?? null, gateway: first?.upstreamIdentity ?? null, certificate: certificate?.subject,
    };
}
