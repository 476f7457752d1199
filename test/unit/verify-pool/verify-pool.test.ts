// `istio-egress verify-pool` against a DNS server on loopback: what is drift, what could not be asked, what is only told.
import { execFile } from "node:child_process";
import path from "node:path";
import { expect } from "chai";
import { checkResolver } from "../../../cli/verify-pool/ask";
import { PoolStatus, type PoolVerdict, verifyPools } from "../../../cli/verify-pool";
import type { Declaration, DeclarationInput } from "../../../model";
import { declaration } from "../../support/declarations";
import { type DnsServer, type Said, dnsServer } from "../../support/dns-server";
import { within } from "../audit/support";

const A = "203.0.113.1", B = "203.0.113.2", C = "203.0.113.3", A6 = "2001:db8::1", B6 = "2001:db8::2";
const pool = (addressesPerAnswer: number | undefined, standbyAddresses?: readonly string[]): DeclarationInput["pool"] => ({ membership: "fixed", addressesPerAnswer, ...(standbyAddresses === undefined ? {} : { standbyAddresses: [...standbyAddresses] }) });
const of = (host: string, of: DeclarationInput["pool"]): { readonly name: string; readonly declaration: Declaration } => ({ name: host.split(".")[0] ?? "", declaration: declaration({ host, pool: of }) });

const ZONE: Readonly<Record<string, (round: number) => Said>> = {
    "good.example": (round) => [round % 2 === 0 ? A : B], "pair.example": () => [A, B], "dual.example": () => [A, A6],
    "moved.example": (round) => [round === 0 ? A : C], "shrunk.example": (round) => (round === 0 ? [A, B] : [A]),
    "gone.example": () => "nxdomain", "empty.example": () => [], "broken.example": () => "servfail", "refused.example": () => "refused", "silent.example": () => "silence",
    "flapping.example": (round) => (round === 1 ? "nxdomain" : [A]),
};

