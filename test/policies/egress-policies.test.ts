// A pack that a team builds with EgressPolicies, in its real process: levels in code and by environment, rules and policies of its own.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { EgressPolicies, RULES, policyPackArgs } from "../../policies/library";
import { AnalyzerProcess, compilePack } from "./analyzer-process";
import { type Manifest, fixtures } from "./support";

const OWN = `
const { EgressPolicies, RULES, noConfiguration } = require("../policies/library.js");
const own = {
    code: "ACME1", name: "acme-labels", level: "advisory", severity: "low", description: "Objects have a label.", remediation: "Add it.", remediates: false, kinds: ["DestinationRule"],
    configuration: noConfiguration, check: () => [{ path: ["metadata", "labels"], text: "is missing." }],
};
const wholeStack = { name: "acme-stack", description: "Counts.", enforcementLevel: "advisory", validateStack: (args, report) => report(String(args.resources.length)) };
new EgressPolicies({ all: "disabled", "ejection-guard-missing": { enforcementLevel: "mandatory", pools: [{ host: "api.partner.example", membership: "fixed", addressesPerAnswer: 12 }] }, "acme-labels": "advisory", "acme-stack": "advisory" },
    { name: "acme-egress", rules: [...RULES, own], policies: [wholeStack], environments: { dev: { all: "advisory" }, sandbox: { "ejection-guard-missing": "disabled" } } });
`;
const rule: Manifest = {
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "partner", namespace: "egress" },
    spec: { host: "api.other.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5 } } },
};
const request = (manifest: Manifest, stack: string): { type: string; properties: unknown; stack: string } => ({ type: `kubernetes:${manifest.apiVersion}:${manifest.kind}`, properties: manifest, stack });

describe("a pack by EgressPolicies", function () {
    this.timeout(180_000);
    let pack: ReturnType<typeof compilePack>;
    let analyzer: AnalyzerProcess;

    before(async () => {
        pack = compilePack();
        const folder = path.join(pack.folder, "../own");
        mkdirSync(folder);
        for (const file of ["PulumiPolicy.yaml", "package.json"]) copyFileSync(path.join(pack.folder, file), path.join(folder, file));
        writeFileSync(path.join(folder, "index.js"), OWN);
        analyzer = await AnalyzerProcess.start([require.resolve("@pulumi/pulumi/cmd/run-policy-pack"), "127.0.0.1:0", folder], folder);
    });
    after(async () => {
        pack.remove();
        await (analyzer as AnalyzerProcess | undefined)?.stop();
    });

    it("serves the rules, the team's own rule and its policy, with the levels and properties of the code", async () => {
        const info = await analyzer.info();
        expect(info.getName()).to.equal("acme-egress");
        expect(info.getPoliciesList().map((policy) => policy.getName())).to.deep.equal([...RULES.map(({ name }) => name), "acme-labels", "acme-stack"]);
        const initial = info.getInitialconfigMap();
        expect(initial.get("ejection-guard-missing")?.getProperties()?.toJavaScript()).to.have.property("pools").that.has.lengthOf(1);
        expect(initial.get("ejection-guard-missing")?.getEnforcementlevel()).to.equal(1);
        expect(initial.get("all")?.getEnforcementlevel()).to.equal(2);
    });

    it("takes levels from the environment: by the stack's tag, or its name", async () => {
        const found = async (stack: string, tags: Record<string, string> = {}): Promise<string[]> => {
            await analyzer.configure({}, tags);
            return (await analyzer.analyze(request(rule, stack))).filter(({ policy }) => policy.startsWith("ejection-guard")).map(({ level }) => level);
        };
        expect(await found("prod")).to.deep.equal(["mandatory"]);
        expect(await found("dev")).to.deep.equal(["advisory"]);
        expect(await found("sandbox")).to.deep.equal([]);
        expect(await found("blue", { environment: "dev" })).to.deep.equal(["advisory"]);
        expect(await found("dev", { environment: "prod" })).to.deep.equal(["mandatory"]);
        expect((await analyzer.notApplicable(request(rule, "sandbox")))["ejection-guard-missing"]).to.equal(undefined);
        await analyzer.configure({}, { environment: "sandbox" });
        expect((await analyzer.notApplicable(request(rule, "x")))["ejection-guard-missing"]).to.equal("The environment sandbox switches the rule off.");
    });

    it("names no page for a rule that has none, and the urn of the object for a finding of the stack", async () => {
        await analyzer.configure({});
        const own = (await analyzer.analyze(request(rule, "prod"))).find(({ policy }) => policy === "acme-labels");
        expect(own?.message).to.equal("ACME1 DestinationRule egress/partner: metadata.labels is missing.");
        const twice = fixtures("invalid").find(({ file }) => file.startsWith("E301-"))?.manifests ?? [];
        const ofStack = await analyzer.analyzeStack(twice.map((manifest, index) => ({ ...request(manifest, "prod"), name: `entry-${index}` })));
        expect(ofStack.filter(({ policy }) => policy === "host-twice").map(({ urn }) => urn)).to.deep.equal(["urn:pulumi:prod::project::kubernetes:networking.istio.io/v1:ServiceEntry::entry-1"]);
        expect(ofStack.some(({ policy }) => policy === "acme-stack")).to.equal(true);
    });

    it("says why it did not judge, as the reason for not being applicable", async () => {
        await analyzer.configure({});
        const left = fixtures("invalid").find(({ file }) => file.startsWith("E603-"))?.manifests ?? [];
        const reasons = await analyzer.notApplicableToStack(left.map((manifest) => request(manifest, "prod")));
        expect(reasons["filter-without-host"]).to.match(/^E603 EnvoyFilter istio-egress\/partner-api-retry: metadata\.annotations\["istio-egress\/host"\] is api\.partner\.example, of which no ServiceEntry is at hand\./);
        const exempt = { ...rule, metadata: { ...rule.metadata, annotations: { "istio-egress/exempt-E105": "until 2027-01-31: CHG-4711" } } };
        expect((await analyzer.notApplicable(request(exempt, "prod")))["ejection-guard-missing"]).to.equal("E105 DestinationRule egress/partner is exempt until 2027-01-31: CHG-4711");
    });
});

describe("levels in code", () => {
    it("are refused where a name is no policy's: a typing mistake must not switch one off", () => {
        expect(() => new EgressPolicies({ "pool-undecleared": "advisory" })).to.throw(/^EgressPolicies: "pool-undecleared" is no rule: there are ejection-never, /);
        expect(() => policyPackArgs({ environments: { dev: { "host-twize": "advisory" } } })).to.throw(/^environments\.dev: "host-twize" is no rule/);
    });
});
