// The ends of the peer ranges: the oldest releases that fit together, and the newest that the registry had, each as a consumer installs it.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { locate } from "../../../tools/setup/install";
import { repository } from "../../../tools/support/places";
import { changes, filesUnder } from "../../engine/harness";
import { type Consumer, INSTALL_MS, consumer } from "../support";
import { NODE_22, STACK_MS, exampleStack, node22 } from "./stack";

interface End { readonly title: string; readonly node22: boolean; readonly versions: Readonly<Record<string, string>> }

const ENDS: readonly End[] = [
    { title: "the oldest, on this Node", node22: false, versions: { "@pulumi/kubernetes": "4.21.1", "@pulumi/policy": "1.20.0", "@pulumi/pulumi": "3.204.0" } },
    { title: `the newest, on Node ${NODE_22}`, node22: true, versions: { "@pulumi/kubernetes": "4.34.2", "@pulumi/policy": "1.21.0", "@pulumi/pulumi": "3.276.0" } },
];

for (const end of ENDS) {
    describe(`peer dependencies: ${end.title}`, function () {
        this.timeout(STACK_MS);
        let team: Consumer;
        let nodeFolder: string;

        before(async function () {
            this.timeout(2 * INSTALL_MS);
            nodeFolder = end.node22 ? await node22() : path.dirname(process.execPath);
            team = await consumer(end.versions);
        });
        after(() => team?.remove());

        it("are installed, once each, and at the end of the range", async () => {
            const { peerDependencies } = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as { peerDependencies: Record<string, string> };
            for (const [name, version] of Object.entries(end.versions)) {
                const installed = JSON.parse(await readFile(path.join(team.folder, "node_modules", name, "package.json"), "utf8")) as { version: string };
                expect(installed.version.replace(/^v/, "")).to.equal(version);
                if (!end.node22) expect(peerDependencies[name]).to.match(new RegExp(`^>=${version.replaceAll(".", "\\.")} <\\d$`));
            }
            expect(await filesUnder(path.join(team.folder, "node_modules/istio-egress/node_modules"))).to.deep.equal([]);
        });

        it("give the types, the embedded preview and its findings", async () => {
            const types = await team.run("platform-team", "npm", ["run", "typecheck"], nodeFolder);
            expect(types.code, types.stdout).to.equal(0);
            const { code, stdout, stderr } = await team.run("platform-team", "npx", ["istio-egress", "preview", "--env", "dev"], nodeFolder);
            expect(code, stdout + stderr).to.equal(0);
            expect(stdout).to.include("dev: 3 hosts, 29 Kubernetes objects, 0 mandatory and 1 advisory finding by ");
        });

        it("are made by the real CLI, and nothing the second time", async function () {
            this.timeout(3 * STACK_MS);
            const program = path.join(team.folder, "platform-team/Pulumi.yaml");
            // The one provider at hand, whatever release the SDK asks for.
            const provider = path.dirname(await locate("pulumi-resource-kubernetes"));
            await writeFile(program, `${await readFile(program, "utf8")}plugins:\n  providers:\n    - { name: kubernetes, path: ${provider} }\n`);
            const stack = await exampleStack(team, "platform-team", "dev", nodeFolder), pack = ["--policy-pack", "node_modules/istio-egress/dist/policies"];
            expect(changes(await stack.must("up", ...pack))).to.deep.equal({ created: 36 });
            expect(await filesUnder(path.join(team.folder, "platform-team/rendered/dev"))).to.have.lengthOf(29);
            expect(changes(await stack.must("up", "--expect-no-changes", ...pack))).to.deep.equal({ unchanged: 36 });
        });
    });
}
