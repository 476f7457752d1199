// Resolution, outlier detection, routes, loss window, drain, contract, conflicts and plan: the decisions, both sides.
import { expect } from "chai";
import fc from "fast-check";
import {
    GatewayConsumers, LOGICAL_ON_FIXED_POOL, Membership, Resolution, Route, ROUTE_TABLE, STRICT_ON_ROTATING_POOL, applicationContract, decideOutlier,
    decideResolution, drainWait, findConflicts, isLogicalDns, lossWindow, planOf, refuseRoute,
} from "../../../model";
import { GATEWAY, accept, declaration, declarations, input } from "../../support/declarations";

describe("resolution", () => {
    it("follows the pool, and says why", () => {
        expect(decideResolution({ membership: Membership.Fixed }, undefined, false)).to.deep.equal({
            resolution: "DNS",
            reason: "the pool is fixed, so an address that is missing from the DNS answer is a failover signal: STRICT_DNS records it, spreads over all addresses and can eject a dead one",
        });
        expect(decideResolution({ membership: Membership.Rotating }, undefined, false)).to.deep.equal({
            resolution: "DNS_ROUND_ROBIN",
            reason: "the pool is rotating, so an address that is missing from the DNS answer only was not drawn: LOGICAL_DNS uses the latest answer and keeps no list that would churn",
        });
    });

    it("names the cost of a forced one, and never says that LOGICAL loses connections", () => {
        expect(decideResolution({ membership: Membership.Fixed }, Resolution.DnsRoundRobin, false)).to.deep.equal({ resolution: "DNS_ROUND_ROBIN", reason: "the declaration forces it", consequence: LOGICAL_ON_FIXED_POOL });
        expect(decideResolution({ membership: Membership.Rotating }, Resolution.Dns, false)).to.deep.equal({ resolution: "DNS", reason: "the declaration forces it", consequence: STRICT_ON_ROTATING_POOL });
        expect(decideResolution({ membership: Membership.Fixed }, Resolution.Dns, false)).to.not.have.property("consequence");
        expect(LOGICAL_ON_FIXED_POOL).to.match(/spreads nothing/).and.to.match(/no address list in which a failover is recorded/).and.to.match(/happy eyeballs/).and.to.not.match(/los[et]|fail(s|ed)/);
    });

    it("leaves a wildcard to the application's own resolver", () => {
        expect(decideResolution({ membership: Membership.Rotating }, undefined, true).resolution).to.equal("NONE");
    });

    it("sees LOGICAL behind Istio's connect-strategy annotation", () => {
        const race = { "istio.io/connect-strategy": "RACE_FIRST_TCP_CONNECT" };
        expect(isLogicalDns("DNS_ROUND_ROBIN", {})).to.equal(true);
        expect(isLogicalDns("DNS", race)).to.equal(true);
        expect(isLogicalDns("DNS", {})).to.equal(false);
        expect(isLogicalDns("NONE", race)).to.equal(false);
        expect(isLogicalDns("DNS", { "istio.io/connect-strategy": "DEFAULT" })).to.equal(false);
    });
});

describe("outlier detection", () => {
    it("is emitted for fixed pools with the measured settings", () => {
        expect(decideOutlier(declaration())).to.deep.equal({
            emitted: true, reason: "a dead address is ejected after its first failures and the others serve",
            settings: { consecutiveLocalOriginFailures: 3, intervalMs: 5000, baseEjectionTimeMs: 30_000, maxEjectionPercent: 50, minHealthPercent: 1 },
        });
    });

    it("takes overrides one by one, 0 included", () => {
        const decision = decideOutlier(declaration({ outlier: { minHealthPercent: 0, interval: "1s" } }));
        expect(decision).to.have.deep.property("settings", { consecutiveLocalOriginFailures: 3, intervalMs: 1000, baseEjectionTimeMs: 30_000, maxEjectionPercent: 50, minHealthPercent: 0 });
    });

    it("is not emitted where it can have no effect", () => {
        const reasons = [
            declaration({ pool: { membership: "rotating" } }), declaration({ resolution: "DNS_ROUND_ROBIN" }),
            declaration({ pool: { membership: "rotating" }, resolution: "DNS" }),
            declaration({ pool: { membership: "rotating" }, route: "direct", gateway: undefined, host: "*.partner.example", failover: undefined }),
        ].map(decideOutlier);
        expect(reasons).to.deep.equal([
            { emitted: false, reason: "LOGICAL_DNS has one host, so an ejection is inert below 100 % and total at 100 %" },
            { emitted: false, reason: "LOGICAL_DNS has one host, so an ejection is inert below 100 % and total at 100 %" },
            { emitted: false, reason: "a rotating pool loses an address and its ejection state at each answer" },
            { emitted: false, reason: "the sidecar connects to the address that the application resolved, and has no other to go to" },
        ]);
    });
});

