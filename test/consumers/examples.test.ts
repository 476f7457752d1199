// The examples on a consumer's machine, by the command that the package installs: what a team gets without the Pulumi CLI.
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import type { RunResult } from "../../tools/support/process";
import { filesUnder } from "../engine/harness";
import { COMMAND_MS, type Consumer, INSTALL_MS, consumer, expectGolden } from "./support";

interface Step { readonly uses?: string; readonly run?: string; readonly with?: Readonly<Record<string, unknown>> }
interface Workflow { readonly jobs: { readonly preview: { readonly strategy: { readonly matrix: { readonly env: readonly string[] } }; readonly steps: readonly Step[] } } }
interface Preview {
    readonly resources: readonly { readonly type: string; readonly inputs: { readonly kind?: string; readonly metadata?: { readonly namespace: string; readonly name: string } } }[];
    readonly findings: readonly { readonly level: string; readonly policy: string; readonly message: string }[];
}

const COMMANDS = ["npm ci", "npm run typecheck", "npx istio-egress preview --env ${{ matrix.env }}"];

describe("the examples", function () {
    this.timeout(COMMAND_MS);
    let team: Consumer;

    before(async function () {
        this.timeout(INSTALL_MS);
        team = await consumer();
    });
    after(() => team?.remove());

    const preview = (example: string, ...args: string[]): Promise<RunResult> => team.run(example, "npx", ["istio-egress", "preview", "--env", "dev", ...args]);

    describe("platform-team", () => {
        it("has a workflow of the commands that are tested here, and of the vendors' actions", async () => {
            const file = path.join(team.folder, "platform-team/.github/workflows/preview.yaml");
            const { steps, strategy } = (parse(await readFile(file, "utf8")) as Workflow).jobs.preview;
            expect(steps.flatMap(({ run }) => run ?? [])).to.deep.equal(COMMANDS);
            expect(steps.flatMap(({ uses }) => uses ?? [])).to.deep.equal(["actions/checkout@v4", "actions/setup-node@v4", "actions/upload-artifact@v4", "pulumi/actions@v7"]);
            for (const env of strategy.matrix.env) expect(await filesUnder(path.join(team.folder, "platform-team"))).to.include(`Pulumi.${env}.yaml`);
        });

        it("passes the workflow: types are right, and the preview gives the objects and one finding", async () => {
            const [types, run] = await Promise.all([team.run("platform-team", "npm", ["run", "typecheck"]), preview("platform-team")]);
            expect(types.code, types.stdout + types.stderr).to.equal(0);
            expect(run.code, run.stdout + run.stderr).to.equal(0);
            const findings = run.stdout.split("\n").filter((line) => /^\d+ (mandatory|advisory)$|^ +[A-Z]+\d+ /.test(line)).map((line) => line.trim());
            expect(findings).to.deep.equal(["1 advisory", "E207 pool-undeclared"]);
            expect(run.stdout).to.include("dev: 3 hosts, 29 Kubernetes objects, 0 mandatory and 1 advisory finding by ");
            await expectGolden("platform-team.dev", await filesUnder(path.join(team.folder, "platform-team/out/dev")));
        });
    });

    describe("app-team and own-pack", () => {
        it("have the objects of one host, which the organisation's own rule refuses for its owner", async () => {
            await writeFile(path.join(team.folder, "app-team/policies.json"), JSON.stringify({ "owner-known": { teams: ["team-orders"] } }));
            const { code, stdout, stderr } = await preview("app-team", "--json", "--policy-pack", "../own-pack", "--policy-config", "policies.json");
            expect(code, stderr).to.equal(1);
            const { resources, findings } = JSON.parse(stdout) as Preview;
            expect(resources.flatMap(({ inputs: { kind, metadata } }) => kind === undefined ? [] : [`${kind} ${String(metadata?.namespace)}/${String(metadata?.name)}`]).sort()).to.deep.equal([
                "DestinationRule payments-egress/egress-api-partner-example", "DestinationRule payments/egress-api-partner-example-subset",
                "EnvoyFilter istio-egress/egress-api-partner-example", "EnvoyFilter payments/egress-api-partner-example", "Gateway istio-egress/egress-api-partner-example",
                "ServiceEntry payments-egress/egress-api-partner-example", "ServiceEntry payments/egress-api-partner-example-client",
                "VirtualService istio-egress/egress-api-partner-example-gateway", "VirtualService payments-egress/egress-api-partner-example-mesh",
            ]);
            expect(findings.map(({ level, policy, message }) => `${level} ${policy}: ${message}`).sort()).to.deep.equal(["payments-egress/egress-api-partner-example", "payments/egress-api-partner-example-client"].map((name) =>
                `mandatory owner-known: ACME1 ServiceEntry ${name}: the annotation istio-egress/owner is team-payments, which is no team of ours, so nobody answers for the host: name one of team-orders.`));
        });
    });

    describe("a JavaScript program with a bad declaration", () => {
        it("fails with every problem of it, and writes nothing", async () => {
            await cp(path.join(__dirname, "fixtures/javascript"), path.join(team.folder, "app-team/javascript"), { recursive: true });
            const { code, stderr } = await preview("app-team", "--project", "javascript", "--no-policy");
            expect(code).to.equal(1);
            expect(stderr.trimEnd().split("\n")).to.deep.equal([
                `error: ExternalEgressHost "partner-api": pool.addressesPerAnswer is 0, but must be 1 or more. How many addresses one DNS answer holds, A and AAAA together where proxies are dual stack. Required for a fixed pool.`,
                `ExternalEgressHost "partner-api": ownership.purpose is missing: What the host is needed for.`,
            ]);
            expect(await filesUnder(path.join(team.folder, "app-team/javascript/out"))).to.deep.equal([]);
        });
    });
});
