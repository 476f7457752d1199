// Updates that do not end: a refused object, a killed CLI, a second CLI at the same time, an API server that goes away. What is said, and what the next `up` makes of it.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { checkFieldOwners } from "../../cli/preflight/checks/field-owners";
import { istioObjectOf } from "../../cli/preflight/convert";
import { needsOf } from "../../cli/preflight/needs";
import { descendants, isAlive, signal } from "../../tools/support/process";
import type { RunResult } from "../../tools/support/process";
import { accept, input } from "../support/declarations";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";
import { LIFECYCLE_MS, REPEATS, declared, expectExactly, expectStateOf, meshLegOf, startLife } from "./lifecycle";
import type { Life, Objects, PlannedHost } from "./lifecycle";
import { Journal } from "./lifecycle-journal";
import { unsupported } from "./lifecycle-moments";

const at = (name: string, changed: Partial<PlannedHost["input"]> = {}): PlannedHost => ({ name, input: input({ host: `${name}.partner.example`, settleTime: "500ms", ...changed }) });
/** Hosts of their own for each attempt. */
const group = (name: string): readonly PlannedHost[] => ["a", "b", "c"].map((letter) => at(`${name}${letter}`));
const good = group("good");
const wrong = at("wrong", { manifestOverrides: { "DestinationRule/host": { spec: { trafficPolicy: { connectionPool: { tcp: { maxConnections: "many" } } } } } } });
const attempts = Array.from({ length: REPEATS }, (_, index) => index + 1);
const said = ({ stdout, stderr }: RunResult): string => stdout + stderr;

