// Waiting: budgets and attempts against a simulation of Envoy's back-off, standby addresses, and what the plan says of both.
import { expect } from "chai";
import fc from "fast-check";
import {
    REQUEST_BACK_OFF, WAIT_BACK_OFF, attemptsFor, decideCluster, decideEmptyAnswer, decideOutlier, decideRequestRetries, decideWaiting, ejectable, keepsLastKnown, logRunOut, longestHold, longestPause, lostWithoutFilters,
    planOf, standbyEjectionPercent,
} from "../../../model";
import type { DeclarationInput } from "../../../model";
import { GATEWAY, declaration } from "../../support/declarations";

const ONE = { membership: "fixed", addressesPerAnswer: 1 } as const, STANDBY = { ...ONE, standbyAddresses: ["192.0.2.1", "192.0.2.2"] };
const HTTP: Partial<DeclarationInput> = { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] };
const FORBIDDEN = { gateway: { ...GATEWAY, envoyFilters: "forbidden" as const } };
const KEPT = "on an empty DNS answer: the address of the last answer that had one serves; an address that is withdrawn with no other in its place goes on being used";
const plan = (changes: Partial<DeclarationInput>): ReturnType<typeof planOf> => planOf(declaration(changes));

describe("attempts", () => {
    it("double their longest pause up to the longest of all, as Envoy does", () => {
        expect([0, 1, 2, 3, 4, 5, 6, 60].map((failure) => longestPause(failure, WAIT_BACK_OFF))).to.deep.equal([50, 100, 200, 400, 800, 1000, 1000, 1000]);
    });

    it("grow with the budget, and never run out early in more than one of a million", () => {
        expect([5_000, 10_000, 25_100, 50_000, 300_000].map((budget) => attemptsFor(budget))).to.deep.equal([29, 43, 81, 140, 684]);
        fc.assert(fc.property(fc.integer({ min: 1, max: 300_000 }), fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 20 }), (budget, baseMs, factor) => {
            const backOff = { baseMs, maxMs: baseMs * factor }, attempts = attemptsFor(budget, backOff);
            expect(logRunOut(attempts, budget, backOff)).to.be.at.most(Math.log(1e-6));
            expect(logRunOut(attempts - 1, budget, backOff)).to.be.above(Math.log(1e-6));
        }), { numRuns: 200 });
    });

    it("outlast the budget in a simulation of refused connections; a third fewer do not", () => {
        let seed = 7;
        const random = (): number => {
            seed = (seed * 48271) % 2147483647;
            return seed / 2147483647;
        };
        const ranOut = (attempts: number, budgetMs: number, runs: number): number => {
            let count = 0;
            for (let run = 0; run < runs; run++) {
                let total = 0;
                for (let failure = 0; failure < attempts - 1; failure++) total += Math.floor(random() * longestPause(failure, WAIT_BACK_OFF));
                if (total < budgetMs) count += 1;
            }
            return count;
        };
        for (const budget of [10_000, 25_100]) {
            expect(ranOut(attemptsFor(budget), budget, 20_000)).to.equal(0);
            expect(ranOut(Math.ceil(attemptsFor(budget) * 2 / 3), budget, 20_000)).to.be.above(100);
        }
    });

    it("bound how long a connection is held whose packets are dropped", () => {
        expect(longestHold(3, 1000)).to.equal(3 * 1000 + 50 + 100);
    });
});