describe("istio-egress verify-pool", () => {
    let server: DnsServer;
    before(async () => { server = await dnsServer((name, round) => ZONE[name]?.(round) ?? "nxdomain"); });
    after(() => server.close());

    const verify = async (hosts: Parameters<typeof verifyPools>[0], times = 3): Promise<readonly PoolVerdict[]> => verifyPools(hosts, { resolver: server.address, times, intervalMs: 0, timeoutMs: 100 });
    const one = async (host: string, ofPool: DeclarationInput["pool"], times?: number): Promise<PoolVerdict> => {
        const [verdict] = await verify([of(host, ofPool)], times);
        if (verdict === undefined) throw new Error("no verdict");
        return verdict;
    };

    it("is content with answers within the list, of the declared size; what is listed and unseen is told", async () => {
        expect(await one("good.example", pool(1, [A, B]))).to.deep.equal({ name: "good", host: "good.example", status: PoolStatus.Ok, seen: { [A]: 2, [B]: 1 }, answers: 3, drift: [], unknown: [], information: [] });
        expect(await one("good.example", pool(1, [A, B, C]))).to.deep.include({ status: PoolStatus.Ok, information: [`${C} is listed and was not answered: it may stand by all the same.`] });
        expect(await one("pair.example", pool(2))).to.deep.include({ status: PoolStatus.Ok, seen: { [A]: 3, [B]: 3 }, information: [] });
    });

    it("finds an address outside the list, and answers of another size", async () => {
        const moved = await one("moved.example", pool(1, [A, B]));
        expect(moved).to.deep.include({ status: PoolStatus.Drift, information: [`${B} is listed and was not answered: it may stand by all the same.`] });
        expect(moved.drift).to.deep.equal([`${C} is answered and not among pool.standbyAddresses (${A}, ${B}): the list is not all of the pool; ask the GSLB's team, and add what serves.`]);
        const tail = "how many addresses can be ejected follows from it; a failover that is under way answers fewer too.";
        expect((await one("shrunk.example", pool(2, [A, B]))).drift).to.deep.equal([`an answer holds 1 address, and pool.addressesPerAnswer says 2: ${tail}`]);
        expect((await one("pair.example", pool(1))).drift).to.deep.equal([`an answer holds 2 addresses, and pool.addressesPerAnswer says 1: ${tail}`]);
    });

    it("counts both families where the list has both or there is none, and the list's own otherwise", async () => {
        expect(await one("dual.example", pool(2, [A, A6, B, B6]))).to.deep.include({ status: PoolStatus.Ok, seen: { [A]: 3, [A6]: 3 } });
        // Without a list IPv4 alone, or both, may be what the proxies use.
        expect((await one("dual.example", pool(1))).status).to.equal(PoolStatus.Ok);
        expect((await one("dual.example", pool(2))).status).to.equal(PoolStatus.Ok);
        expect((await one("dual.example", pool(3))).status).to.equal(PoolStatus.Drift);
        expect(await one("dual.example", pool(1, [A, B]))).to.deep.include({ status: PoolStatus.Ok, information: [`${B} is listed and was not answered: it may stand by all the same.`, `${A6} is of another family than the list, and of no use to proxies that are not dual stack.`] });
        // Spellings of one IPv6 address.
        expect((await one("dual.example", pool(1, ["2001:0db8:0::1", B6]))).drift).to.deep.equal([]);
    });

    it("says what could not be asked, and why", async () => {
        const unknown = async (host: string, times = 1): Promise<readonly string[]> => {
            const verdict = await one(host, pool(1, [A, B]), times);
            expect(verdict.status).to.equal(PoolStatus.Unknown);
            return verdict.unknown;
        };
        expect(await unknown("gone.example", 2)).to.deep.equal(["gone.example does not exist (NXDOMAIN): proxies with resolution DNS would empty their list (2 of 2 questions)."]);
        expect(await unknown("empty.example")).to.deep.equal(["empty.example has no address (an answer without records): proxies with resolution DNS would empty their list (1 of 1 question)."]);
        expect(await unknown("broken.example")).to.deep.equal(["broken.example is not answered: the server failed (SERVFAIL) (1 of 1 question)."]);
        expect(await unknown("refused.example")).to.deep.equal(["refused.example is not answered: the server refused the question (REFUSED); is it a resolver for this host? (1 of 1 question)."]);
        expect(await unknown("silent.example")).to.deep.equal(["silent.example is not answered: nothing came back within 0.2 s (1 of 1 question)."]);
        expect(await unknown("flapping.example", 3)).to.deep.equal(["flapping.example does not exist (NXDOMAIN): proxies with resolution DNS would empty their list (1 of 3 questions)."]);
        const [nobody] = await verifyPools([of("good.example", pool(1))], { resolver: "127.0.0.1:1", times: 1, intervalMs: 0, timeoutMs: 100 });
        expect(nobody?.unknown).to.deep.equal(["good.example is not answered: nobody listens at the resolver (1 of 1 question)."]);
    });

    it("asks nothing for rotating pools and wildcards, and each host once a round", async () => {
        const before = server.questions.length;
        const verdicts = await verify([of("rotating.example", { membership: "rotating" }), { name: "wild", declaration: declaration({ host: "*.wild.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating" } }) }]);
        expect(verdicts.map(({ status, information }) => [status, ...information])).to.deep.equal([
            ["skipped", "the pool is rotating: each answer is a sample, and nothing is declared of it."], ["skipped", "a wildcard has no answer of its own."],
        ]);
        expect(server.questions.length).to.equal(before);
        await verify([of("good.example", pool(1)), of("good.example", pool(1))], 2);
        expect(server.questions.slice(before).map(({ name, type }) => `${name} ${type}`).sort()).to.deep.equal(["good.example A", "good.example A", "good.example AAAA", "good.example AAAA"]);
    });

    it("takes an IP address as resolver, with or without a port", () => {
        for (const good of ["10.0.0.53", "10.0.0.53:5353", "fd00::53", "[fd00::53]:53", "[fd00::53]"]) expect(checkResolver(good)).to.equal(good);
        for (const bad of ["dns.example", "10.0.0.53:0", "10.0.0.53:65536", "10.0.0", "[10.0.0.53]:53", "", "10.0.0.53:x", "fd00::g"]) {
            expect(() => checkResolver(bad), bad).to.throw(`--resolver is ${JSON.stringify(bad)}, but takes the IP address of a resolver, with or without a port: 10.0.0.53, 10.0.0.53:5353 or [fd00::53]:53.`);
        }
    });

    describe("the command", function () {
        this.timeout(60_000);
        const catalogue = (hosts: string): string => [
            "gateways: { g: { namespace: istio-egress, selector: { istio: e }, serviceHost: e.istio-egress.svc.cluster.local, ports: [{ number: 443, targetPort: 8443 }], istioVersion: 1.31.0 } }",
            "defaults: { namespace: egress, gateway: g, route: mtls-passthrough, consumers: [{ namespace: payments }], ownership: { owner: o, purpose: p } }", "hosts:", hosts, "",
        ].join("\n");
        const GOOD = "  good: { host: good.example, pool: { membership: fixed, addressesPerAnswer: 1, standbyAddresses: [203.0.113.1, 203.0.113.2] } }";
        const run = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => new Promise((done) => {
            const root = path.join(__dirname, "../../..");
            execFile(process.execPath, ["--import", path.join(root, "node_modules/tsx/dist/loader.mjs"), path.join(root, "cli/main.ts"), "verify-pool", ...args], { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "" } },
                (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
        });

        it("ends with 0 as declared, 1 on drift, 2 on a wrong call, 3 where something could not be asked", () => within({
            "hosts.yaml": catalogue(`${GOOD}\n  moved: { host: moved.example, pool: { membership: fixed, addressesPerAnswer: 1, standbyAddresses: [203.0.113.9] } }\n  gone: { host: gone.example, pool: { membership: fixed, addressesPerAnswer: 1 } }\n  saas: { host: saas.example, pool: { membership: rotating } }`),
        }, async () => {
            const ask = (...args: string[]): ReturnType<typeof run> => run("--catalogue", "hosts.yaml", "--resolver", server.address, "--interval", "0", "--times", "2", ...args);
            const [good, drift, gone, wrong] = await Promise.all([ask("good"), ask("moved.example"), ask("gone", "saas", "good", "--format", "json"), ask("god")]);
            expect([good, drift, gone, wrong].map(({ code }) => code)).to.deep.equal([0, 1, 3, 2]);
            expect(good.stdout).to.match(/^ok {7}good {2}good\.example: 203\.0\.113\.[12] \([12] of 2\)/).and.to.match(/\n1 ok\.\n$/);
            expect(drift.stdout).to.include("is answered and not among pool.standbyAddresses (203.0.113.9)").and.to.match(/\n0 ok, 1 drift\.\n$/);
            const { hosts, ...asked } = JSON.parse(gone.stdout) as { hosts: PoolVerdict[] };
            expect(asked).to.deep.equal({ resolver: server.address, times: 2 });
            expect(hosts.map(({ status }) => status)).to.deep.equal(["unknown", "skipped", "ok"]);
            expect(hosts[0]).to.deep.equal({
                name: "gone", host: "gone.example", answers: 2, seen: {}, drift: [], information: [], status: "unknown",
                unknown: ["gone.example does not exist (NXDOMAIN): proxies with resolution DNS would empty their list (2 of 2 questions)."],
            });
            expect(wrong.stderr).to.equal("error: Nothing that is declared has the name or host \"god\": did you mean good?\n");
        }));
    });
});
