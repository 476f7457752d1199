// TLS that a proxy begins for applications that speak plain HTTP or TCP: who proves what to whom, what the host is shown, and a dead address.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { Protocol, Route, TlsMode } from "../../../model";
import type { DeclarationInput } from "../../../model";
import type { Certificates, Lab } from "../lab";
import { CLIENT_NAME } from "../lab";
import type { Fault } from "../lab/faults";
import type { VipBehaviour } from "../lab/agent/vips";
import { NAMESPACES, consumerPod, gatewayPod } from "../lab/layout";
import { Addresses, counting, failures, slowest } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { answering, declared } from "../variants";
import type { Changes } from "../variants";

type Tls = DeclarationInput["tls"];

interface Row {
    readonly id: string;
    readonly title: string;
    readonly route?: Route;
    readonly protocol?: Protocol;
    readonly tls: (files: Certificates) => Tls;
    readonly behaviour?: VipBehaviour;
    /** The name that the host must have been asked for. Default: the host's own. */
    readonly sni?: string;
    readonly client?: string;
    /** What the log of the proxy must say where it refuses, with 503. */
    readonly refusal?: RegExp;
    readonly isQuick?: boolean;
}

const hostOf = ({ id }: Pick<Row, "id">): string => `${id}.bank.example`;
const AUTHORITY = "lab-authority", CLIENT = "lab-client";
const file = ({ authority }: Certificates): Tls => ({ caCertificates: authority });
const mutualFiles = ({ authority, client, clientKey }: Certificates): Tls => ({ mode: TlsMode.Mutual, caCertificates: authority, clientCertificate: client, privateKey: clientKey });
const WRONG_NAME: VipBehaviour = { certificateFor: "other.example" }, NEEDS_CLIENT: VipBehaviour = { needsClient: true };

const ROWS: readonly Row[] = [
    { id: "simple-secret", title: "SIMPLE, the authority in a Secret of the gateway's namespace", tls: () => ({ credentialName: AUTHORITY }), isQuick: true },
    { id: "simple-file", title: "SIMPLE, the authority in a file", tls: file },
    { id: "mutual-secret", title: "MUTUAL, authority and client certificate in a Secret", tls: () => ({ mode: TlsMode.Mutual, credentialName: CLIENT }), behaviour: NEEDS_CLIENT, client: CLIENT_NAME, isQuick: true },
    { id: "mutual-file", title: "MUTUAL, files", tls: mutualFiles, behaviour: NEEDS_CLIENT, client: CLIENT_NAME },
    { id: "other-sni", title: "Another name asked for and accepted (sni, subjectAltNames)", tls: (files) => ({ ...file(files), sni: "front.example", subjectAltNames: ["front.example"] }), sni: "front.example" },
    { id: "tcp", title: "Plain TCP in, TLS out", protocol: Protocol.Tcp, tls: file, isQuick: true },
    { id: "direct-simple", title: "Route direct: the sidecar begins TLS, SIMPLE", route: Route.Direct, tls: file, isQuick: true },
    { id: "direct-mutual", title: "Route direct: MUTUAL", route: Route.Direct, tls: mutualFiles, behaviour: NEEDS_CLIENT, client: CLIENT_NAME },
    { id: "wrong-name", title: "The host's certificate is for another name", tls: file, behaviour: WRONG_NAME, refusal: /CERTIFICATE_VERIFY_FAILED/, isQuick: true },
    { id: "direct-wrong-name", title: "Route direct: the host's certificate is for another name", route: Route.Direct, tls: file, behaviour: WRONG_NAME, refusal: /CERTIFICATE_VERIFY_FAILED/ },
    { id: "unknown-authority", title: "No authority given (the system's roots), the certificate of a private one", tls: () => undefined, refusal: /CERTIFICATE_VERIFY_FAILED/, isQuick: true },
    { id: "no-client", title: "SIMPLE, and the host asks for a client certificate", tls: file, behaviour: NEEDS_CLIENT, refusal: /CERTIFICATE_REQUIRED|reset_before_response_started|HANDSHAKE_FAILURE/i },
];

/** What one request showed. */
interface Seen {
    readonly status: number | null;
    /** Who was reached, and what the host saw: the ClientHello, who held the other end, its certificate, the names of the headers. */
    readonly vip: string | null;
    readonly sni: string | null;
    readonly from: string | null;
    readonly client: string | null;
    readonly headers: readonly string[];
    /** The client, as the gateway knows it. */
    readonly identity: string | null;
    /** What the proxy that speaks TLS logged of a failure. */
    readonly failure: string | null;
}

