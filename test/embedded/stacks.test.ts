// The repository's own environments through the command: golden manifests, and what bad catalogues get.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { analyze } from "../../cli/embedded/analyzer";
import { readSettings } from "../../cli/embedded/project";
import type { Json, ProgramRun, Resource } from "../../cli/embedded/types";
import { isMap } from "../../cli/plain";
import { configSchema } from "../../policies/configuration";
import { RULES } from "../../policies/rules";
import { cli, root, runIn } from "./support";

const ENVIRONMENTS = ["dev", "staging", "prod"];

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

    for (const env of ENVIRONMENTS) {
        it(`${env} gives the golden manifests, without findings (ACCEPT=1 writes them anew)`, async () => {
            const out = path.join(folder, env), { code, stdout, stderr } = await cli("preview", "--env", env, "--out", out);
            expect(code, stdout + stderr).to.equal(0);
            expect(stdout).to.contain(`0 mandatory and 0 advisory findings by ${RULES.length} policies`);
            const golden = path.join(root, "test/embedded/golden", `${env}.yaml`), found = gather(out);
            if (process.env["ACCEPT"] === "1") {
                mkdirSync(path.dirname(golden), { recursive: true });
                writeFileSync(golden, found);
            }
            expect(found).to.equal(readFileSync(golden, "utf8"));
        });
    }
});

for (const env of ENVIRONMENTS) {
    describe(`the registrations of ${env}`, () => {
        let run: ProgramRun;
        let hosts: (readonly Resource[])[];
        before(async () => {
            run = await runIn(root, env);
            const components = run.resources.filter(({ type }) => type === "istio-egress:index:ExternalEgressHost");
            hosts = components.map(({ urn }) => run.resources.filter(({ parent, custom }) => custom && parent === urn));
        });

        it("make every mesh leg depend on all other objects of its host: it is written last and removed first", () => {
            const legs = hosts.flatMap((objects) => objects.filter(isMeshLeg).map((leg) => ({ leg, others: objects.filter(({ urn }) => urn !== leg.urn) })));
            expect(legs).to.not.be.empty;
            for (const { leg, others } of legs) {
                expect(others.length, leg.name).to.be.at.least(5);
                expect(leg.dependencies, leg.name).to.include.members(others.map(({ urn }) => urn));
            }
        });

        it("give every object the aliases of the API versions that it may have been made under", () => {
            const objects = hosts.flat();
            expect(objects.length).to.be.above(40);
            for (const { name, urn, type, aliases } of objects) {
                if (type.endsWith(":EnvoyFilter")) expect(aliases, name).to.deep.equal([]); // It has had one version only.
                else for (const version of ["v1beta1", "v1alpha3"]) {
                    const former = type.replace("/v1:", `/${version}:`);
                    // The SDK gives what differs, or the whole URN.
                    expect(aliases, name).to.satisfy((found: string[]) => found.includes(`type=${former}`) || found.includes(urn.replace(type, former)), former);
                }
            }
        });
    });

    describe(`the policies of ${env}, without a command that adds anything`, function () {
        this.timeout(60_000);
        const policies = readSettings(path.join(root, "stacks/policies", `${env}.json`));

        it("name the catalogue for every rule that takes one", () => {
            const taking = RULES.filter(({ configuration }) => "catalogue" in configSchema(configuration).properties);
            for (const { name } of taking) expect(policies[name], name).to.include({ catalogue: "stacks/catalogue/{stack}.yaml" });
        });

        it("judge what is written by hand by the pools of the environment's catalogue", async () => {
            const inputs = {
                apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "by-hand", namespace: "orders" },
                spec: { hosts: [fixedHost(await runIn(root, env)) ?? null], location: "MESH_EXTERNAL", resolution: "DNS_ROUND_ROBIN" },
            };
            const type = "kubernetes:networking.istio.io/v1:ServiceEntry";
            const byHand: Resource = {
                urn: `urn:pulumi:${env}::istio-egress::${type}::by-hand`, type, name: "by-hand", custom: true, external: false, protect: false,
                dependencies: [], propertyDependencies: {}, aliases: [], ignoreChanges: [], inputs, outputs: inputs, wire: { inputs, outputs: inputs },
            };
            const { findings } = await analyze([byHand], path.join(root, "policies"), { project: "istio-egress", stack: env, policies });
            expect(findings.map(({ level, code }) => [level, code])).to.deep.equal([["mandatory", "E201"]]);
        });
    });
}

function isMeshLeg({ inputs: { kind, spec } }: Resource): boolean {
    return kind === "VirtualService" && isMap(spec) && Array.isArray(spec["gateways"]) && spec["gateways"].includes("mesh");
}

/** A host of a fixed pool that the environment declares. */
function fixedHost({ resources }: ProgramRun): Json | undefined {
    const fixed = resources.find(({ type, inputs }) => type === "istio-egress:index:ExternalEgressHost" && isMap(inputs["pool"]) && inputs["pool"]["membership"] === "fixed");
    return fixed?.inputs["host"];
}

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