describe("waiting", () => {
    it("is what a declared window and a gateway give: the window and 5 s, and a handshake that outlasts it", () => {
        expect(decideWaiting(declaration({ pool: ONE }))).to.deep.equal({
            waits: true, reason: "the declared window of 20.1s and a margin of 5s",
            waiting: { budgetMs: 25_100, attempts: 81, backOff: { baseMs: 50, maxMs: 1000 }, handshakeTimeoutMs: 28_000, longestHoldMs: 161_000 },
        });
        expect(decideWaiting(declaration({ pool: ONE, route: "passthrough" }))).to.have.deep.property("waiting", { budgetMs: 25_100, attempts: 81, backOff: { baseMs: 50, maxMs: 1000 }, longestHoldMs: 161_000 });
    });

    it("is not where nothing can wait, nothing says how long, or nobody wants it, and says which", () => {
        const reasons = ([
            { route: "direct", gateway: undefined }, { failover: undefined }, { failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" } },
            FORBIDDEN, { gateway: { ...GATEWAY, istioVersion: "1.24.3" } }, { ...HTTP, gateway: { ...GATEWAY, istioVersion: "1.25.4" } },
        ] satisfies Partial<DeclarationInput>[]).map((changes) => decideWaiting(declaration(changes)));
        expect(reasons).to.deep.equal([
            "route direct has no gateway that could wait", "how long a failover takes is not declared (failover)", "the declaration says fail",
            "the gateway forbids EnvoyFilters, and Istio has no other field for connect attempts",
            "the Envoy of Istio 1.24 is not known to have connect attempts with a back-off, which 1.25 has",
            "the VirtualService of Istio 1.25 has no back-off for retries, which 1.26 has: a request is repeated twice on connect failure, and then answered with 503",
        ].map((reason) => ({ waits: false, reason })));
    });

    it("is the router's on HTTP ports, whose fields need no EnvoyFilter", () => {
        const waits = {
            waits: true, reason: "the declared window of 20.1s and a margin of 5s",
            waiting: { budgetMs: 25_100, attempts: 80, backOff: { baseMs: 100, maxMs: 1000 }, longestHoldMs: longestHold(80, 1000, REQUEST_BACK_OFF) },
        };
        for (const changes of [HTTP, { ...HTTP, ...FORBIDDEN }]) expect(decideWaiting(declaration(changes))).to.deep.equal(waits);
        expect([decideRequestRetries(declaration(HTTP), "gateway"), decideRequestRetries(declaration(HTTP), "sidecar")]).to.deep.equal([{ retries: 79, backOffMs: 100 }, { retries: 4, backOffMs: 50 }]);
        expect(decideRequestRetries(declaration({ ...HTTP, failover: undefined }), "gateway")).to.deep.equal({ retries: 2 });
        expect(lostWithoutFilters(declaration({ ...HTTP, ...FORBIDDEN }))).to.deep.equal([]);
        expect(plan(HTTP).summary).to.include("on connect failure: waits: the gateway tries again for 25.1s (the declared window of 20.1s and a margin of 5s; 80 attempts), and the request is answered with 503 after 2m36.5s at the latest");
    });

    it("is of two kinds where HTTP ports stand beside others: each waits by its own means, and plan and contract say which does", () => {
        const MIXED: Partial<DeclarationInput> = { ...HTTP, ports: [{ number: 80, protocol: "HTTP" }, { number: 8443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"] };
        const said = (changes: Partial<DeclarationInput>): readonly unknown[] => {
            const { summary, contract, consequences } = plan({ ...MIXED, ...changes }), term = (name: string): unknown => contract.find((one) => one.term === name)?.reason;
            return [...summary.filter((line) => line.startsWith("on connect failure")), term("responseTimeout"), String(term("connectRetries")).slice(0, 24), ...consequences.filter((text) => text.startsWith("new connections"))];
        };
        const fails = "a request is repeated twice on connect failure, and then answered with 503", waits = "waits: the gateway tries again for 25.1s (the declared window of 20.1s and a margin of 5s;";
        const connections = `on connect failure: ${waits} 81 attempts), and most connections fail after 28s, all after 2m41s at the latest`;
        const requests = `on connect failure of a request (HTTP ports): ${waits} 80 attempts), and the request is answered with 503 after 2m36.5s at the latest`;
        const answer = "the first answer waits for the gateway's connection to the host, for which the gateway tries for 25.1s in a failover";
        expect(said({})).to.deep.equal([connections, requests, answer, "the gateway itself tries"]);
        expect([plan(MIXED).waiting.attempts, plan(MIXED).requestWaiting?.attempts, plan({}).requestWaiting, plan(HTTP).requestWaiting]).to.deep.equal([81, 80, undefined, undefined]);
        expect(said(FORBIDDEN)).to.deep.equal([
            "on connect failure: fails: the gateway forbids EnvoyFilters, and Istio has no other field for connect attempts", requests, `${answer} on HTTP ports`, "outlier detection ejects",
            "new connections of ports other than HTTP fail in a failover instead of waiting for up to 25.1s, since the gateway forbids EnvoyFilters.",
        ]);
        expect(said({ gateway: { ...GATEWAY, istioVersion: "1.25.4" } })).to.deep.equal([
            connections, `on connect failure of a request (HTTP ports): fails: the VirtualService of Istio 1.25 has no back-off for retries, which 1.26 has: ${fails}`, `${answer} on ports other than HTTP`, "outlier detection ejects",
        ]);
        expect(said({ failover: undefined }).slice(0, 2)).to.deep.equal([
            "on connect failure: fails: how long a failover takes is not declared (failover)", "the first answer waits for the gateway's connection to the host, up to its connect timeout of 1s",
        ]);
    });

    it("ends after five minutes, and says so, where a window is longer than applications wait", () => {
        const decision = decideWaiting(declaration({ failover: { detectionTime: "1h", dnsTtl: "5s" } }));
        expect(decision).to.deep.include({ waits: true, reason: "the declared window of 1h10.1s is longer than applications wait, so that the gateway tries for 5m only" }).and.to.have.nested.include({ "waiting.budgetMs": 300_000, "waiting.attempts": 684 });
    });

    it("stands in the plan, with what is lost where EnvoyFilters are forbidden", () => {
        expect(plan({ pool: ONE }).summary).to.include("on connect failure: waits: the gateway tries again for 25.1s (the declared window of 20.1s and a margin of 5s; 81 attempts), and most connections fail after 28s, all after 2m41s at the latest");
        expect(plan({ pool: ONE }).consequences).to.deep.equal([]);
        expect(plan({ pool: ONE }).summary).to.include(KEPT);
        expect(plan({ pool: { ...ONE, onEmptyAnswer: "fail" } }).summary).to.not.include(KEPT);
        expect(plan({ pool: { ...ONE, onEmptyAnswer: "fail" } }).consequences).to.deep.equal([
            "an empty or NXDOMAIN answer empties the address list while it lasts (the gateway asks again every 1s; measured: 36 % of new connections failed, those that began in a 20 s fault), and nothing serves meanwhile: the declaration says fail.",
        ]);
        expect(plan({ pool: ONE, ...FORBIDDEN }).consequences).to.deep.equal([
            "an empty or NXDOMAIN answer empties the address list until Envoy asks again after dnsRefreshRate (60 s; measured: 88 % of new connections failed in a 20 s fault), and nothing serves meanwhile: the gateway forbids EnvoyFilters, and Istio has no other field for a second cluster.",
            "new connections fail in a failover instead of waiting for up to 25.1s, since the gateway forbids EnvoyFilters.",
        ]);
    });
});

describe("an answer without addresses", () => {
    const serves = (changes: Partial<DeclarationInput>): readonly unknown[] => {
        const found = declaration(changes);
        return [decideEmptyAnswer(found).serves, keepsLastKnown(found)];
    };

    it("leaves the last known address, where a gateway can keep it; on ports of every kind, with waiting and without", () => {
        for (const changes of [{}, { pool: ONE }, { failover: undefined }, { route: "passthrough" }, HTTP, { pool: { membership: "rotating" }, resolution: "DNS" }, { gateway: { ...GATEWAY, istioVersion: "1.22.0" } }] satisfies Partial<DeclarationInput>[]) {
            expect(serves(changes), JSON.stringify(changes)).to.deep.equal(["last-known", true]);
        }
        expect(decideCluster(declaration({ failover: undefined }))).to.deep.equal({ dnsRetryMs: 1000, overprovisioning: 10_000 });
    });

    it("needs nothing where standby addresses serve, or where LOGICAL_DNS keeps its address by itself", () => {
        expect(serves({ pool: STANDBY })).to.deep.equal(["standby", false]);
        for (const changes of [{ pool: { membership: "rotating" } }, { resolution: "DNS_ROUND_ROBIN" }] satisfies Partial<DeclarationInput>[]) expect(serves(changes)).to.deep.equal(["last-known", false]);
    });

    it("leaves nobody where the declaration says so, EnvoyFilters are forbidden or no gateway is there; each with its reason", () => {
        const reason = (changes: Partial<DeclarationInput>): unknown => decideEmptyAnswer(declaration(changes));
        expect([{ pool: { ...ONE, onEmptyAnswer: "fail" as const } }, FORBIDDEN, { route: "direct" as const, gateway: undefined }].map(reason)).to.deep.equal([
            { serves: "nobody", reason: "the declaration says fail" },
            { serves: "nobody", reason: "the gateway forbids EnvoyFilters, and Istio has no other field for a second cluster" },
            { serves: "nobody", reason: "route direct has no gateway that could keep the last address" },
        ]);
        expect(decideCluster(declaration({ pool: { ...ONE, onEmptyAnswer: "fail" }, failover: undefined }))).to.equal(undefined);
        expect(plan({}).emptyAnswer).to.deep.equal({ serves: "last-known", reason: "the gateway has the host as LOGICAL_DNS too, which serves only while no address that DNS answers does" });
    });
});

describe("standby addresses", () => {
    it("let all hosts but one be ejected, up to 100", () => {
        for (let hosts = 2; hosts <= 100; hosts++) expect(ejectable(hosts, standbyEjectionPercent(hosts)), String(hosts)).to.equal(hosts - 1);
        expect(decideOutlier(declaration({ pool: STANDBY }))).to.have.nested.property("settings.maxEjectionPercent", 67);
    });

    it("stand in the plan, and end the loss window without the GSLB", () => {
        const found = plan({ pool: STANDBY });
        expect(found.window.endsBy).to.equal("standby");
        expect(found.connectTimeout).to.equal("900ms");
        expect(found.standby).to.deep.equal({ addresses: ["192.0.2.1", "192.0.2.2"], text: "192.0.2.1, 192.0.2.2 serve once no address that DNS answers does; fair weather follows DNS alone" });
        expect(found.summary).to.include("outlier detection: ejects up to 2 of 3 hosts, 1 that DNS answers and 2 that stand by (safe)");
        expect(found.consequences).to.deep.equal(["standby addresses are served although DNS may have withdrawn them, once nothing that DNS answers serves: keep the list current (istio-egress verify-pool)."]);
        expect(plan({ pool: { ...ONE, standbyAddresses: ["10.1.2.3", "192.0.2.2"] } }).consequences).to.include("10.1.2.3 is a private address: make sure that the partner is reached there, and nothing of your own.");
    });

    it("keep back while one of the addresses that DNS answers lives", () => {
        expect(decideCluster(declaration({ pool: { ...STANDBY, addressesPerAnswer: 3 } }))).to.deep.equal({ dnsRetryMs: 1000, overprovisioning: 300 });
        expect(decideCluster(declaration({ pool: STANDBY, ...FORBIDDEN }))).to.equal(undefined);
        expect(plan({ pool: STANDBY, ...FORBIDDEN }).consequences).to.have.length(4);
    });
});