/** What only the mesh is to know; x-request-id and x-forwarded-proto are left, and with route direct what sidecars add to their own requests. */
const INSIDE_ONLY = /^x-forwarded-(client-cert|for)$|^x-envoy-(external-address|peer-metadata)/;
/** Whatever is dialled, the name decides; on TCP the address that is declared. */
const ANY = "10.77.9.9", DECLARED = "192.0.2.30";
const portOf = ({ protocol }: Row): number => (protocol === Protocol.Tcp ? 8443 : 80);
const addresses = new Addresses();

const DEAD = { host: "dead.bank.example", port: 80 };
interface DeadInputs { readonly requests: number; readonly runs: number }
const FEW_PER_POOL = 12;
const DEAD_CELLS: readonly { readonly fault: Fault; readonly pooled: boolean; readonly most: number; readonly isQuick?: boolean; readonly earlier?: string; readonly why?: string }[] = [
    { fault: "drop", pooled: false, most: 0, isQuick: true, earlier: "0 of 600, slowest 1.1 s" },
    { fault: "refuse", pooled: false, most: 0, isQuick: true },
    { fault: "drop", pooled: true, most: FEW_PER_POOL, why: "a request on a connection of the pool waits for the application's own time-out (30 s), since nothing says that the connection is dead: one per such connection" },
    { fault: "refuse", pooled: true, most: FEW_PER_POOL, earlier: "6 of 600", why: "a request that was sent on a connection of the pool is never repeated: each such connection loses the one that it carried" },
];

