// The mesh leg on a real API server: written last and after the settle time, removed first, and not waited for when nothing calls for it.
import { expect } from "chai";
import { input } from "../support/declarations";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";
import { stateResources } from "./harness";
import { LIFECYCLE_MS, declared, expectExactly, meshLegOf, startLife } from "./lifecycle";
import type { Life, Objects, PlannedHost } from "./lifecycle";
import { Journal } from "./lifecycle-journal";
import type { Entry } from "./lifecycle-journal";
import { unsupported } from "./lifecycle-moments";

/** Far longer than a command may take. */
const NEVER = "1h";
/** How much later the watch may tell of one object than of another. */
const JITTER_MS = 400;

const partner = (changed: Partial<PlannedHost["input"]>): PlannedHost => ({ name: "partner", input: input({ host: "api.partner.example", ...changed }) });
const quotes = (changed: Partial<PlannedHost["input"]>): PlannedHost => ({ name: "quotes", input: input({ host: "quotes.bank.example", ...changed }) });
const idle: PlannedHost = { name: "idle", input: input({ host: "idle.bank.example" }) };
const NONE: Objects = new Map();

describe("the mesh leg on a real API server", function () {
    this.timeout(LIFECYCLE_MS);
    let server: ApiServer;
    let life: Life;
    let old: Objects;
    let hosts: readonly PlannedHost[] = [];

    before(async () => {
        server = await startApiServer();
        life = await startLife(server);
    });
    after(async () => {
        await life?.remove();
        await server?.stop();
    });

    /** Runs `up` for the hosts' next form; what the API server did. */
    async function up(...next: readonly PlannedHost[]): Promise<{ entries: readonly Entry[] }> {
        old = await life.held();
        const former = hosts;
        const { entries } = await Journal.during(server, () => life.mustUp({ hosts: next }));
        await expectExactly(life, next);
        hosts = next;
        for (const host of next) expect(unsupported(old, entries, former.find(({ name }) => name === host.name), host)).to.deep.equal([]);
        return { entries };
    }

    /** How long after the last other object of a host its mesh leg was written. */
    function pause(host: PlannedHost, entries: readonly Entry[]): number {
        const own = entries.filter(({ key }) => declared([host]).has(key));
        const leg = own.find(({ key }) => key === meshLegOf(host)) ?? expect.fail(`no mesh leg of ${host.name}`);
        return leg.time - Math.max(...own.filter(({ key }) => key !== leg.key).map(({ time }) => time));
    }

    it("is written last, each after its host's settle time", async () => {
        const slow = partner({ settleTime: "3s" }), quick = quotes({ settleTime: "1s" });
        const { entries } = await up(slow, quick, idle);
        expect(pause(slow, entries)).to.be.at.least(3000 - JITTER_MS);
        expect(pause(quick, entries)).to.be.at.least(1000 - JITTER_MS);
    });

    it("does not wait, however long the settle time, when only itself, only another object or nothing changes", async () => {
        const mark = { "VirtualService/mesh-leg": { metadata: { annotations: { note: "reviewed" } } } };
        const { entries } = await up(
            partner({ settleTime: NEVER, connectTimeout: "2s" }), quotes({ settleTime: NEVER, manifestOverrides: mark }), { ...idle, input: { ...idle.input, settleTime: NEVER } },
        );
        // The filter's handshake time-out has room for one attempt, which lasts as long as the connect timeout.
        expect(entries.map(({ type, key }) => `${type} ${key}`)).to.have.members(["MODIFIED DestinationRule egress/egress-api-partner-example", "MODIFIED EnvoyFilter istio-egress/egress-api-partner-example", "MODIFIED VirtualService egress/egress-quotes-bank-example-mesh"]);
    });

    it("alone is removed by active: false; beside it, another host's is rewritten after the settle time", async () => {
        const wider = partner({ settleTime: "2s", connectTimeout: "2s", consumers: [{ namespace: "payments" }, { namespace: "orders" }] });
        const { entries } = await up(wider, quotes({ active: false }), idle);
        expect(pause(wider, entries)).to.be.at.least(2000 - JITTER_MS);
        const removed = [...new Set(entries.filter(({ key }) => key.includes("quotes")).map(({ key }) => key))];
        expect(removed).to.deep.equal(["VirtualService egress/egress-quotes-bank-example-mesh"]);
    });

    it("goes first in a destroy, which leaves nothing", async () => {
        old = await life.held();
        const { entries } = await Journal.during(server, () => life.must(["destroy", "--yes", "--skip-preview"]));
        expect(await life.held()).to.deep.equal(NONE);
        expect(await stateResources(life.must)).to.deep.equal([]);
        for (const host of hosts) expect(unsupported(old, entries, host, undefined)).to.deep.equal([]);
        for (const name of ["egress", "payments", "istio-egress"]) expect((await server.request("GET", `/api/v1/namespaces/${name}`)).status, "Namespaces are not ours").to.equal(200);
    });
});
