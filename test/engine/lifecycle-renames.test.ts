// Hosts that change their name, their place in the program or their API version: the live objects stay the same ones, or the change is refused.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import type { RunResult } from "../../tools/support/process";
import { GATEWAY, input } from "../support/declarations";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";
import { changes, stateResources } from "./harness";
import { LIFECYCLE_MS, declared, expectExactly, startLife, uids } from "./lifecycle";
import type { Life, PlannedHost } from "./lifecycle";

const at = (name: string, host: string, rest: Partial<PlannedHost> = {}): PlannedHost => ({ name, input: input({ host, settleTime: "0s" }), ...rest });

const stays = at("stays", "stays.partner.example");
const moves = at("moves", "moves.partner.example");
/** The same as entries of the catalogue `egress`. */
const entry = (host: PlannedHost): PlannedHost => ({ ...host, name: `egress-${host.name}` });
const beta = at("new-beta", "beta.partner.example"), alpha = at("alpha", "alpha.partner.example");
const renamed = at("new-name", "renamed.partner.example");
/** The hosts outside the catalogue, once all have moved. */
const moved = [renamed, { ...moves, name: "partner" }, beta, alpha];

describe("a host that is renamed or moved", function () {
    this.timeout(LIFECYCLE_MS);
    let server: ApiServer;
    let life: Life;
    let original: Record<string, unknown>;

    const writeCatalogue = (...hosts: readonly PlannedHost[]): Promise<void> => writeFile(path.join(life.folder, "program/catalogue.yaml"), JSON.stringify({
        gateways: { platform: GATEWAY }, hosts: Object.fromEntries(hosts.map((host) => [host.name, { ...host.input, gateway: "platform" }])),
    }));
    const up = (hosts: readonly PlannedHost[], ...args: string[]): Promise<RunResult> => life.up({ hosts, hasCatalogue: true }, args);

    before(async () => {
        server = await startApiServer();
        life = await startLife(server);
        await writeCatalogue(stays, moves);
        await life.mustUp({
            hosts: [{ ...renamed, name: "old-name" }, { ...beta, name: "old-beta", formerVersion: "v1beta1" }, { ...alpha, formerVersion: "v1alpha3" }], hasCatalogue: true,
        });
        original = uids(await life.held());
    });
    after(async () => {
        await life?.remove();
        await server?.stop();
    });

    /** All objects are those of the start, of the type that the library emits now. */
    async function expectOriginal(hosts: readonly PlannedHost[]): Promise<void> {
        await expectExactly(life, hosts);
        expect(uids(await life.held())).to.deep.equal(original);
        const types = (await stateResources(life.must)).map(({ type }) => type).filter((type) => type.startsWith("kubernetes:networking"));
        expect(types).to.have.lengthOf(declared(hosts).size);
        expect(types.filter((type) => !type.startsWith("kubernetes:networking.istio.io/v1:") && type !== "kubernetes:networking.istio.io/v1alpha3:EnvoyFilter")).to.deep.equal([]);
    }

    it("keeps its objects when an alias tells the former name or place, and under a new API version with and without one", async () => {
        await writeCatalogue(stays);
        const result = await up([
            { ...renamed, aliases: [{ name: "old-name" }] }, { ...moves, name: "partner", aliases: [{ name: "egress-moves", inCatalogue: true }] },
            { ...beta, aliases: [{ name: "old-beta" }] }, alpha,
        ]);
        expect(result.code, result.stdout + result.stderr).to.equal(0);
        expect(changes(result)).to.have.all.keys("updated", "unchanged");
        await expectOriginal([entry(stays), ...moved]);
    });

    it("needs the alias for one update only", async () => {
        const result = await up(moved, "--expect-no-changes");
        expect(result.code, result.stdout + result.stderr).to.equal(0);
    });

    it("without an alias is refused by the API server, and everything stays as it is", async () => {
        const revisions = async (): Promise<unknown[]> => [...(await life.held()).values()].map(({ metadata }) => metadata?.["resourceVersion"]);
        const held = await revisions();
        const result = await up([{ ...renamed, name: "newer-name" }, ...moved.slice(1)]);
        expect(result.code).to.not.equal(0);
        expect(result.stdout).to.match(/::newer-name-[\w-]+" was not successfully created by the Kubernetes API server: Server-Side Apply field conflict/);
        expect(result.stdout).to.match(/Apply failed with \d conflicts?: conflicts? with "pulumi-kubernetes-\w+":[^"]*\.metadata\.annotations\.istio-egress\/declaration/);
        expect(await revisions()).to.deep.equal(held);
    });

    it("is itself again under its name, and only the component that failed goes", async () => {
        expect(changes(await up(moved))).to.deep.equal({ deleted: 1, unchanged: 53 });
        await expectOriginal([entry(stays), ...moved]);
    });

    it("keeps its objects when the cluster gets another address, since the provider has a clusterIdentifier", async () => {
        const kubeconfig = (await readFile(server.kubeconfig, "utf8")).replace("127.0.0.1", "localhost");
        const result = await up(moved, "-c", `kubeconfig=${kubeconfig}`);
        expect(changes(result)).to.deep.equal({ updated: 1, unchanged: 52 });
        await expectOriginal([entry(stays), ...moved]);
    });

    it("under the same name in another place, without an alias, is refused", async () => {
        await writeCatalogue();
        const result = await up([entry(stays), ...moved]);
        expect(result.code).to.not.equal(0);
        expect(result.stdout).to.match(/Apply failed with \d conflicts?: conflicts? with "pulumi-kubernetes-\w+":[^"]*\.metadata\.annotations\.istio-egress\/resource/);
        expect(uids(await life.held())).to.deep.equal(original);
        await writeCatalogue(stays);
        expect((await up(moved)).code).to.equal(0);
        await expectOriginal([entry(stays), ...moved]);
    });

    it("is refused in a second stack of the same program, which takes nothing along when it goes", async () => {
        await life.must(["stack", "init", "other", "--copy-config-from", "test"]);
        await writeCatalogue();
        const result = await up([beta], "--stack", "other");
        expect(result.code).to.not.equal(0);
        expect(result.stdout).to.match(/Apply failed with \d conflicts?: conflicts? with "pulumi-kubernetes-\w+":[^"]*\.metadata\.annotations\.istio-egress\/resource/);
        await life.must(["destroy", "--yes", "--skip-preview", "--stack", "other"]);
        expect(uids(await life.held())).to.deep.equal(original);
        await life.must(["stack", "select", "test"]);
        await writeCatalogue(stays);
        await expectOriginal([entry(stays), ...moved]);
    });
});
