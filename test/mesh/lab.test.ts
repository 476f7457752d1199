// The lab checks itself: what its parts do, that two labs live side by side, and that nothing is left however a lab ends.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { fillDefaults, runbookOf } from "../../model";
import { repository } from "../../tools/support/places";
import { clusterName, delta } from "./counters";
import { declare } from "./lab/declare";
import { folderOf, labs, sweep } from "./lab/folder";
import { vip } from "./lab/layout";
import { namespacesOf, processesIn } from "./lab/network";
import { scenario } from "./scenario";

const HOST = "api.partner.example", CLUSTER = clusterName(HOST);

scenario("lab", { title: "The lab", question: "Does the lab do what it says?" }, ({ lab }) => {
    before(async function () {
        this.timeout(60_000);
        await lab().dns.addresses(HOST, [vip(1)]);
        await lab().up({ partner: declare() });
    });

    it("counts connections where they go, per proxy and per VIP", async () => {
        const gateway = lab().gateways.pod(0).envoy, before = await gateway.cluster(CLUSTER), begin = Date.now();
        const result = await lab().apps.payments.load(HOST, { count: 40, pace: { kind: "rate", perSecond: 40 } });
        expect(result).to.include({ sent: 40, ok: 40, failed: 0 });
        expect(result.by).to.deep.equal({ [vip(1)]: 40 });
        expect(delta(before, await gateway.cluster(CLUSTER))).to.include({ upstream_cx_total: 40, upstream_cx_connect_fail: 0 });
        expect((await lab().vips.connections(begin)).length).to.equal(40);
        expect(await gateway.members(CLUSTER)).to.have.length(1);
    }).timeout(20_000);

    it("answers the commands and queries of a runbook", async () => {
        expect(await lab().apps.payments.request(HOST)).to.include({ ok: true }); // Envoy makes a cluster's statistics when it is first used.
        const { envoy } = lab().gateways.pod(0), steps = runbookOf(fillDefaults(declare())), metrics = [...(await envoy.metrics()).keys()];
        const commands = steps.flatMap((step) => step.commands).filter((command) => command.includes("pilot-agent request GET"));
        expect(commands.length).to.be.greaterThan(3);
        for (const command of commands) {
            const [, page = "", filters = ""] = /request GET (\w+) \| (.*)$/.exec(command) ?? [];
            expect(execFileSync("bash", ["-c", filters], { input: await envoy.text(`/${page}`), encoding: "utf8" }).trim().split("\n")[0], command).to.include(CLUSTER);
        }
        for (const query of steps.flatMap((step) => step.queries)) expect(metrics, query).to.include(/envoy_cluster_\w+\{[^}]*\}/.exec(query)?.[0]);
    }).timeout(20_000);

    it("follows the zone: addresses, TTL, and who asks", async () => {
        const begin = Date.now();
        await lab().dns.addresses(HOST, [vip(2)], { ttl: 1 });
        await lab().members(HOST, [vip(2)]);
        const { reply } = await lab().apps.orders.request(HOST);
        expect(reply?.who).to.include({ vip: vip(2), sni: HOST, http: "1.1" });
        const asked = (await lab().dns.queries(begin)).filter(({ name, client }) => name === HOST && client === lab().gateways.pod(0).plan.address);
        expect(asked.length).to.be.greaterThan(0);
        await lab().dns.addresses(HOST, [vip(1)]);
        await lab().members(HOST, [vip(1)]);
    }).timeout(30_000);

    for (const [fault, reason] of [["drop", "timeout"], ["refuse", "reset"]] as const) {
        it(`a VIP that fails by ${fault} fails connections, until the fault is cleared`, async () => {
            lab().faults.vip(vip(1), fault);
            const failed = await lab().apps.payments.request(HOST, { timeoutMs: 4_000 });
            expect(failed.ok, JSON.stringify(failed)).to.equal(false);
            lab().faults.clear();
            expect(await lab().apps.payments.request(HOST)).to.include({ ok: true });
            expect(["closed", reason]).to.include(failed.reason);
        }).timeout(20_000);
    }

    it("keeps connections, and tells when they are cut", async () => {
        const connection = await lab().apps.payments.connect(HOST);
        const [first, second] = [await connection.ask(), await connection.ask("/wait/1")];
        expect([first.ok, second.ok, second.localPort]).to.deep.equal([true, true, first.localPort]);
        expect(await lab().vips.open()).to.deep.equal({ [vip(1)]: 1 });
        const end = connection.end(5_000);
        await lab().vips.reset(vip(1));
        expect((await end).how).to.not.equal("open");
        await connection.close();
    }).timeout(20_000);

    it("streams, and sees a stream that is cut", async () => {
        const whole = await lab().apps.payments.request(HOST, { path: "/slow/1" });
        expect(whole.reply?.bytes).to.be.greaterThan(10_240);
        const cut = lab().apps.payments.request(HOST, { path: "/slow/10" });
        while ((await lab().vips.open())[vip(1)] === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
        await lab().vips.behave(vip(1), {});
        setTimeout(() => void lab().vips.reset(vip(1)), 1_500);
        expect((await cut).reason).to.be.oneOf(["cut", "reset"]);
    }).timeout(20_000);

    it("keeps an HTTP/2 session, until the server lets go of it", async () => {
        const session = await lab().apps.payments.session(HOST), begin = Date.now();
        const answers = await Promise.all(["/", "/wait/1", "/"].map((path) => session.ask(path)));
        expect(answers.map(({ ok, reply }) => [ok, reply?.who?.http])).to.deep.equal([[true, "2.0"], [true, "2.0"], [true, "2.0"]]);
        expect(Date.now() - begin).to.be.lessThan(5_000);
        expect(await session.isOver()).to.equal(false);
        expect((await session.ask("/close")).ok).to.equal(true);
        for (const deadline = Date.now() + 5_000; !await session.isOver() && Date.now() < deadline; await wait(20));
        expect(await session.isOver()).to.equal(true);
        await session.close();
    }).timeout(20_000);

    it("loads for as long as something else takes, also when that fails", async () => {
        const { load, value, from, until } = await lab().apps.payments.during(HOST, { pace: { kind: "rate", perSecond: 10 } }, () => wait(2_000, "done"));
        expect([value, load.failed]).to.deep.equal(["done", 0]);
        expect(until - from).to.be.within(1.9, 4);
        expect(load.sent).to.be.within(40, 90);
        const before = Date.now();
        const failed = await lab().apps.payments.during(HOST, { pace: { kind: "rate", perSecond: 10 } }, () => Promise.reject(new Error("on purpose"))).catch((error: Error) => error.message);
        expect([failed, (await lab().vips.connections(before)).length > 0]).to.deep.equal(["on purpose", true]);
    }).timeout(30_000);

    it("changes the mesh's configuration while istiod runs", async () => {
        const rate = async (): Promise<unknown> => (await lab().gateways.pod(0).envoy.clusterConfig(CLUSTER))?.["dns_refresh_rate"];
        lab().mesh({ dnsRefreshRate: "7s" });
        for (const deadline = Date.now() + 20_000; await rate() !== "7s" && Date.now() < deadline; await wait(100));
        expect(await rate()).to.equal("7s");
        lab().mesh();
        for (const deadline = Date.now() + 20_000; await rate() !== "60s" && Date.now() < deadline; await wait(100));
        expect(await rate()).to.equal("60s");
    }).timeout(45_000);

    it("runs a second gateway, drains the first, and ends it", async () => {
        await lab().gateways.scale(2);
        await lab().settled();
        await lab().endpoints();
        await lab().gateways.drain(0);
        await lab().endpoints();
        expect(await lab().apps.payments.load(HOST, { count: 20, pace: { kind: "concurrency", connections: 4 } })).to.include({ ok: 20 });
        await lab().gateways.pod(0).ended(20_000);
        await lab().reset();
    }).timeout(90_000);

    it("tells what istiod's webhook refuses and what Envoy rejects", async () => {
        const rule = (spec: object): object => ({ apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "wrong", namespace: "egress" }, spec });
        const refused = await lab().apply([rule({ host: HOST, trafficPolicy: { outlierDetection: { consecutiveLocalOriginFailures: 3 } } })]).catch((error: Error) => error.message);
        expect(refused).to.match(/^DestinationRule egress\/wrong is refused: .*validation\.istio\.io/);
        const broken = {
            apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: "broken", namespace: "istio-egress" },
            spec: { configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY" }, patch: { operation: "ADD", value: { name: "broken", type: "STRICT_DNS", lb_policy: "MAGLEV", connect_timeout: "-1s" } } }] },
        };
        expect(Object.keys(await lab().apply([broken]))).to.deep.equal(["egw-0"]);
        expect(await lab().delete([broken])).to.deep.equal({});
    }).timeout(60_000);

    it("leaves nothing when its process is interrupted, and when it is killed", async () => {
        for (const signal of ["SIGINT", "SIGKILL"] as const) {
            const name = signal.toLowerCase();
            const child = spawn(process.execPath, ["--import", "tsx", path.join(repository, "tools/lab.ts"), "up", "--name", name], { cwd: repository, stdio: "ignore" });
            const ended = new Promise((resolve) => child.once("exit", resolve));
            while (namespacesOf(name).flatMap(processesIn).length < 10) await new Promise((resolve) => setTimeout(resolve, 20));
            child.kill(signal);
            await ended;
            if (signal === "SIGKILL") {
                expect(labs()).to.include(name);
                expect(sweep()).to.deep.equal([name]);
            }
            expect([namespacesOf(name), existsSync(folderOf(name)), existsSync(`/etc/netns/ieg-${name}-dns`)]).to.deep.equal([[], false, false]);
        }
        // Beside the shared lab, which has gone on.
        expect(await lab().istiod.sync()).to.have.length(3);
    }).timeout(90_000);
});
