// Reading a Pulumi project: entry point and configuration as the Pulumi CLI takes them, and what is wrong with one that cannot be read.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { readProject } from "../../cli/embedded/project";
import { ExitCode, Failure } from "../../cli/failure";
import { fixture } from "./support";

describe("project", () => {
    let folder: string;
    beforeEach(() => { folder = mkdtempSync(join(tmpdir(), "istio-egress-")); });
    afterEach(() => rmSync(folder, { recursive: true }));

    const write = (files: Record<string, string>): void => {
        for (const [name, text] of Object.entries(files)) {
            mkdirSync(dirname(join(folder, name)), { recursive: true });
            writeFileSync(join(folder, name), text);
        }
    };
    const refusal = (env = "dev"): string => {
        try {
            readProject(folder, env);
        } catch (error) {
            if (!(error instanceof Failure)) throw error;
            expect(error.exitCode).to.equal(ExitCode.Usage);
            return error.message.replaceAll(`${folder}/`, "").replaceAll(folder, "DIR");
        }
        throw new Error("It was accepted.");
    };

    it("takes defaults from Pulumi.yaml and values from the environment's file", () => {
        const { name, env, config, secretKeys } = readProject(fixture("tree"), "prod");
        expect({ name, env, config, secretKeys }).to.deep.equal({
            name: "tree", env: "prod", secretKeys: [],
            config: { "tree:region": "west", "tree:replicas": "2", "tree:namespace": "egress-prod", "tree:ports": "[443]" },
        });
    });

    it("tells encrypted values apart, also inside objects", () => {
        write({
            "Pulumi.yaml": "name: p\nruntime: nodejs\nconfig:\n  p:token: default\n", "index.js": "",
            "Pulumi.dev.yaml": "config:\n  p:token: { secure: v1:x }\n  nested: { list: [{ secure: v1:y }] }\n  plain: 0\n  empty: ''\n  secure: no\n",
        });
        const { config, secretKeys } = readProject(folder, "dev");
        expect({ config, secretKeys }).to.deep.equal({ config: { "p:plain": "0", "p:empty": "", "p:secure": "no" }, secretKeys: ["p:token", "p:nested"] });
    });

    it("runs a file in its folder, a folder by the main of the nearest package.json", () => {
        write({ "Pulumi.yaml": "name: p\nruntime: { name: nodejs }\nmain: src/app.ts\n", "Pulumi.dev.yaml": "", "src/app.ts": "" });
        expect(readProject(folder, "dev")).to.include({ pwd: join(folder, "src"), entry: join(folder, "src/app.ts"), isModule: false });
        write({ "Pulumi.yaml": "name: p\nruntime: nodejs\nmain: src\n", "package.json": '{ "main": "lib/x.js", "type": "module" }', "lib/x.js": "" });
        expect(readProject(folder, "dev")).to.include({ pwd: join(folder, "src"), entry: join(folder, "lib/x.js"), isModule: true });
        write({ "package.json": '{ "main": "missing.js" }' });
        expect(readProject(folder, "dev")).to.include({ pwd: join(folder, "src"), entry: join(folder, "src"), isModule: false });
    });

    it("finds the catalogue and the policy configuration of the environment", () => {
        write({
            "Pulumi.yaml": "name: p\nruntime: nodejs\n", "catalogue/dev.yaml": "", "policies.yaml": "",
            "Pulumi.dev.yaml": "config:\n  istio-egress:catalogue: catalogue/dev.yaml\n  istio-egress:policyConfig: policies.yaml\n",
        });
        expect(readProject(folder, "dev")).to.include({ catalogue: join(folder, "catalogue/dev.yaml"), policyConfig: join(folder, "policies.yaml") });
        write({ "Pulumi.dev.yaml": "config:\n  istio-egress:catalogue: none.yaml\n" });
        expect(refusal()).to.equal('Pulumi.dev.yaml: istio-egress:catalogue is "none.yaml", but none.yaml does not exist: the path is relative to the folder of Pulumi.yaml.');
    });

    it("refuses what is no project", () => {
        expect(refusal()).to.equal("There is no Pulumi.yaml in DIR: run the command in the project's folder, or name it with --project.");
        write({ "Pulumi.yaml": "runtime: nodejs\n" });
        expect(refusal()).to.equal("Pulumi.yaml: name is missing: a Pulumi project has one.");
        write({ "Pulumi.yaml": "name: p\nruntime: python\n" });
        expect(refusal()).to.equal('Pulumi.yaml: runtime is "python", but this command runs Node.js programs only: use `pulumi preview` for others.');
        write({ "Pulumi.yaml": "name: p\nruntime: [\n" });
        expect(refusal()).to.match(/^Pulumi\.yaml:3:1: Flow sequence in block collection must be/);
        write({ "Pulumi.yaml": "- name\n" });
        expect(refusal()).to.equal('Pulumi.yaml:1:1: a map was expected, such as "name: …".');
        write({ "Pulumi.yaml": "name: p\nruntime: nodejs\nmain: nowhere\n", "Pulumi.dev.yaml": "" });
        expect(refusal()).to.equal('Pulumi.yaml: main is "nowhere", but nowhere does not exist.');
    });

    it("names the environments that exist", () => {
        write({ "Pulumi.yaml": "name: p\nruntime: nodejs\nstackConfigDir: config\n" });
        expect(refusal("dev")).to.equal('There is no environment "dev": config has no Pulumi.<env>.yaml at all. An environment is a file Pulumi.<env>.yaml.');
        write({ "config/Pulumi.prod.yaml": "", "config/Pulumi.dev.yaml": "" });
        expect(refusal("test")).to.equal('There is no environment "test": there are dev, prod. An environment is a file Pulumi.<env>.yaml.');
        expect(refusal("../config/x")).to.match(/^There is no environment "\.\.\/config\/x": there are dev, prod\./);
    });
});