describe("an update that does not come to its end", function () {
    this.timeout(LIFECYCLE_MS);
    let server: ApiServer;
    let life: Life;
    let old: Objects;
    /** What the last update that ended well has left. */
    let hosts: readonly PlannedHost[] = [];

    before(async () => {
        server = await startApiServer();
        life = await startLife(server);
    });
    after(async () => {
        await life?.remove();
        await server?.stop();
    });
    beforeEach(async () => old = await life.held());

    /** The next `up` leaves these hosts as declared, and another one has nothing to do. */
    async function expectClean(next: readonly PlannedHost[]): Promise<void> {
        await life.mustUp({ hosts: next });
        await expectExactly(life, next);
        await life.mustUp({ hosts: next }, "--expect-no-changes");
        hosts = next;
    }

    function expectReason(result: RunResult): void {
        expect(result.code).to.not.equal(0);
        expect(said(result)).to.include('wrong-destination-rule" was not successfully created by the Kubernetes API server')
            .and.to.include("(egress/egress-wrong-partner-example; networking.istio.io/v1, Kind=DestinationRule): .spec.trafficPolicy.connectionPool.tcp.maxConnections: expected numeric");
    }

    it("for a refused object tells which and why, and moves no traffic to what is incomplete", async () => {
        const { result, entries } = await Journal.during(server, () => life.up({ hosts: [...good, wrong] }));
        expectReason(result);
        for (const host of [...good, wrong]) expect(unsupported(old, entries, undefined, host)).to.deep.equal([]);
    });

    it("for a refused object completes the other hosts with --continue-on-error", async () => {
        expectReason(await life.up({ hosts: [...good, wrong] }, ["--continue-on-error"]));
        const missing = [meshLegOf(wrong), "DestinationRule egress/egress-wrong-partner-example"];
        expect([...(await life.held()).keys()]).to.have.members([...declared([...good, wrong]).keys()].filter((key) => !missing.includes(key)));
    });

    it("is completed by the next one, once the object is corrected", () => expectClean([...good, at("wrong")]));

    for (const attempt of attempts) {
        it(`whose CLI is killed leaves a lock that names it, and is completed by the next one (${String(attempt)} of ${String(REPEATS)})`, async () => {
            // New hosts are made, and those of the attempt before are removed; each removal is two events of the watch.
            const next = group(`killed${String(attempt)}`);
            const moment = 1 + Math.floor(Math.random() * (declared(next).size + 2 * declared(hosts).size - 1));
            let family: number[] = [];
            const { result, entries } = await Journal.during(server, (journal) => life.up({ hosts: next }, [], {
                started: (pid) => void journal.heard(moment).then(() => {
                    family = [pid, ...descendants(pid)];
                    signal(pid, "SIGKILL");
                }),
            }));
            const when = `killed after ${String(moment)} events`;
            expect(result.signal, when).to.equal("SIGKILL");
            expect(family, when).to.have.length.above(2);
            expect(family.filter(isAlive), when).to.deep.equal([]);
            for (const [index, host] of next.entries()) {
                expect(unsupported(old, entries, undefined, host), when).to.deep.equal([]);
                expect(unsupported(old, entries, hosts[index], undefined), when).to.deep.equal([]);
            }
            const locked = await life.up({ hosts: next });
            expect(locked.code, when).to.not.equal(0);
            expect(said(locked), when).to.match(/the stack is currently locked by 1 lock\(s\)\. Either wait for the other process\(es\) to end or delete the lock file with `pulumi cancel`\./)
                .and.to.include(`(pid ${String(family[0])})`);
            await life.must(["cancel", "--yes"]);
            await expectClean(next);
        });
    }

    for (const attempt of attempts) {
        it(`beside another one is refused, and leaves that alone (${String(attempt)} of ${String(REPEATS)})`, async () => {
            const next = group(`twice${String(attempt)}`);
            const other = (pause: number): Promise<RunResult> => wait(pause).then(() => life.run(["up", "--yes", "--skip-preview"]));
            const results = await Promise.all([life.up({ hosts: next }), other(Math.random() * 300)]);
            const refused = results.filter(({ code }) => code !== 0);
            expect(refused, results.map(said).join("\n")).to.not.be.empty;
            for (const one of refused) expect(said(one)).to.match(/the stack is currently locked by 1 lock\(s\)\..*`pulumi cancel`\.\n.*created by .* \(pid \d+\)/);
            // Within a few milliseconds each sees the lock of the other, and both give up.
            if (refused.length === 2) await life.mustUp({ hosts: next });
            await expectExactly(life, next);
            await expectStateOf(life);
            hosts = next;
        });
    }

    describe("that made an object and lost it", () => {
        const cut = at("cut"), changed = at("cut", { connectTimeout: "2s" });
        const object = [...declared([cut]).values()].find(({ kind }) => kind === "DestinationRule");
        const url = "/apis/networking.istio.io/v1/namespaces/egress/destinationrules";

        before(async () => {
            const created = await server.request("PATCH", `${url}/egress-cut-partner-example?fieldManager=pulumi-kubernetes-lost`, object);
            expect(created.status, created.body.message).to.equal(201);
            await life.mustUp({ hosts: [...hosts, cut] });
            await expectExactly(life, [...hosts, cut]);
        });

        it("keeps a hand on its fields: a change is refused until it is forced", async () => {
            const refused = await life.up({ hosts: [...hosts, changed] });
            expect(refused.code).to.not.equal(0);
            expect(said(refused)).to.match(/"egress\/egress-cut-partner-example" failed to fully initialize.* field conflict/)
                .and.to.include('conflict with "pulumi-kubernetes-lost": .spec.trafficPolicy.connectionPool.tcp.connectTimeout');
            const forced = await life.up({ hosts: [...hosts, changed] }, [], { env: { PULUMI_K8S_ENABLE_PATCH_FORCE: "true" } });
            expect(forced.code, said(forced)).to.equal(0);
            await expectExactly(life, [...hosts, changed]);
        });

        it("is found by the preflight, whose command heals it: changes go through again", async () => {
            const found = async (): Promise<readonly string[]> => {
                const items = [...(await life.held()).values()].flatMap((item) => istioObjectOf("DestinationRule", { ...item }) ?? []);
                const listed = { objects: items, unseen: [] }, nothing = { objects: [], unseen: [] };
                const declarations = needsOf([{ name: cut.name, declaration: accept(cut.input) }]);
                return checkFieldOwners(declarations, { objects: { DestinationRule: listed, ServiceEntry: nothing, Gateway: nothing, VirtualService: nothing, EnvoyFilter: nothing } }).map(({ fix = "" }) => fix);
            };
            const [command = "", ...others] = await found();
            expect(others).to.deep.equal([]);
            const [, patch = ""] = /^kubectl -n egress patch destinationrules\.networking\.istio\.io egress-cut-partner-example --type=json -p '(.*)'$/.exec(command) ?? [];
            const patched = await server.request("PATCH", `${url}/egress-cut-partner-example`, JSON.parse(patch));
            expect(patched.status, patched.body.message).to.equal(200);
            expect(await found()).to.deep.equal([]);
            hosts = [...hosts, at("cut", { connectTimeout: "3s" })];
            await life.mustUp({ hosts });
            await expectExactly(life, hosts);
        });
    });

    it("for an API server that went away tells so, and is completed by the next one", async () => {
        const next = [...hosts, ...group("outage")];
        let restart: Promise<() => void> | undefined;
        const { result, entries } = await Journal.during(server, (journal) => life.up({ hosts: next }, [], {
            started: () => void journal.heard(4).then(() => restart = server.crash()),
        }));
        expect(result.code).to.not.equal(0);
        expect(said(result)).to.match(/outage[abc]-[\w-]+" was not successfully created by the Kubernetes API server: Patch "https:\S+": .*connection re(fused|set)/);
        for (const host of next) expect(unsupported(old, entries, undefined, host)).to.deep.equal([]);
        (await restart)?.();
        while (await server.request("GET", "/readyz").then(({ status }) => status !== 200, () => true)) await wait(100);
        await life.mustUp({ hosts: next });
        await expectExactly(life, next);
        await expectStateOf(life);
    });

    it("leaves nothing after a destroy in the end", async () => {
        await life.must(["destroy", "--yes", "--skip-preview"]);
        await expectExactly(life, []);
    });
});
