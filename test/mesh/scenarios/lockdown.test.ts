// The fence: who gets through a locked gateway, who is stopped where, and what goes around it.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { InCluster, Lockdown, Protocol, Route, fillDefaults } from "../../../model";
import type { DeclarationInput } from "../../../model";
import { manifestsOf } from "../../../manifests";
import type { Lab } from "../lab";
import type { App } from "../lab/world";
import { ADDRESSES, GATEWAY, NAMESPACES, vip } from "../lab/layout";
import { declared } from "../variants";
import type { Changes } from "../variants";
import { scenario } from "../scenario";

/** Hosts for one service account of namespace payments, and one for all of namespace orders. */
const FOR_ONE: Changes = { consumers: [{ namespace: "payments", serviceAccounts: ["payments"] }] };
const TCP_PORT = 5432, TCP_ADDRESS = "192.0.2.40";
type Kind = "tls" | "http" | "tcp";
const hosts = (authority: string): Readonly<Record<Kind | "orders", DeclarationInput>> => ({
    tls: declared("settle.bank.example", FOR_ONE),
    http: declared("rates.bank.example", FOR_ONE, { route: Route.TlsOrigination, ports: [{ number: 80, protocol: Protocol.Http }], tls: { caCertificates: authority } }),
    tcp: declared("db.bank.example", FOR_ONE, { ports: [{ number: TCP_PORT, protocol: Protocol.Tcp }], addresses: [TCP_ADDRESS] }),
    orders: declared("orders.bank.example", { consumers: [{ namespace: "orders" }] }),
});
const SERVERS: Readonly<Record<Kind | "orders", string>> = { tls: vip(1), http: vip(2), tcp: vip(3), orders: vip(4) };
/** Nobody declares it. */
const OUTSIDE = { host: "outside.example", address: vip(9) };
const KINDS: readonly Kind[] = ["tls", "http", "tcp"];

type Who = "account" | "other-account" | "other-namespace";
/** `through`, or how the application saw that it was refused. */
type Outcome = string;
interface Reached { readonly outcomes: Readonly<Record<Who, Readonly<Record<Kind, Outcome>>>>; readonly orders: Outcome }
/** What the gateway's policies counted; dry-run ones as what they would have done. */
interface Counted { readonly allowed: number; readonly denied: number; readonly wouldAllow: number; readonly wouldDeny: number }

const THROUGH = "through", IN_FORCE_MS = 60_000;
/** A sidecar has two workers, each with connections of its own to the gateway: so many requests in a row miss one of them once in 2^15 times. */
const BOTH_WORKERS = 16;
const ALL_THROUGH = { tls: THROUGH, http: THROUGH, tcp: THROUGH };
const DENIED: Readonly<Record<Kind, RegExp>> = { tls: /^(reset|closed)$/, http: /^403$/, tcp: /^closed|ended|reset/ };

