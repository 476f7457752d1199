// Each rule on both sides of its bound, and on what it must leave alone. Full messages are in the fixtures.
import { expect } from "chai";
import { ejectable } from "../../model";
import { type JudgeOptions, type Manifest, judgeWith, resourceOf, ruleOf } from "./support";

type Pool = Readonly<Record<string, unknown>>;
const FIXED_2: Pool = { membership: "fixed", addressesPerAnswer: 2 };

const known = (pool: Pool): JudgeOptions => ({ configuration: { pools: [{ host: "api.partner.example", ...pool }] } });

function destinationRule(trafficPolicy: unknown, more: Record<string, unknown> = {}): Manifest {
    return {
        apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "partner", namespace: "egress" },
        spec: { host: "api.partner.example", trafficPolicy, ...more },
    };
}

const outlier = (fields: Record<string, unknown>): Manifest => destinationRule({ outlierDetection: { consecutive5xxErrors: 5, ...fields } });

function serviceEntry(spec: Record<string, unknown>, annotations?: Record<string, unknown>): Manifest {
    return {
        apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "partner", namespace: "egress", annotations },
        spec: { hosts: ["api.partner.example"], resolution: "DNS", ...spec },
    };
}

function gateway(...servers: unknown[]): Manifest {
    return { apiVersion: "networking.istio.io/v1", kind: "Gateway", metadata: { name: "egress", namespace: "istio-system" }, spec: { servers } };
}

const found = (code: string, manifest: Manifest, options?: JudgeOptions): readonly string[] =>
    judgeWith(ruleOf(code), resourceOf(manifest), options).violations.map(({ level = ruleOf(code).level }) => level);

describe("E101 ejection-never", () => {
    it("finds exactly the guards that Envoy's rule makes dead for a declared pool, and lower the dead after a withdrawal", () => {
        for (let addresses = 1; addresses <= 12; addresses++) {
            for (let percent = 1; percent <= 100; percent++) {
                const sizes = Array.from({ length: Math.max(0, addresses - 1) }, (_, index) => index + 2);
                const dead = sizes.filter((size) => ejectable(size, percent) === 0);
                const expected = dead.length === 0 ? [] : dead.includes(addresses) ? ["mandatory"] : ["advisory"];
                expect(found("E101", outlier({ maxEjectionPercent: percent }), known({ membership: "fixed", addressesPerAnswer: addresses })), `${addresses}, ${percent} %`)
                    .to.deep.equal(expected);
            }
        }
    });

    it("leaves the guard after a withdrawal at the policy's own level where the configuration says so", () => {
        const options = { configuration: { ...known({ membership: "fixed", addressesPerAnswer: 4 }).configuration, afterWithdrawal: "like-never" } };
        const { violations } = judgeWith(ruleOf("E101"), resourceOf(outlier({ maxEjectionPercent: 34 })), options);
        expect(violations.map(({ level }) => level)).to.deep.equal([undefined]);
    });

    it("says nothing where the size is not known, the pool rotates, or the percent is missing, which is E105", () => {
        expect(found("E101", outlier({ maxEjectionPercent: 10 }))).to.be.empty;
        expect(found("E101", outlier({ maxEjectionPercent: 10 }), known({ membership: "fixed" }))).to.be.empty;
        expect(found("E101", outlier({ maxEjectionPercent: 10 }), known({ membership: "rotating", addressesPerAnswer: 2 }))).to.be.empty;
        for (const percent of [undefined, null, 0, "30"]) expect(found("E101", outlier({ maxEjectionPercent: percent }), known(FIXED_2))).to.be.empty;
    });

    it("judges a subset by labels only by what holds for every part of the pool", () => {
        const subset = (maxEjectionPercent: number): Manifest => destinationRule(undefined, {
            subsets: [{ name: "v2", labels: { version: "v2" }, trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent } } }],
        });
        const pool = known({ membership: "fixed", addressesPerAnswer: 4 });
        expect(found("E101", subset(20), pool)).to.deep.equal(["mandatory"]);
        expect(found("E101", subset(34), pool)).to.be.empty;
    });
});