describe("routes", () => {
    it("accept every row of the table, from its Istio version on", () => {
        for (const { route, protocol, hosts, since } of ROUTE_TABLE) {
            const query = { route, protocol, wildcard: hosts === "wildcard", membership: Membership.Rotating };
            expect(refuseRoute(query)).to.equal(undefined);
            expect(refuseRoute({ ...query, istioVersion: `${since.major}.${since.minor}` })).to.equal(undefined);
            expect(refuseRoute({ ...query, istioVersion: `${since.major}.${since.minor - 1}.9` })).to.have.property("at", "istioVersion");
        }
    });

    it("refuse everything else with the nearest row", () => {
        for (const route of Object.values(Route)) for (const protocol of ["TLS", "TCP", "HTTP", "HTTPS"] as const) for (const wildcard of [false, true]) {
            const supported = ROUTE_TABLE.some((row) => row.route === route && row.protocol === protocol && (row.hosts === "wildcard") === wildcard);
            const refusal = refuseRoute({ route, protocol, wildcard, membership: Membership.Rotating });
            expect(refusal === undefined, `${route} ${protocol} ${wildcard}`).to.equal(supported);
            if (refusal !== undefined) expect(refusal.text).to.match(/the nearest supported row is route \S+, protocol (TLS|HTTP|TCP) \(any port\), (exact|wildcard) host, (any|rotating) pool, Istio 1\.22 or later\.$/);
        }
    });
});

describe("loss window", () => {
    it("is the GSLB's for one address", () => {
        const window = lossWindow(declaration({ pool: { membership: "fixed", addressesPerAnswer: 1 } }));
        expect(window).to.deep.equal({
            endsBy: "gslb", ms: 20_100,
            parts: [
                { name: "detectionTime", ms: 10_000, reason: "the GSLB answers the dead address until it has noticed" },
                { name: "dnsTtl", ms: 5000, reason: "a resolver between the GSLB and the proxy keeps the old answer for its TTL" },
                { name: "envoyRefresh", ms: 5100, reason: "Envoy keeps the answer for the TTL again and adds istiod's DNS jitter (100 ms)" },
            ],
            text: "20.1s = detectionTime 10s + dnsTtl 5s + envoyRefresh 5.1s; there is no other address to go to until then",
        });
        expect(lossWindow(declaration({ pool: { membership: "fixed", addressesPerAnswer: 1 }, failover: { detectionTime: "10s", dnsTtl: "5s", envoyRefresh: "0s" } })).ms).to.equal(15_000);
    });

    it("is the ejection's for several, whatever the GSLB does", () => {
        const window = lossWindow(declaration({ failover: undefined }));
        expect(window).to.include({ endsBy: "ejection" }).and.to.not.have.property("ms");
        expect(window.text).to.equal("until 3 connections in a row to the dead address have failed and it is ejected (each fails within 1s; measured with 8 at a time: 8 of 600 dropped, 4 of 600 refused), and again at each re-admission while DNS still answers it");
        expect(lossWindow(declaration({ connectTimeout: "3s" })).text).to.match(/each fails within 3s\)/);
    });

    it("is nobody's fault under LOGICAL with a live address, unknown where nothing is declared, the application's for a wildcard", () => {
        expect(lossWindow(declaration({ resolution: "DNS_ROUND_ROBIN" }))).to.include({ endsBy: "happy-eyeballs", ms: 0 });
        expect(lossWindow(declaration({ resolution: "DNS_ROUND_ROBIN", pool: { membership: "fixed", addressesPerAnswer: 1 } }))).to.include({ endsBy: "gslb", ms: 20_100 });
        expect(lossWindow(declaration({ failover: undefined, pool: { membership: "fixed", addressesPerAnswer: 1 } }))).to.deep.equal({ endsBy: "unknown", parts: [], text: "unknown: declare failover.detectionTime and failover.dnsTtl" });
        expect(lossWindow(declaration({ route: "direct", gateway: undefined, host: "*.partner.example", pool: { membership: "rotating" }, failover: undefined })).endsBy).to.equal("application");
    });

    it("falls back to the GSLB's where STRICT is forced on a pool without outlier detection", () => {
        const window = lossWindow(declaration({ resolution: "DNS", pool: { membership: "rotating", addressesPerAnswer: 4 } }));
        expect(window.endsBy).to.equal("gslb");
        expect(window.text).to.contain("about one in 4 new connections goes to the dead address");
    });
});

