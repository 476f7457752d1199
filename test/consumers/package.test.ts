// The tarball of `npm pack` and what may be imported from it.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { credentials } from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaRequest } from "@pulumi/pulumi/proto/provider_pb";
import { expect } from "chai";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import { type Consumer, INSTALL_MS, consumer, tarball } from "./support";

/** Resolves and loads every entry point; the process must end by itself, since none of them starts anything. */
const IMPORTS = `
const { dirname, relative } = require("node:path");
const resolved = ["istio-egress", "istio-egress/policies", "istio-egress/model", "istio-egress/package.json", "istio-egress/catalogue/catalogue.schema.json",
    "istio-egress/dist/policies/PulumiPolicy.yaml", "istio-egress/dist/provider/PulumiPlugin.yaml"]
    .map((id) => relative("node_modules/istio-egress", require.resolve(id)));
const hidden = ["istio-egress/dist/policies/index.js", "istio-egress/components"].map((id) => {
    try { return require.resolve(id); } catch (error) { return error.code; }
});
const { RULES, policyPackArgs, withLevels } = require("istio-egress/policies");
const { checkDeclaration } = require("istio-egress/model");
let refused;
try { withLevels(RULES, { "pool-undecleared": "mandatory" }); } catch (error) { refused = error.message; }
import("istio-egress").then(({ ExternalEgressHost, EgressCatalog, EgressGateway }) => console.log(JSON.stringify({
    resolved, hidden, refused, names: [ExternalEgressHost, EgressCatalog, EgressGateway].map(({ name }) => name), checks: typeof checkDeclaration,
    levels: withLevels(RULES, { "pool-undeclared": "mandatory", "shared-mutual-server": "disabled" }).map(({ name, level }) => [name, level]),
    policies: policyPackArgs().policies.length === RULES.length,
})));`;

/** The schema that a provider in a folder serves, asked as the Pulumi CLI asks. */
async function servedSchema(team: Consumer): Promise<unknown> {
    const entry = createRequire(path.join(team.folder, "index.js")).resolve("@pulumi/pulumi/cmd/run-plugin");
    const child = spawn(process.execPath, [entry, path.join(team.folder, "node_modules/istio-egress/dist/provider"), "127.0.0.1:1"], { cwd: team.folder, stdio: ["ignore", "pipe", "inherit"] });
    try {
        const port = await new Promise<string>((resolve, reject) => {
            child.once("exit", (code) => reject(new Error(`The provider ended with exit code ${String(code)} before it said its port.`)));
            createInterface(child.stdout).once("line", resolve);
        });
        const client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
        const schema = await new Promise<string>((resolve, reject) => {
            client.getSchema(new GetSchemaRequest(), (error, response) => error === null ? resolve(response.getSchema()) : reject(error));
        }).finally(() => client.close());
        return JSON.parse(schema);
    } finally {
        child.kill("SIGKILL");
    }
}

describe("the package", function () {
    this.timeout(INSTALL_MS);
    let names: string[];
    let team: Consumer;

    before(async () => {
        team = await consumer();
        const { stdout } = await run("tar", ["-tzf", await tarball()]);
        names = stdout.split("\n").filter((name) => name !== "").map((name) => name.replace(/^package\//, ""));
    });

    after(() => team?.remove());

    it("holds the compiled library with its types, the pack, the provider, the command, the schema of catalogues and the documents", () => {
        expect(names).to.include.members([
            "dist/index.js", "dist/index.d.ts", "dist/cli/main.js", "dist/policies/index.js", "dist/policies/library.d.ts", "dist/policies/PulumiPolicy.yaml",
            "dist/policies/package.json", "dist/provider/index.js", "dist/provider/PulumiPlugin.yaml", "dist/provider/package.json", "dist/provider/schema.json",
            "catalogue/catalogue.schema.json", "docs/rules/README.md", "docs/consumers.md", "README.md", "LICENSE", "CHANGELOG.md", "package.json",
        ]);
    });

    it("holds nothing else", () => {
        const odd = names.filter((name) => !/^(dist\/.+\.(js|d\.ts|json|yaml)|docs\/.+\.(md|svg)|catalogue\/catalogue\.schema\.json|[A-Z]+(\.md)?|package\.json)$/.test(name));
        expect(odd).to.deep.equal([]);
        expect(names.filter((name) => /\b(test|tools|stacks|examples|bench)\//.test(name))).to.deep.equal([]);
    });

    it("names no folder of the machine that it was built on", async () => {
        const folder = path.join(team.folder, "node_modules/istio-egress");
        for (const name of names) expect(await readFile(path.join(folder, name), "utf8"), name).to.not.include(repository);
    });

    it("gives its version to the pack and the provider", async () => {
        const folder = path.join(team.folder, "node_modules/istio-egress");
        const versions = await Promise.all(["package.json", "dist/policies/package.json", "dist/provider/package.json"]
            .map(async (file) => (JSON.parse(await readFile(path.join(folder, file), "utf8")) as { version: string }).version));
        expect(new Set(versions).size, versions.join()).to.equal(1);
    });

    it("serves the kept schema from its provider, with its version", async () => {
        const read = async (file: string): Promise<{ version?: string }> => JSON.parse(await readFile(path.join(repository, file), "utf8")) as { version?: string };
        expect(await servedSchema(team)).to.deep.equal({ ...await read("provider/schema.json"), version: (await read("package.json")).version });
    });

    it("is imported by its entry points only, and none of them starts anything", async () => {
        const { code, stdout, stderr } = await team.run(".", "node", ["-e", IMPORTS]);
        expect(code, stderr).to.equal(0);
        const { levels, refused, ...found } = JSON.parse(stdout) as { levels: [string, string][]; refused: string };
        expect(found).to.deep.equal({
            resolved: ["dist/index.js", "dist/policies/library.js", "dist/model/index.js", "package.json", "catalogue/catalogue.schema.json", "dist/policies/PulumiPolicy.yaml", "dist/provider/PulumiPlugin.yaml"],
            hidden: ["ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_PACKAGE_PATH_NOT_EXPORTED"],
            names: ["ExternalEgressHost", "EgressCatalog", "EgressGateway"], checks: "function", policies: true,
        });
        expect(new Map(levels).get("pool-undeclared")).to.equal("mandatory");
        expect(new Map(levels).has("shared-mutual-server")).to.equal(false);
        expect(refused).to.match(/^withLevels: "pool-undecleared" is no rule: there are ejection-never, /);
    });
});