describe("E102 ejection-empties-pool", () => {
    it("finds 100 % with panic routing off, for any pool", () => {
        for (const minHealthPercent of [undefined, null, 0]) {
            expect(found("E102", outlier({ maxEjectionPercent: 100, minHealthPercent }))).to.deep.equal(["mandatory"]);
        }
        expect(found("E102", outlier({ maxEjectionPercent: 250 }))).to.deep.equal(["mandatory"]);
    });

    it("leaves alone 99 %, panic routing, and what it cannot read", () => {
        expect(found("E102", outlier({ maxEjectionPercent: 99 }))).to.be.empty;
        expect(found("E102", outlier({ maxEjectionPercent: 100, minHealthPercent: 1 }))).to.be.empty;
        expect(found("E102", outlier({ maxEjectionPercent: 100, minHealthPercent: "1" }))).to.be.empty;
        expect(found("E102", outlier({}))).to.be.empty;
    });
});

describe("E105 ejection-guard-missing", () => {
    it("finds every block without a percent, wherever it stands", () => {
        const block = { outlierDetection: { consecutive5xxErrors: 5 } };
        const ports = { ...block, portLevelSettings: [{ port: { number: 443 }, ...block }, { port: { number: 80 }, tls: {} }, { port: { number: 8443 }, ...block }] };
        const { violations } = judgeWith(ruleOf("E105"), resourceOf(destinationRule(ports, { subsets: [{ name: "a" }, { name: "b", trafficPolicy: ports }] })));
        expect(violations.map(({ message }) => / (\S+) is unset/.exec(message)?.[1])).to.deep.equal([
            "spec.trafficPolicy", "spec.trafficPolicy.portLevelSettings[0]", "spec.trafficPolicy.portLevelSettings[2]",
            "spec.subsets[1].trafficPolicy", "spec.subsets[1].trafficPolicy.portLevelSettings[0]", "spec.subsets[1].trafficPolicy.portLevelSettings[2]",
        ].map((place) => `${place}.outlierDetection.maxEjectionPercent`));
    });

    it("is mandatory below ten addresses and where nobody knows, advisory from ten on", () => {
        expect(found("E105", outlier({}))).to.deep.equal(["mandatory"]);
        for (const addressesPerAnswer of [1, 2, 9]) expect(found("E105", outlier({}), known({ membership: "fixed", addressesPerAnswer }))).to.deep.equal(["mandatory"]);
        for (const addressesPerAnswer of [10, 100]) expect(found("E105", outlier({}), known({ membership: "fixed", addressesPerAnswer }))).to.deep.equal(["advisory"]);
    });

    it("leaves alone a block that ejects nothing by intent, and one that may do so", () => {
        expect(found("E105", destinationRule({ outlierDetection: { consecutive5xxErrors: 0 } }))).to.be.empty;
        expect(found("E105", destinationRule({ outlierDetection: { consecutive5xxErrors: 0, consecutiveGatewayErrors: 0 } }))).to.be.empty;
        expect(found("E105", destinationRule({ outlierDetection: { consecutive5xxErrors: "a" } }))).to.be.empty;
        expect(found("E105", destinationRule({ outlierDetection: { consecutive5xxErrors: 0, consecutiveGatewayErrors: 1 } }))).to.deep.equal(["mandatory"]);
        expect(found("E105", destinationRule({ outlierDetection: { consecutive5xxErrors: 0, splitExternalLocalOriginErrors: true } }))).to.deep.equal(["mandatory"]);
    });
});

describe("E112 no-way-back-for-ejected", () => {
    it("finds a fixed pool that ejects, with panic routing off", () => {
        for (const minHealthPercent of [undefined, 0]) {
            expect(found("E112", outlier({ maxEjectionPercent: 50, minHealthPercent }), known(FIXED_2))).to.deep.equal(["advisory"]);
            expect(found("E112", outlier({ maxEjectionPercent: 50, minHealthPercent }), known({ membership: "fixed" }))).to.deep.equal(["advisory"]);
        }
    });

    it("leaves alone panic routing, one address, a guard that ejects nothing, total ejection (E102) and pools that are not known to be fixed", () => {
        expect(found("E112", outlier({ maxEjectionPercent: 50, minHealthPercent: 1 }), known(FIXED_2))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 50 }), known({ membership: "fixed", addressesPerAnswer: 1 }))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 49 }), known(FIXED_2))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 49 }), known({ membership: "fixed" }))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 100 }), known(FIXED_2))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 50 }), known({ membership: "rotating" }))).to.be.empty;
        expect(found("E112", outlier({ maxEjectionPercent: 50 }))).to.be.empty;
    });
});