describe("drain wait", () => {
    it("adds the longest connection to the propagation", () => {
        expect(drainWait(declaration({ failover: { detectionTime: "10s", dnsTtl: "5s", longestConnection: "15m" } }))).to.include({
            ms: 910_100, text: "15m10.1s = dnsTtl 5s + envoyRefresh 5.1s + longestConnection 15m; judge it by the old address's own connection count, never by DNS",
        });
    });

    it("is unknown where no connection lifetime or no failover is declared", () => {
        expect(drainWait(declaration())).to.not.have.property("ms");
        expect(drainWait(declaration({ failover: undefined })).text).to.equal("unknown: declare failover.dnsTtl and failover.longestConnection; judge it by the old address's own connection count, never by DNS");
    });
});

describe("application contract", () => {
    it("waits with the gateway, where it waits", () => {
        const terms = applicationContract(declaration({ pool: { membership: "fixed", addressesPerAnswer: 1 } }));
        // The budget of 25.1 s, the longest pause and the attempt after it, and room for the handshake.
        expect(terms[1]).to.deep.equal({ term: "handshakeTimeout", value: "at least 29.1s", ms: 29_100, reason: "the TLS handshake waits for the gateway's connection to the host, for which the gateway tries for 25.1s in a failover" });
        expect(terms[2]).to.deep.equal({ term: "connectRetries", value: "2, on connect or handshake failure only", reason: "the gateway itself tries again for 25.1s, so that what still fails met a longer fault, or a gateway pod that died; a request that was sent is never repeated safely" });
    });

    it("lets retries outlast the window of one address where nothing waits", () => {
        const terms = applicationContract(declaration({ pool: { membership: "fixed", addressesPerAnswer: 1 }, failover: { detectionTime: "10s", dnsTtl: "5s", longestConnection: "15m", onConnectFailure: "fail" } }));
        expect(terms.map(({ term, value, ms }) => ({ term, value, ms }))).to.deep.equal([
            { term: "connectTimeout", value: "1s to 3s", ms: 3000 },
            { term: "handshakeTimeout", value: "at least 3s", ms: 3000 },
            { term: "connectRetries", value: "2, on connect or handshake failure only, with a back-off that outlasts 20.1s in total", ms: 20_100 },
            { term: "connectionLifetime", value: "at most 15m", ms: 900_000 },
        ]);
        for (const { reason } of terms) expect(reason).to.match(/\S/);
    });

    it("asks for a back-off where the window is unknown, and gives no reason that is not there", () => {
        const unknown = applicationContract(declaration({ failover: undefined, pool: { membership: "fixed", addressesPerAnswer: 1 } }))[2];
        expect(unknown?.value).to.equal("2, on connect or handshake failure only, with a back-off that outlasts the GSLB's failover");
        expect(applicationContract(declaration({ pool: { membership: "rotating" } }))[2]?.reason).to.not.contain("outlier");
    });

    it("asks no back-off where ejection ends the window, and a cap where none is declared", () => {
        const terms = applicationContract(declaration());
        expect(terms[2]).to.include({ term: "connectRetries", value: "2, on connect or handshake failure only" });
        expect(terms[3]).to.include({ term: "connectionLifetime", value: "agree on a cap, below the target time of a planned failover" });
    });
});