scenario("tls-origination", {
    title: "TLS begun by a proxy", question: "Applications speak plain HTTP or TCP and a proxy speaks TLS to the host: who proves what, what does the host see, and what is lost when one of two addresses is dead?",
}, ({ lab, cell }) => {
    const rows = ROWS.filter(({ isQuick }) => isFull || isQuick === true);
    const serverOf = new Map(rows.map((row) => [row.id, addresses.take(1)[0] ?? ""]));
    before(async function () {
        this.timeout(180_000);
        for (const row of rows) await lab().dns.addresses(hostOf(row), [serverOf.get(row.id) ?? ""]);
        await lab().dns.addresses(DEAD.host, addresses.take(2), { ttl: 1 });
        await lab().cluster.apply(secrets(lab().certificates));
        const hosts = Object.fromEntries(rows.map((row) => [row.id, declared(hostOf(row), changesOf(row, lab().certificates))]));
        const dead = declared(DEAD.host, answering(2), { route: Route.TlsOrigination, ports: [{ number: DEAD.port, protocol: Protocol.Http }], tls: file(lab().certificates) });
        expect(await lab().up({ ...hosts, dead })).to.deep.equal({});
    });
    afterEach(() => lab().faults.clear());
    after(() => lab().cluster.delete(secrets(lab().certificates)));

    for (const row of ROWS) {
        cell<object, Seen>({
            id: row.id, title: row.title, full: {}, ...(row.isQuick === true ? { quick: {} } : {}),
            measure: async (one) => {
                const server = serverOf.get(row.id) ?? "";
                await one.vips.behave(server, row.behaviour ?? {});
                await one.members(hostOf(row), [server], { port: portOf(row), pod: beginnerOf(one, row) });
                return look(one, row);
            },
            expect: (seen) => {
                if (row.refusal !== undefined) {
                    expect(seen.status, JSON.stringify(seen)).to.equal(503);
                    expect(seen.failure).to.match(row.refusal);
                    return;
                }
                const isDirect = row.route === Route.Direct;
                expect(seen, JSON.stringify(seen)).to.include({ status: 200, vip: serverOf.get(row.id) ?? seen.vip, sni: row.sni ?? hostOf(row), client: row.client ?? null });
                expect(seen.from).to.equal(isDirect ? consumerPod("payments").address : gatewayPod(0).address);
                expect(seen.identity).to.equal(isDirect ? null : "spiffe://cluster.local/ns/payments/sa/payments");
                expect(seen.headers.filter((name) => INSIDE_ONLY.test(name))).to.deep.equal([]);
            },
            shown: ({ status, sni, client, identity, headers, failure }) => (status === 200
                ? `200; the host is asked for ${sni ?? "no name"}${client === null ? "" : `, shown the certificate of ${client}`}${identity === null ? "" : `; the gateway knows ${identity}`}; headers that arrive: ${headers.join(" ")}`
                : `${String(status)}: ${/CERTIFICATE_VERIFY_FAILED:[^:]*:[^:]*/.exec(failure ?? "")?.[0].replaceAll("_", " ") ?? failure ?? ""}`),
        });
    }

    for (const { fault, pooled, most, isQuick, earlier, why } of DEAD_CELLS) {
        const isNone = most === 0;
        cell<DeadInputs, { readonly runs: readonly Run[] }>({
            id: `dead-${fault}${pooled ? "-pooled" : ""}`, title: `One of two addresses dead: ${fault}${pooled ? ", with connections to it in the pool" : ""}`, timeoutMs: 300_000,
            full: { requests: isNone ? 1000 : 600, runs: isNone ? 3 : 1 }, ...(isQuick === true ? { quick: { requests: 120, runs: 1 } } : {}),
            measure: async (one, { requests, runs }) => {
                const done: Run[] = [];
                for (let index = 0; index < runs; index++) done.push(await dead(one, fault, pooled, requests));
                return { runs: done };
            },
            expect: ({ runs }) => {
                for (const { failed, failedBy } of runs) expect(failed, JSON.stringify(failedBy)).to.be.at.most(most);
            },
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}`, earlier, why,
        });
    }
});

/** The proxy that speaks TLS to the host. */
function beginnerOf(lab: Lab, { route }: Row): Lab["sidecars"]["payments"] {
    return route === Route.Direct ? lab.sidecars.payments : lab.gateways.pod(0);
}

function changesOf({ route = Route.TlsOrigination, protocol = Protocol.Http, tls }: Row, files: Certificates): Changes {
    const settings = tls(files);
    const ports = [protocol === Protocol.Tcp ? { number: 8443, protocol } : { number: 80, protocol }];
    return { route, ports, ...(protocol === Protocol.Tcp ? { addresses: [DECLARED] } : {}), ...(settings === undefined ? {} : { tls: settings }) };
}

async function look(lab: Lab, row: Row): Promise<Seen> {
    const begin = Date.now(), beginner = beginnerOf(lab, row), address = row.protocol === Protocol.Tcp ? DECLARED : ANY;
    const { reply } = await lab.apps.payments.request(hostOf(row), { protocol: "plaintext", port: portOf(row), address, timeoutMs: 15_000 });
    const [entry] = await beginner.logged(begin, ({ cluster }) => cluster?.includes(hostOf(row)) === true);
    const who = reply?.who, failure = [entry?.flags, entry?.code, entry?.upstreamFailure].filter((text) => text !== null && text !== undefined && text !== "-").join(" ");
    return {
        status: reply?.status ?? null, vip: who?.vip ?? null, sni: who?.sni ?? null, from: who?.peer ?? null, client: who?.client ?? null, headers: who?.headers ?? [],
        identity: row.route === Route.Direct ? null : entry?.clientIdentity ?? null, failure: reply?.status === 200 ? null : failure,
    };
}

async function dead(lab: Lab, fault: Fault, pooled: boolean, requests: number): Promise<Run> {
    const [gone = "", alive = ""] = addresses.take(2), { host, port } = DEAD;
    const load = (count: number): ReturnType<typeof lab.apps.payments.load> =>
        lab.apps.payments.load(host, { protocol: "plaintext", port, address: ANY, count, pace: { kind: "concurrency", connections: 8 }, timeoutMs: 30_000 });
    await lab.dns.addresses(host, pooled ? [gone, alive] : [alive], { ttl: 1 });
    await lab.members(host, pooled ? [gone, alive] : [alive], { port });
    expect((await load(40)).failed, "before the fault").to.equal(0);
    lab.faults.vip(gone, fault);
    if (!pooled) {
        await lab.dns.addresses(host, [gone, alive], { ttl: 1 });
        await lab.members(host, [gone, alive], { port });
    }
    return (await counting(lab, host, () => load(requests), { port })).run;
}

/** What `credentialName` names, and the right to read it, without which istiod gives it to no gateway. */
function secrets({ authority, client, clientKey }: Certificates): readonly object[] {
    const { namespace, serviceAccount } = gatewayPod(0), role = { name: "read-secrets", namespace }, group = "rbac.authorization.k8s.io";
    const secret = (name: string, files: Readonly<Record<string, string>>): object => ({
        apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACES.gateway }, data: Object.fromEntries(Object.entries(files).map(([key, from]) => [key, readFileSync(from).toString("base64")])),
    });
    return [
        { apiVersion: `${group}/v1`, kind: "Role", metadata: role, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch", "list"] }] },
        { apiVersion: `${group}/v1`, kind: "RoleBinding", metadata: role, roleRef: { apiGroup: group, kind: "Role", name: role.name }, subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace }] },
        secret(AUTHORITY, { "ca.crt": authority }), secret(CLIENT, { "ca.crt": authority, "tls.crt": client, "tls.key": clientKey }),
    ];
}