describe("E201 logical-dns-on-small-pool", () => {
    const race = { "istio.io/connect-strategy": "RACE_FIRST_TCP_CONNECT" };

    it("finds both ways to LOGICAL_DNS on a fixed pool, of one address too", () => {
        expect(found("E201", serviceEntry({ resolution: "DNS_ROUND_ROBIN" }), known({ membership: "fixed" }))).to.deep.equal(["mandatory"]);
        expect(found("E201", serviceEntry({ resolution: "DNS_ROUND_ROBIN" }), known({ membership: "fixed", addressesPerAnswer: 1 }))).to.deep.equal(["mandatory"]);
        expect(found("E201", serviceEntry({}, race), known(FIXED_2))).to.deep.equal(["mandatory"]);
    });

    it("leaves alone DNS, NONE, other values of the annotation, rotating pools and pools that nobody declared", () => {
        expect(found("E201", serviceEntry({}), known(FIXED_2))).to.be.empty;
        expect(found("E201", serviceEntry({ resolution: "NONE" }, race), known(FIXED_2))).to.be.empty;
        expect(found("E201", serviceEntry({ resolution: undefined }, race), known(FIXED_2))).to.be.empty;
        expect(found("E201", serviceEntry({}, { "istio.io/connect-strategy": "DEFAULT" }), known(FIXED_2))).to.be.empty;
        expect(found("E201", serviceEntry({ resolution: "DNS_ROUND_ROBIN" }), known({ membership: "rotating" }))).to.be.empty;
        expect(found("E201", serviceEntry({ resolution: "DNS_ROUND_ROBIN" }))).to.be.empty;
    });

    it("takes the object's annotations for more than the configuration", () => {
        const rotating = { "istio-egress/membership": "rotating" };
        expect(found("E201", serviceEntry({ resolution: "DNS_ROUND_ROBIN" }, rotating), known(FIXED_2))).to.be.empty;
    });
});

describe("E207 pool-undeclared", () => {
    it("finds an external host that is resolved by DNS and that nobody declared", () => {
        for (const resolution of ["DNS", "DNS_ROUND_ROBIN"]) expect(found("E207", serviceEntry({ resolution }))).to.deep.equal(["advisory"]);
        expect(found("E207", serviceEntry({ location: "MESH_EXTERNAL" }))).to.deep.equal(["advisory"]);
        expect(found("E207", serviceEntry({ endpoints: [{ address: "192.0.2.1" }, { address: "vip.partner.example" }] }))).to.deep.equal(["advisory"]);
    });

    it("leaves alone what is declared, what is inside, and what DNS does not resolve", () => {
        expect(found("E207", serviceEntry({}), known({ membership: "rotating" }))).to.be.empty;
        expect(found("E207", serviceEntry({ location: "MESH_INTERNAL" }))).to.be.empty;
        for (const resolution of ["NONE", "STATIC", "DYNAMIC_DNS", undefined]) expect(found("E207", serviceEntry({ resolution }))).to.be.empty;
        expect(found("E207", serviceEntry({ endpoints: [{ address: "192.0.2.1" }] }))).to.be.empty;
        expect(found("E207", serviceEntry({ hosts: ["ledger.payments.svc.cluster.local", "10.0.0.1", "mysql"] }))).to.be.empty;
    });
});

describe("E410 shared-mutual-server", () => {
    const server = (hosts: unknown, mode = "ISTIO_MUTUAL", protocol = "TLS"): object => ({ port: { number: 443, name: "tls", protocol }, hosts, tls: { mode } });

    it("finds several hosts, and a wildcard, under one server", () => {
        expect(found("E410", gateway(server(["a.example.com", "b.example.com"])))).to.deep.equal(["mandatory"]);
        for (const wildcard of ["*", "*.example.com", "payments/*.example.com", "*/*"]) expect(found("E410", gateway(server([wildcard]))), wildcard).to.deep.equal(["mandatory"]);
        expect(found("E410", gateway(server(["a.example.com"]), server(["b.example.com", "c.example.com"], "ISTIO_MUTUAL", "tls")))).to.deep.equal(["mandatory"]);
    });

    it("leaves alone one host per server, other modes and HTTPS", () => {
        expect(found("E410", gateway(server(["a.example.com"]), server(["ns/b.example.com", "B.example.com."])))).to.be.empty;
        for (const mode of ["PASSTHROUGH", "MUTUAL", "SIMPLE", "AUTO_PASSTHROUGH"]) expect(found("E410", gateway(server(["*.example.com"], mode)))).to.be.empty;
        expect(found("E410", gateway(server(["a.example.com", "b.example.com"], "ISTIO_MUTUAL", "HTTPS")))).to.be.empty;
        expect(found("E410", gateway(server(undefined), server("*"), server([]), null, 1))).to.be.empty;
    });
});