scenario("lockdown", {
    title: "Lockdown", question: "Who gets through a locked gateway, who is refused, and where do those end who go around it?",
}, ({ lab, cell }) => {
    const up = async (mode: "off" | "dry-run" | "enforced", registryOnly = false): Promise<void> => {
        const declaredHosts = hosts(lab().certificates.authority);
        if (mode === "off") {
            const open = Object.fromEntries(Object.entries(declaredHosts).map(([name, host]) => [name, { ...host, consumers: host.consumers.map(({ namespace }) => ({ namespace })) }]));
            expect(await lab().up(open)).to.deep.equal({});
            return;
        }
        const lockdown = { gateway: GATEWAY, mode, consumers: NAMESPACES.consumers.map((namespace) => ({ namespace })), inCluster: InCluster.Denied, registryOnly, dns: { selector: {}, blocks: [`${ADDRESSES.dns}/32`] } };
        expect(await lab().up(declaredHosts, { lockdown })).to.deep.equal({});
    };
    before(async function () {
        this.timeout(120_000);
        for (const [name, { host }] of Object.entries(hosts("/none"))) await lab().dns.addresses(host, [SERVERS[name as Kind]]);
        await lab().dns.addresses(OUTSIDE.host, [OUTSIDE.address]);
        await lab().second.pod.start();
        await lab().cluster.applyWithStatus(istiodPod()); // By its labels the NetworkPolicies name it.
        await lab().apply(intrusion());
    });
    afterEach(() => lab().policies.clear());
    after(async () => {
        await lab().cluster.delete([istiodPod()]);
    });

    const titles = { off: "Lockdown off", "dry-run": "Dry-run", enforced: "Enforced" } as const;
    for (const mode of ["off", "dry-run", "enforced"] as const) {
        cell<object, Reached & Counted & { readonly inForceMs: number }>({
            id: mode, title: titles[mode], full: {}, ...(mode === "off" ? {} : { quick: {} }), timeoutMs: 180_000,
            measure: async (one) => {
                await up(mode);
                const inForceMs = await inForce(one, mode);
                const before = await counts(one);
                const reached = await reach(one), after = await counts(one);
                return { ...reached, inForceMs, allowed: after.allowed - before.allowed, denied: after.denied - before.denied, wouldAllow: after.wouldAllow - before.wouldAllow, wouldDeny: after.wouldDeny - before.wouldDeny };
            },
            expect: ({ outcomes, orders, denied, wouldAllow, wouldDeny }) => {
                expect(orders).to.equal(THROUGH);
                expect(outcomes.account).to.deep.equal(ALL_THROUGH);
                const others = [outcomes["other-account"], outcomes["other-namespace"]];
                if (mode === Lockdown.Enforced) {
                    for (const other of others) for (const kind of KINDS) expect(other[kind], JSON.stringify(outcomes)).to.match(DENIED[kind]);
                    expect(denied).to.be.at.least(6);
                } else {
                    for (const other of others) expect(other).to.deep.equal(ALL_THROUGH);
                    expect([denied, wouldDeny]).to.deep.equal([0, mode === Lockdown.DryRun ? 6 : 0]);
                    expect(wouldAllow).to.equal(mode === Lockdown.DryRun ? 4 : 0);
                }
            },
            shown: ({ outcomes, orders, inForceMs, denied, wouldAllow, wouldDeny }) => [
                ...(["account", "other-account", "other-namespace"] as const).map((who) => `${NAMES[who]}: ${KINDS.map((kind) => `${kind.toUpperCase()} ${outcomes[who][kind]}`).join(", ")}`),
                `orders to its own host: ${orders}`, ...(mode === "dry-run" ? [`counted: ${String(wouldDeny)} would be denied, ${String(wouldAllow)} allowed`] : mode === "enforced" ? [`${String(denied)} denied`, `HTTP requests were refused to all others ${(inForceMs / 1000).toFixed(1)} s after the switch`] : []),
            ].join("; "),
            why: mode === "enforced" ? "HTTP connections that a sidecar keeps to the gateway follow the policy under which they were opened, until Envoy has drained them" : undefined,
        });
    }

    interface Around { readonly undeclared: Outcome; readonly aroundSidecar: Outcome; readonly declared: Outcome }
    for (const { id, title, registryOnly, fenced, expected } of [
        { id: "around-gateway", title: "Around the gateway: enforced, without registryOnly and without a network plugin", registryOnly: false, fenced: false, expected: { undeclared: THROUGH, aroundSidecar: THROUGH } },
        { id: "around-registry-only", title: "The same with registryOnly", registryOnly: true, fenced: false, expected: { undeclared: "stopped", aroundSidecar: THROUGH } },
        { id: "around-network-policy", title: "The NetworkPolicies' meaning as iptables rules, without registryOnly", registryOnly: false, fenced: true, expected: { undeclared: "stopped", aroundSidecar: "stopped" } },
    ]) {
        cell<object, Around>({
            id, title, full: {}, ...(id === "around-gateway" ? {} : { quick: {} }), timeoutMs: 180_000,
            measure: async (one) => {
                await up(Lockdown.Enforced, registryOnly);
                if (fenced) await one.policies.enforce([...one.pods().map(({ name }) => name)]);
                const undeclared = await one.apps.payments.request(OUTSIDE.host, { timeoutMs: 4_000 });
                return {
                    undeclared: undeclared.ok ? THROUGH : undeclared.reason ?? "?", declared: await tell("tls", one.apps.payments),
                    aroundSidecar: one.sidecars.payments.connectsAround(OUTSIDE.address, 443) ? THROUGH : "no connection",
                };
            },
            expect: ({ undeclared, aroundSidecar, declared: allowed }) => {
                expect(allowed).to.equal(THROUGH);
                expect({ undeclared: stopped(undeclared), aroundSidecar: stopped(aroundSidecar) }).to.deep.equal(expected);
            },
            shown: ({ undeclared, aroundSidecar, declared: allowed }) => `an undeclared host from a consumer's pod: ${undeclared}; from a process that goes around the sidecar: ${aroundSidecar}; a declared host: ${allowed}`,
            why: fenced ? "the lab has no network plugin: its own iptables rules do what the policies that the API server holds say" : undefined,
        });
    }
});

