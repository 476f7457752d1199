// A mandatory violation under both engines: the embedded preview and the real `pulumi preview` refuse it with the same words.
import path from "node:path";
import { expect } from "chai";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import { COMMAND_MS, filesUnder, fixtureProject } from "./harness";
import type { Project } from "./harness";

const reason = (host: string): string => `spec.resolution is DNS_ROUND_ROBIN, but the pool behind ${host} is fixed: LOGICAL_DNS spreads nothing over the addresses, `
    + "keeps no address list in which a failover is recorded or from which a dead address is ejected, and with a dead first address depends on Envoy's "
    + "happy eyeballs (+0.3 s for each new connection). Set resolution: DNS, or declare the pool rotating if a missing address only was not drawn. See docs/rules/E201.md";
/** A secret host is in no message, nor is a name that is made of it. */
const MESSAGES = [
    `E201 ServiceEntry egress/[secret]: ${reason("[secret]")}`,
    `E201 ServiceEntry egress/egress-api-partner-example: ${reason("api.partner.example")}`,
    `E201 ServiceEntry orders/partner-by-hand: ${reason("api.partner.example")}`,
];

interface EmbeddedPreview { readonly findings: readonly { readonly level: string; readonly message: string }[] }

describe("a round robin forced on a fixed pool, by overrides and by hand", function () {
    this.timeout(COMMAND_MS);
    let project: Project;

    before(async () => project = await fixtureProject("unwise"));
    after(() => project?.remove());

    it("fails the real preview", async () => {
        const policies = path.join(repository, "test/engine/fixtures/unwise/policies.json");
        const result = await project.run(["preview", "--policy-pack", path.join(repository, "dist/policies"), "--policy-pack-config", policies]);
        expect(result.code).to.not.equal(0);
        expect(result.stdout.match(/\[mandatory\] \[severity: high\] +logical-dns-on-small-pool/g)).to.have.lengthOf(3);
        const told = result.stdout.split("\n").map((line) => line.trim()).filter((line) => line.startsWith("E201 "));
        expect(told.sort()).to.deep.equal(MESSAGES);
        expect(result.stdout + result.stderr).to.not.include("very-secret");
    });

    it("fails the embedded preview with the same messages, and nothing is written", async () => {
        const out = path.join(project.folder, "out");
        const args = ["preview", "--project", path.join(project.folder, "program"), "--env", "test", "--out", out, "--json"];
        const result = await run(process.execPath, [path.join(repository, "dist/cli/main.js"), ...args], { cwd: repository, timeout: COMMAND_MS });
        expect(result.code, result.stderr).to.equal(1);
        expect(result.stdout + result.stderr).to.not.include("very-secret");
        const { findings } = JSON.parse(result.stdout) as EmbeddedPreview;
        expect(findings.filter(({ level }) => level === "mandatory").map(({ message }) => message).sort()).to.deep.equal(MESSAGES);
        expect(await filesUnder(out)).to.deep.equal([]);
    });
});