describe("conflicts", () => {
    const named = (name: string, changes: Parameters<typeof declaration>[0]): { name: string; declaration: ReturnType<typeof declaration> } => ({ name, declaration: declaration(changes) });

    it("name both declarations of one host, whatever its spelling", () => {
        expect(findConflicts([named("a", {}), named("b", { host: "API.partner.example." })])).to.deep.equal([{
            kind: "same-gateway-port-and-sni", names: ["a", "b"], path: ["host"],
            text: '"a" and "b" both put api.partner.example on port 443 of the gateway istio-egressgateway.istio-egress.svc.cluster.local: Istio silently drops the later server; make them one declaration.',
        }]);
        expect(findConflicts([named("a", {}), named("b", { ports: [{ number: 8443 }] })])).to.deep.equal([{
            kind: "same-host", names: ["a", "b"], path: ["host"],
            text: '"a" and "b" both declare api.partner.example: two ServiceEntries of one host break or shadow each other; make them one declaration, with the ports and consumers of both.',
        }]);
    });

    it("name a gateway that serves declared and all consumers", () => {
        const all = { host: "b.partner.example", gateway: { ...GATEWAY, consumers: GatewayConsumers.All }, consumers: [{ namespace: "*" }] };
        expect(findConflicts([named("a", {}), named("b", all)])).to.deep.equal([{
            kind: "mixed-consumer-modes", names: ["a", "b"], path: ["gateway", "consumers"],
            text: '"a" says that the gateway istio-egressgateway.istio-egress.svc.cluster.local serves declared consumers and "b" says all: subsets of the two modes hide each other, so the whole gateway must have one mode.',
        }]);
    });

    it("are none between different hosts, and between a wildcard and an exact name", () => {
        expect(findConflicts([named("a", {}), named("b", { host: "b.partner.example" }), named("c", { host: "*.partner.example", route: "direct", gateway: undefined, pool: { membership: "rotating" }, failover: undefined })])).to.deep.equal([]);
    });
});

describe("plan", () => {
    it("says what an unwise override costs", () => {
        const notes = (changes: Parameters<typeof declaration>[0]): readonly string[] => planOf(declaration(changes)).consequences;
        expect(notes({ resolution: "DNS_ROUND_ROBIN" })).to.deep.equal([`resolution DNS_ROUND_ROBIN is forced on a fixed pool: ${LOGICAL_ON_FIXED_POOL}.`]);
        const pool = { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" } as const;
        expect(notes({ outlier: { maxEjectionPercent: 100, minHealthPercent: 0 } }).filter((note) => note.includes("inHealthPercent"))).to.deep.equal([]); // The last known address is a host of its own.
        expect(notes({ pool, outlier: { maxEjectionPercent: 100, minHealthPercent: 0 } })).to.include("maxEjectionPercent 100 with minHealthPercent 0 can eject every address, and nothing serves then.");
        expect(notes({ pool, outlier: { minHealthPercent: 0 } })).to.include("minHealthPercent 0 refuses an ejected address that becomes the only one, although it may be alive (measured: 200 of 200 failed, 0 with 1).");
        expect(notes({ pool: { membership: "fixed", addressesPerAnswer: 3 }, outlier: { maxEjectionPercent: 34 } })).to.include("maxEjectionPercent 34 ejects nothing once an answer of 3 has shrunk to 2: use 50 or more.");
        expect(notes({ gateway: { ...GATEWAY, istioVersion: "1.32.1" } })).to.include("the figures were measured on Istio 1.31 and are not proven on 1.32.");
        expect(notes({ gateway: { ...GATEWAY, istioVersion: "1.22.0" } })).to.include("the figures were measured on Istio 1.31 and are not proven on 1.22.");
        expect(notes({ manifestOverrides: { Gateway: {} } })).to.include("manifests are overridden: the plan says what the declaration gives, not what the overrides make of it.");
    });

    it("lists overrides and what is not active", () => {
        const { summary, overrides } = planOf(declaration({ active: false, manifestOverrides: { Gateway: { spec: {} } } }));
        expect(overrides).to.deep.equal(["Gateway"]);
        expect(summary).to.include("overridden: Gateway").and.to.include("not active: the mesh leg is absent, and traffic does not take this route");
    });

    it("is plain data for every valid declaration", () => {
        fc.assert(fc.property(declarations, (raw) => {
            const plan = planOf(accept(raw));
            expect(JSON.parse(JSON.stringify(plan))).to.deep.equal(plan);
            for (const line of plan.summary) expect(line).to.not.match(/undefined|NaN|\[object/);
        }));
    });

    it("judges one address as inert by arithmetic, and as no fault", () => {
        const { outlier, summary } = planOf(accept(input({ pool: { membership: "fixed", addressesPerAnswer: 1 } })));
        expect(outlier).to.include({ emitted: true, ejectable: 0 });
        expect(summary[1]).to.equal("outlier detection: inert by arithmetic with one address; it works as soon as a second record appears");
    });
});
