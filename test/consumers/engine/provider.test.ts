// The component provider on the real CLI: a YAML program that uses every component.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { changes, filesUnder, stateResources } from "../../engine/harness";
import { type Consumer, INSTALL_MS, consumer } from "../support";
import { STACK_MS, type Stack, exampleStack, yamlHost } from "./stack";

const PACK = ["--policy-pack", "node_modules/istio-egress/dist/policies"];

describe("the component provider", function () {
    this.timeout(STACK_MS);
    let team: Consumer;
    let program: string;
    let stack: Stack;

    before(async function () {
        this.timeout(INSTALL_MS + STACK_MS);
        team = await consumer();
        program = path.join(team.folder, "yaml-team/Pulumi.yaml");
        await writeFile(program, `${await readFile(program, "utf8")}plugins:\n  languages:\n    - { name: yaml, path: ${await yamlHost(team)} }\n`);
        stack = await exampleStack(team, "yaml-team", "dev");
    });
    after(() => team?.remove());

    const change = async (from: string, to: string): Promise<void> => writeFile(program, (await readFile(program, "utf8")).replace(from, to));

    it("makes the objects of a YAML program, the mesh leg after the settle time, and nothing the second time", async function () {
        this.timeout(3 * STACK_MS);
        const created = changes(await stack.must("up", ...PACK));
        expect(Object.keys(created)).to.deep.equal(["created"]);
        expect(await filesUnder(path.join(team.folder, "yaml-team/rendered/1-manifest"))).to.deep.equal([
            "destinationrule-egress-egress-api-partner-example", "destinationrule-egress-egress-billing-saas-example",
            "destinationrule-payments-egress-api-partner-example-subset", "destinationrule-payments-egress-billing-saas-example-subset",
            "gateway-istio-egress-egress-api-partner-example", "gateway-istio-egress-egress-billing-saas-example",
            "serviceentry-egress-egress-api-partner-example", "serviceentry-egress-egress-billing-saas-example",
            "serviceentry-payments-egress-api-partner-example-client", "serviceentry-payments-egress-billing-saas-example-client",
            "virtualservice-egress-egress-api-partner-example-mesh", "virtualservice-egress-egress-billing-saas-example-mesh",
            "virtualservice-istio-egress-egress-api-partner-example-gateway", "virtualservice-istio-egress-egress-billing-saas-example-gateway",
        ].map((name) => `networking.istio.io_v1-${name}.yaml`).concat(["envoyfilter-istio-egress-egress-api-partner-example", "envoyfilter-payments-egress-api-partner-example"].map((name) => `networking.istio.io_v1alpha3-${name}.yaml`)));
        const state = await stateResources(([command = "", ...args]) => stack.must(command, ...args)) as readonly { urn: string; created?: string }[];
        const at = (name: string): number => Date.parse(state.find(({ urn }) => urn.endsWith(`::${name}`))?.created ?? "");
        expect(at("partner-api-mesh-leg") - at("partner-api-service-entry")).to.be.at.least(1_900);
        expect(changes(await stack.must("up", "--expect-no-changes", ...PACK))).to.deep.equal({ unchanged: created["created"] });
    });

    it("refuses a bad declaration with the message that all engines give", async () => {
        await change("addressesPerAnswer: 2", "addressesPerAnswer: 0");
        const refused = await stack.run("preview");
        await change("addressesPerAnswer: 0", "addressesPerAnswer: 2");
        expect(refused.code).to.not.equal(0);
        expect(refused.stdout).to.include(`ExternalEgressHost "partner-api": pool.addressesPerAnswer is 0, but must be 1 or more.`);
    });

    it("is judged by the pack: an unwise override is refused", async () => {
        await change("route: mtls-passthrough", "route: mtls-passthrough\n      resolution: DNS_ROUND_ROBIN");
        const refused = await stack.run("preview", ...PACK);
        await change("\n      resolution: DNS_ROUND_ROBIN", "");
        expect(refused.code).to.not.equal(0);
        expect(refused.stdout).to.match(/E201 ServiceEntry egress\/egress-api-partner-example: spec\.resolution is DNS_ROUND_ROBIN/);
    });

    it("removes everything", async () => {
        await stack.must("destroy");
        expect(await filesUnder(path.join(team.folder, "yaml-team/rendered"))).to.deep.equal([]);
    });
});