const NAMES: Readonly<Record<Who, string>> = { account: "the declared account", "other-account": "another account of the namespace", "other-namespace": "another namespace, with views and legs that it wrote itself" };

function stopped(outcome: Outcome): string {
    return outcome === THROUGH ? THROUGH : "stopped";
}

async function reach(lab: Lab): Promise<Reached> {
    const of = async (app: App): Promise<Readonly<Record<Kind, Outcome>>> => ({ tls: await tell("tls", app), http: await tell("http", app), tcp: await tell("tcp", app) });
    return { outcomes: { account: await of(lab.apps.payments), "other-account": await of(lab.second.app), "other-namespace": await of(lab.apps.orders) }, orders: await tell("orders", lab.apps.orders) };
}

/** Until requests meet the new policy; a connection that a worker of a sidecar keeps may still be under the former one. Milliseconds. */
async function inForce(lab: Lab, mode: "off" | "dry-run" | "enforced"): Promise<number> {
    const begin = Date.now();
    const isUnder = async (app: App): Promise<boolean> => {
        const judged = async (): Promise<number> => counts(lab).then(({ wouldAllow, wouldDeny }) => wouldAllow + wouldDeny);
        const before = await judged(), isThrough = await tell("http", app) === THROUGH, isRefused = mode === Lockdown.Enforced && app !== lab.apps.payments;
        return isThrough !== isRefused && (mode !== Lockdown.DryRun || await judged() > before);
    };
    for (const app of [lab.apps.payments, lab.second.app, lab.apps.orders]) {
        for (let row = 0; row < BOTH_WORKERS;) {
            if (await isUnder(app)) {
                row += 1;
                continue;
            }
            row = 0;
            if (Date.now() - begin > IN_FORCE_MS) throw new Error(`Requests of others do not meet mode ${mode} after ${String(IN_FORCE_MS)} ms.`);
            await wait(100);
        }
    }
    return Date.now() - begin;
}

async function tell(kind: Kind | "orders", app: App): Promise<Outcome> {
    const { host } = hosts("/none")[kind];
    if (kind === "tcp") return app.talkPlain(TCP_ADDRESS, TCP_PORT, "ping").then((lines) => (lines[0] === `220 ${SERVERS.tcp} ready` ? THROUGH : lines.join(" ")), (error: Error) => /closed|reset/.exec(error.message)?.[0] ?? error.message);
    const { ok, reply, reason } = await app.request(host, kind === "http" ? { protocol: "plaintext", port: 80 } : {});
    if (!ok) return reply === undefined ? reason ?? "?" : String(reply.status);
    return reply?.who?.vip === SERVERS[kind] ? THROUGH : `astray, to ${reply?.who?.vip ?? "nobody"}`;
}

/** All policies' counters at the gateway, of listeners of bytes and of requests. */
async function counts(lab: Lab): Promise<Counted> {
    const all = Object.entries(await lab.gateways.pod(0).envoy.statistics("rbac\\..*(allowed|denied)$"));
    const sum = (pattern: RegExp): number => all.filter(([name]) => pattern.test(name)).reduce((total, [, value]) => total + value, 0);
    return { allowed: sum(/rbac\.allowed$/), denied: sum(/rbac\.denied$/), wouldAllow: sum(/shadow_allowed$/), wouldDeny: sum(/shadow_denied$/) };
}

/** What people of namespace orders can write by themselves to get at the hosts of payments: views, subsets and mesh legs, as ours would be. */
function intrusion(): readonly object[] {
    const { tls, http, tcp } = hosts("/none");
    return Object.entries({ tls, http, tcp }).flatMap(([name, host]) => {
        const theirs = fillDefaults({ ...host, namespace: "orders", consumers: [{ namespace: "orders" }] });
        return manifestsOf(`intrusion-${name}`, theirs).filter(({ role, object }) => object.metadata.namespace === "orders" && role !== "ServiceEntry/host" && role !== "DestinationRule/host").map(({ object }) => object);
    });
}

function istiodPod(): { readonly kind: string; readonly [field: string]: unknown } {
    return {
        apiVersion: "v1", kind: "Pod", metadata: { name: "istiod", namespace: "istio-system", labels: { app: "istiod" } },
        spec: { containers: [{ name: "discovery", image: "none" }] }, status: { phase: "Running", podIP: ADDRESSES.control, podIPs: [{ ip: ADDRESSES.control }] },
    };
}
