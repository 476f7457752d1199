// The examples on the real CLI, as their teams run them: the pack comes from node_modules, Node is 20 or 22.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { changes } from "../../engine/harness";
import { objectsIn } from "../../engine/stack-harness";
import { type Consumer, INSTALL_MS, consumer } from "../support";
import { NODE_22, STACK_MS, exampleStack, node22 } from "./stack";

interface Workflow { readonly jobs: { readonly preview: { readonly steps: readonly { readonly uses?: string; readonly with?: Readonly<Record<string, unknown>> }[] } } }

/** The inputs of the vendor's action in the workflow, as the arguments that they stand for. */
async function actionArguments(team: Consumer, env: string): Promise<string[]> {
    const workflow = (await readFile(path.join(team.folder, "platform-team/.github/workflows/preview.yaml"), "utf8")).replaceAll("${{ matrix.env }}", env);
    const inputs = (parse(workflow) as Workflow).jobs.preview.steps.find(({ uses }) => uses?.startsWith("pulumi/actions@"))?.with;
    expect(Object.keys(inputs ?? {})).to.deep.equal(["command", "stack-name", "policyPacks", "policyPackConfigs", "comment-on-pr"]);
    expect(inputs).to.include({ command: "preview", "stack-name": env });
    return ["--policy-pack", String(inputs?.["policyPacks"]), "--policy-pack-config", String(inputs?.["policyPackConfigs"])];
}

describe("the examples on the real CLI", function () {
    this.timeout(STACK_MS);
    let team: Consumer;

    before(async function () {
        this.timeout(INSTALL_MS);
        team = await consumer();
    });
    after(() => team?.remove());

    for (const [env, release, objects] of [["dev", "20", 24], ["prod", "22", 33]] as const) {
        it(`platform-team, ${env}, Node ${release}: preview and update with the pack of the package, no change the second time, the objects of the embedded preview`, async function () {
            this.timeout(4 * STACK_MS);
            const nodeFolder = release === "22" ? await node22() : path.dirname(process.execPath);
            const { stdout: version } = await team.run("platform-team", "node", ["--version"], nodeFolder);
            expect(version.trim()).to.match(release === "22" ? new RegExp(`^v${NODE_22}$`) : /^v\d+\./);
            const embedded = await team.run("platform-team", "npx", ["istio-egress", "preview", "--env", env], nodeFolder);
            expect(embedded.code, embedded.stdout + embedded.stderr).to.equal(0);

            const stack = await exampleStack(team, "platform-team", env, nodeFolder), pack = await actionArguments(team, env);
            const preview = await stack.must("preview", ...pack);
            expect(preview.stdout).to.match(/istio-egress@v\d+\.\d+\.\d+ \(local: node_modules\/istio-egress\/dist\/policies\)/);
            const findings = [...preview.stdout.matchAll(/\[(?:mandatory|advisory)\].*?([a-z-]+) +\(.*\)$/gm)].map(([, policy]) => policy);
            expect(findings).to.deep.equal(env === "dev" ? ["pool-undeclared"] : []);
            await stack.must("up", ...pack);
            expect(Object.fromEntries(await objectsIn(path.join(team.folder, "platform-team/rendered", env))))
                .to.deep.equal(Object.fromEntries(await objectsIn(path.join(team.folder, "platform-team/out", env))));
            const second = changes(await stack.must("up", "--expect-no-changes", ...pack));
            expect(Object.keys(second)).to.deep.equal(["unchanged"]);
            expect(second["unchanged"]).to.be.above(objects);
        });
    }

    it("app-team and own-pack: Pulumi compiles program and pack, the pack's own rule refuses an owner that it does not know", async function () {
        this.timeout(2 * STACK_MS);
        const types = await team.run("own-pack", "npx", ["tsc", "--noEmit"]);
        expect(types.code, `resolved as by older settings of TypeScript: ${types.stdout}`).to.equal(0);
        const stack = await exampleStack(team, "app-team", "dev"), pack = ["--policy-pack", "../own-pack", "--policy-pack-config"];
        expect(changes(await stack.must("preview", ...pack, "../own-pack/policies.json"))).to.deep.equal({ "to create": 11 });

        const strict = JSON.parse(await readFile(path.join(team.folder, "own-pack/policies.json"), "utf8")) as Record<string, { teams: string[] }>;
        strict["owner-known"] = { teams: (strict["owner-known"]?.teams ?? []).filter((name) => name !== "team-payments") };
        const file = path.join(team.folder, "strict.json");
        await writeFile(file, JSON.stringify(strict));
        const refused = await stack.run("preview", ...pack, file);
        expect(refused.code).to.not.equal(0);
        expect(refused.stdout).to.match(/acme-egress@v1\.0\.0 \(local: \.\.\/own-pack\)/);
        expect(refused.stdout).to.include("ACME1 ServiceEntry payments/egress-api-partner-example-client: the annotation istio-egress/owner is team-payments, which is no team of ours");
    });
});
