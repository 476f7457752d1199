// The policy pack over its real process: configuration, secrets, unknowns, remediations, the whole stack, packs that fail.
import { expect } from "chai";
import { type Analysis, type AnalysisOptions, analyze } from "../../cli/embedded/analyzer";
import { startPack } from "../../cli/embedded/pack";
import { remediated } from "../../cli/embedded/remediation";
import type { Resource } from "../../cli/embedded/types";
import { fixture, runIn } from "./support";

const pack = (name: string): string => fixture("packs", name);
const options: AnalysisOptions = { project: "tree", stack: "dev", catalogue: "/catalogues/dev.yaml" };

async function failure(work: Promise<unknown>): Promise<string> {
    try {
        await work;
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
    throw new Error("It succeeded.");
}

describe("policy pack", () => {
    let resources: readonly Resource[];
    before(async () => {
        const tree = await runIn(fixture("tree"));
        const secrets = await runIn(fixture("secrets"));
        resources = [...tree.resources, ...secrets.resources];
    });

    describe("with its own configuration", () => {
        let analysis: Analysis;
        before(async () => { analysis = await analyze(resources, pack("tiny"), options); });

        it("gets defaults, and the catalogue where it asks for one; findings carry code, level and severity", () => {
            expect(analysis.findings.filter(({ policy }) => policy === "configured")).to.deep.equal([{
                level: "advisory", code: "E901", policy: "configured", severity: "low",
                message: '{"catalogue":"/catalogues/dev.yaml","limit":3}',
                urn: "urn:pulumi:dev::tree::kubernetes:core/v1:ConfigMap::note",
            }]);
        });

        it("reads secrets in clear, and becomes advisory where it reads an unknown", () => {
            const urn = "urn:pulumi:dev::secrets::kubernetes:core/v1:ConfigMap::mixed";
            expect(analysis.findings.filter(({ policy }) => policy === "reads-data")).to.deep.equal([
                { level: "mandatory", policy: "reads-data", message: "data.secret is a secret in clear here", urn },
                { level: "advisory", policy: "reads-data", message: "can't run policy 'reads-data' from policy pack 'tiny@v1.2.3' during preview: string value at .data.unknown can't be known during preview", urn },
            ]);
        });

        it("judges the whole stack at the end, with parents and dependencies", () => {
            expect(analysis.findings.filter(({ policy }) => policy === "whole-stack")).to.deep.equal([
                { level: "advisory", policy: "whole-stack", message: "13 resources, 5 in components, 3 with dependencies" },
            ]);
            expect(analysis.pack).to.deep.equal({ name: "tiny", version: "1.2.3", policies: 4 });
            expect(analysis.remediations).to.deep.equal([]);
        });
    });

    it("takes levels and properties from the policy configuration, and remediates", async () => {
        const policies = { all: "disabled", configured: { enforcementLevel: "mandatory", limit: 5 }, remediates: "remediate" };
        const { findings, remediations } = await analyze(resources, pack("tiny"), { project: "tree", stack: "dev", policies });
        expect(findings.map(({ level, policy, message }) => ({ level, policy, message }))).to.deep.equal([
            { level: "mandatory", policy: "configured", message: '{"limit":5}' },
        ]);
        expect(remediations.map(({ policy, urn }) => ({ policy, urn }))).to.deep.equal([
            { policy: "remediates", urn: "urn:pulumi:dev::tree::kubernetes:core/v1:ConfigMap::note" },
        ]);
        const note = remediated(resources, remediations).find(({ name }) => name === "note");
        expect(note?.inputs["metadata"]).to.deep.equal({ name: "note", namespace: "egress", labels: { owner: "tiny" } });
    });

    it("refuses a policy configuration that fits no policy", async () => {
        expect(await failure(analyze([], pack("tiny"), { ...options, policies: { nothing: "advisory" } }))).to.equal(
            'The policy configuration names "nothing", but the pack test/fixtures/programs/packs/tiny has no such policy: it has configured, reads-data, remediates, whole-stack.',
        );
        expect(await failure(analyze([], pack("tiny"), { ...options, policies: { configured: "strict" } }))).to.equal(
            'The policy configuration of "configured" has the level "strict": a level is advisory, mandatory, remediate or disabled.',
        );
    });

    it("says which resource a policy fails on", async () => {
        const fine = { ...(resources.find(({ name }) => name === "note") as Resource), name: "fine", urn: "urn:pulumi:dev::tree::kubernetes:core/v1:ConfigMap::fine" };
        expect(await failure(analyze([fine], pack("broken"), options))).to.match(
            /^The policy pack test\/fixtures\/programs\/packs\/broken failed to judge urn:pulumi:dev::tree::kubernetes:core\/v1:ConfigMap::fine: Error validating resource with policy 'throws' from policy pack 'broken@v1\.2\.3':\nError: the policy's own mistake\n/,
        );
    });

    it("reports packs that do not serve, and leaves no process behind", async () => {
        expect(await failure(analyze([], pack("chatty"), options))).to.equal(
            'The policy pack test/fixtures/programs/packs/chatty printed "hello" where the port of its service was expected: a pack prints nothing before `new PolicyPack`.',
        );
        const silent = startPack(pack("silent"), 500);
        const message = await failure(silent.address).finally(() => silent.stop());
        expect(message).to.match(/^The policy pack test\/fixtures\/programs\/packs\/silent did not start within 0\.5 s\./);
    });

    it("refuses a folder that is no pack", () => {
        expect(() => startPack(fixture("tree"))).to.throw(
            "test/fixtures/programs/tree is no policy pack: it has no PulumiPolicy.yaml. Name the pack's folder with --policy-pack, or skip policies with --no-policy.",
        );
    });
});
