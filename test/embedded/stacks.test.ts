// The repository's own environments through the command: golden manifests, and what bad catalogues get.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { cli, root } from "./support";

/** Every file of a folder as one text, in order. */
function gather(folder: string): string {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml")).sort();
    return files.map((name) => `# ${name}\n---\n${readFileSync(path.join(folder, name), "utf8")}`).join("");
}

describe("the environments of stacks/", function () {
    this.timeout(60_000);
    let folder = "";
    before(() => (folder = mkdtempSync(path.join(tmpdir(), "istio-egress-stacks-"))));
    after(() => rmSync(folder, { recursive: true }));

    for (const env of ["dev", "staging", "prod"]) {
        it(`${env} gives the golden manifests, without findings (ACCEPT=1 writes them anew)`, async () => {
            const out = path.join(folder, env), { code, stdout, stderr } = await cli("preview", "--env", env, "--out", out);
            expect(code, stdout + stderr).to.equal(0);
            expect(stdout).to.match(/0 mandatory and 0 advisory findings by 7 policies/);
            const golden = path.join(root, "test/embedded/golden", `${env}.yaml`), found = gather(out);
            if (process.env["ACCEPT"] === "1") {
                mkdirSync(path.dirname(golden), { recursive: true });
                writeFileSync(golden, found);
            }
            expect(found).to.equal(readFileSync(golden, "utf8"));
        });
    }
});

describe("catalogues through the command", function () {
    this.timeout(60_000);
    const fixtures = path.join(root, "test/fixtures/catalogues");
    let project = "";

    /** A project whose environments are catalogue files. */
    before(() => {
        project = mkdtempSync(path.join(tmpdir(), "istio-egress-catalogues-"));
        const main = path.relative(project, path.join(root, "test/fixtures/programs/catalogue/index.ts"));
        writeFileSync(path.join(project, "Pulumi.yaml"), `name: catalogues\nruntime: nodejs\nmain: ${main}\n`);
    });
    after(() => rmSync(project, { recursive: true }));

    const preview = async (file: string): Promise<{ code: number; text: string; wrote: boolean }> => {
        const env = path.basename(file, ".yaml"), out = path.join(project, `out-${env}`);
        writeFileSync(path.join(project, `Pulumi.${env}.yaml`), `config:\n  istio-egress:file: ${JSON.stringify(file)}\n`);
        const { code, stdout, stderr } = await cli("preview", "--project", project, "--env", env, "--out", out, "--no-policy");
        return { code, text: (stdout + stderr).replaceAll(`${fixtures}/`, ""), wrote: existsSync(out) };
    };

    for (const name of ["unknown-key", "wrong-type", "duplicate-host", "guard", "wildcard-behind-gateway", "not-yaml"]) {
        it(`refuse ${name} with every line and column, exit code 1, nothing written`, async () => {
            const { code, text, wrote } = await preview(path.join(fixtures, "bad", `${name}.yaml`));
            const expected = readFileSync(path.join(fixtures, "bad", `${name}.errors.txt`), "utf8").trimEnd().split("\n");
            for (const line of expected) expect(text).to.contain(line);
            expect(text).to.not.match(/\n\s+at /);
            expect({ code, wrote }).to.deep.equal({ code: 1, wrote: false });
        });
    }

    for (const name of ["korean-bom-crlf"]) {
        it(`accept ${name}: Korean text, a byte order mark and Windows line ends`, async () => {
            const { code, text, wrote } = await preview(path.join(fixtures, "good", `${name}.yaml`));
            expect({ code, wrote }, text).to.deep.equal({ code: 0, wrote: true });
        });
    }
});
