// The pack through its real process, with the requests that Pulumi's engine sends: compiled, and as TypeScript.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { unknownValue } from "@pulumi/pulumi/runtime";
import { specialSecretSig, specialSigKey } from "@pulumi/pulumi/runtime/rpc";
import { RULES } from "../../policies/rules";
import { AnalyzerProcess, compilePack } from "./analyzer-process";
import { type Manifest, fixtures, inOrder, propertiesFor } from "./support";

const secret = (value: unknown): object => ({ [specialSigKey]: specialSecretSig, value });
const typeOf = ({ apiVersion, kind }: Manifest): string => `kubernetes:${apiVersion}:${kind}`;
const forPools = (properties: Readonly<Record<string, unknown>>): Record<string, { properties: unknown }> =>
    Object.fromEntries(RULES.map((rule) => [rule.name, { properties: propertiesFor(rule, properties) }]));

const rule = (outlierDetection: unknown, more: object = {}): Manifest => ({
    apiVersion: "networking.istio.io/v1", kind: "DestinationRule", metadata: { name: "partner", namespace: "egress" },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection } }, ...more,
});
const entry: Manifest = {
    apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name: "partner", namespace: "egress" },
    spec: { hosts: ["api.partner.example"], resolution: "DNS_ROUND_ROBIN" },
};

describe("the pack's process", function () {
    this.timeout(180_000);
    let pack: ReturnType<typeof compilePack>;
    let analyzer: AnalyzerProcess;

    before(async () => {
        pack = compilePack();
        analyzer = await AnalyzerProcess.start([require.resolve("@pulumi/pulumi/cmd/run-policy-pack"), "127.0.0.1:0", pack.folder], pack.folder);
    });
    after(async () => {
        pack.remove();
        await analyzer.stop();
    });
    beforeEach(() => analyzer.configure({}));

    const judge = (manifest: Manifest, type = typeOf(manifest)): ReturnType<AnalyzerProcess["analyze"]> => analyzer.analyze({ type, properties: manifest });
    /** Each by itself, and all together, as in a preview. */
    const judgeAll = async (manifests: readonly Manifest[]): ReturnType<AnalyzerProcess["analyze"]> => {
        const requests = manifests.map((manifest) => ({ type: typeOf(manifest), properties: manifest }));
        return [...(await Promise.all(requests.map((request) => analyzer.analyze(request)))).flat(), ...await analyzer.analyzeStack(requests)];
    };
    const policies = async (manifest: Manifest, type?: string): Promise<string[]> => (await judge(manifest, type)).map(({ policy }) => policy);

    it("tells its name, version and policies", async () => {
        const info = await analyzer.info();
        const { version } = JSON.parse(readFileSync(path.join(__dirname, "../../package.json"), "utf8")) as { version: string };
        expect([info.getName(), info.getVersion()]).to.deep.equal(["istio-egress", version]);
        expect(info.getPoliciesList().map((policy) => policy.getName())).to.deep.equal(RULES.map(({ name }) => name));
        const [first] = info.getPoliciesList();
        expect(first?.getTagsList()).to.include("E101");
        expect(first?.getConfigschema()?.getProperties()?.toJavaScript()).to.have.all.keys("pools", "catalogue", "afterWithdrawal");
    });

    it("finds in every fixture what the rules find, with the same words, level and severity", async () => {
        for (const { file, manifests, configuration, environment, findings } of [...fixtures("invalid"), ...fixtures("valid")]) {
            await analyzer.configure(forPools(configuration), { environment });
            const found = await judgeAll(manifests);
            expect(inOrder(found.map(({ policy, level, message }) => ({ policy, level, message }))), file).to.deep.equal(findings);
            for (const { policy, severity } of found) expect(severity, file).to.equal(RULES.find(({ name }) => name === policy)?.severity);
        }
    });

    it("is not stopped by unknown values: it judges what is known and reports nothing else", async () => {
        const unknownNeighbour = rule({ consecutive5xxErrors: 5, interval: unknownValue }, { metadata: { name: "partner", namespace: unknownValue, annotations: unknownValue } });
        expect(await policies(unknownNeighbour)).to.deep.equal(["ejection-guard-missing"]);
        for (const manifest of [rule({ consecutive5xxErrors: 5, maxEjectionPercent: unknownValue }), rule(unknownValue), { ...entry, spec: unknownValue } as unknown as Manifest, { ...entry, metadata: unknownValue } as unknown as Manifest]) {
            expect(await judge(manifest)).to.deep.equal([]);
        }
    });

    it("reads secrets, of a field or of the whole spec", async () => {
        const annotated = { ...entry, metadata: { ...entry.metadata, annotations: { "istio-egress/membership": secret("fixed") } } };
        expect(await policies({ ...annotated, spec: secret(entry.spec) } as unknown as Manifest)).to.deep.equal(["logical-dns-on-small-pool"]);
    });

    it("prints no secret value, whatever a finding rests on", async () => {
        for (const { file, manifests, configuration, environment, findings } of fixtures("invalid")) {
            await analyzer.configure(forPools(configuration), { environment });
            const hidden = manifests.map((manifest) => ({ ...manifest, metadata: secret(manifest.metadata ?? {}), spec: secret(manifest.spec ?? {}) }) as unknown as Manifest);
            const found = await judgeAll(hidden), order = (list: readonly { policy: string; level: string }[]): string[] => list.map(({ policy, level }) => `${policy} ${level}`).sort();
            expect(order(found), file).to.deep.equal(order(findings));
            for (const { message } of found) {
                expect(message, file).to.include("[secret]").and.not.match(/[\w-]\.example| egress\/|(is|behind) \d/);
                for (const { metadata } of manifests) expect(message, file).to.not.include(` ${String(metadata?.["name"])}: `);
            }
        }
    });

    it("prints what is not secret of an object that holds secrets", async () => {
        const messages = async (manifest: Manifest, type?: string): Promise<string[]> => (await judge(manifest, type)).map(({ message }) => message.slice(0, 140));
        const annotations = { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": secret("3") };
        const spec = { host: secret("very-secret.partner.example"), trafficPolicy: { connectionPool: { tcp: { connectTimeout: "1s" } }, outlierDetection: { maxEjectionPercent: 20, minHealthPercent: 1 } } };
        const manifest = rule({}, { metadata: { name: "partner", namespace: secret("egress"), annotations }, spec });
        const start = "E101 DestinationRule [secret]/partner: spec.trafficPolicy.outlierDetection.maxEjectionPercent is 20, but the pool behind [secret] has [secret] addresses, ";
        expect(await messages(manifest)).to.deep.equal([start.slice(0, 140)]);
        expect(await messages({ apiVersion: "v1", kind: "List", items: [rule({ maxEjectionPercent: 60 }), manifest] }, "kubernetes:core/v1:List")).to.deep.equal([start.slice(0, 140)]);
        const hosts = ["a.partner.example", secret("very-secret.partner.example")];
        const gateway = { ...entry, kind: "Gateway", spec: { servers: [{ port: { number: 443, protocol: "TLS" }, tls: { mode: "ISTIO_MUTUAL" }, hosts }] } };
        expect(await messages(gateway)).to.have.lengthOf(1).and.have.property("0").that.includes("hosts lists a.partner.example and [secret] under ISTIO_MUTUAL");
    });

    it("judges patches by what they say, and each item of a list", async () => {
        const patch = "kubernetes:networking.istio.io/v1:DestinationRulePatch";
        expect(await policies(rule({ interval: "5s" }), patch)).to.deep.equal([]);
        expect(await policies(rule({ maxEjectionPercent: 0 }), patch)).to.deep.equal(["ejection-guard-missing"]);
        expect(await policies({ apiVersion: "v1", kind: "List", items: [rule({}), entry, rule({ maxEjectionPercent: 100 })] }, "kubernetes:core/v1:List"))
            .to.deep.equal(["ejection-empties-pool", "ejection-guard-missing", "pool-undeclared"]);
    });

    it("survives what is no object of Istio at all", async () => {
        for (const spec of [null, 1, "spec", [], [[]], { servers: {}, hosts: 1, subsets: [null, 1] }]) {
            for (const kind of ["ServiceEntry", "DestinationRule", "Gateway"]) {
                expect(await judge({ ...entry, kind, spec: spec as unknown as Record<string, unknown>, metadata: spec as unknown as Record<string, unknown> })).to.deep.equal([]);
            }
        }
        expect(await analyzer.analyze({ type: "aws:s3/bucket:Bucket", properties: { bucket: "b" } })).to.deep.equal([]);
    });

    it("takes levels from Pulumi's own enforcementLevel", async () => {
        const fixed = { ...entry, metadata: { ...entry.metadata, annotations: { "istio-egress/membership": "fixed" } } };
        const levels = async (): Promise<string[]> => (await judge(fixed)).map(({ level }) => level);
        expect(await levels()).to.deep.equal(["mandatory"]);
        await analyzer.configure({ "logical-dns-on-small-pool": { level: "ADVISORY" } });
        expect(await levels()).to.deep.equal(["advisory"]);
        await analyzer.configure({ "logical-dns-on-small-pool": { level: "DISABLED" } });
        expect(await levels()).to.deep.equal([]);
    });

    it("tells a broken configuration once, as a mandatory finding, and goes on", async () => {
        await analyzer.configure({ "ejection-guard-missing": { properties: { pool: [] } } });
        const [first, second] = [await judge(rule({})), await judge(rule({}))];
        expect(first.map(({ level, message }) => [level, message.slice(0, 75)])).to.deep.equal([
            ["mandatory", 'Configuration of the policy ejection-guard-missing: "pool" is no property o'],
            ["mandatory", "E105 DestinationRule egress/partner: spec.trafficPolicy.outlierDetection.ma"],
        ]);
        expect(second.map(({ policy }) => policy)).to.deep.equal(["ejection-guard-missing"]);
    });

    it("reads the catalogue of the stack", async () => {
        const folder = mkdtempSync(path.join(tmpdir(), "pack-"));
        try {
            writeFileSync(path.join(folder, "dev.yaml"), "hosts: {partner-api: {host: api.partner.example, namespace: egress, pool: {membership: fixed, addressesPerAnswer: 2}, route: direct, consumers: [{namespace: payments}], ownership: {owner: team-payments, purpose: settlement}}}\n");
            writeFileSync(path.join(folder, "prod.yaml"), "hosts: {}\n");
            await analyzer.configure(forPools({ catalogue: path.join(folder, "{stack}.yaml") }));
            const inStack = async (stack: string): Promise<string[]> => (await analyzer.analyze({ type: typeOf(entry), properties: entry, stack })).map(({ policy }) => policy);
            expect(await inStack("dev")).to.deep.equal(["logical-dns-on-small-pool"]);
            expect(await inStack("prod")).to.deep.equal(["pool-undeclared"]);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });

    it("remediates where it is asked to, and leaves secrets secret and unknown values unknown", async () => {
        await analyzer.configure({ "ejection-guard-missing": { level: "REMEDIATE" }, "ejection-empties-pool": { level: "REMEDIATE" } });
        const spec = (outlierDetection: object): object => ({ host: "api.partner.example", exportTo: [unknownValue], trafficPolicy: { connectionPool: secret({ tcp: { connectTimeout: "1s" } }), outlierDetection: secret(outlierDetection) } });
        const manifest = rule({}, { spec: spec({ consecutive5xxErrors: 5 }) });
        const repaired = rule({}, { spec: spec({ consecutive5xxErrors: 5, maxEjectionPercent: 50 }) });
        expect(await analyzer.remediate({ type: typeOf(manifest), properties: manifest })).to.deep.equal({ "ejection-guard-missing": repaired });
        expect(await judge(repaired)).to.deep.equal([]);
        expect(await analyzer.remediate({ type: typeOf(manifest), properties: repaired })).to.deep.equal({});

        const list: Manifest = { apiVersion: "v1", kind: "List", items: [entry, rule({ maxEjectionPercent: 100 })] };
        expect(await analyzer.remediate({ type: "kubernetes:core/v1:List", properties: list }))
            .to.deep.equal({ "ejection-empties-pool": { ...list, items: [entry, rule({ maxEjectionPercent: 100, minHealthPercent: 1 })] } });
    });

    it("changes nothing at any other level", async () => {
        expect(await analyzer.remediate({ type: typeOf(rule({})), properties: rule({}) })).to.deep.equal({});
    });
});

describe("the pack as TypeScript", function () {
    this.timeout(180_000);

    it("serves the same policies under tsx", async () => {
        const folder = path.join(__dirname, "../../policies");
        const analyzer = await AnalyzerProcess.start(["--require", require.resolve("@pulumi/policy"), "--require", require.resolve("tsx/cjs"), path.join(folder, "index.ts")], folder);
        try {
            expect((await analyzer.info()).getPoliciesList().map((policy) => policy.getName())).to.deep.equal(RULES.map(({ name }) => name));
            expect((await analyzer.analyze({ type: typeOf(rule({})), properties: rule({}) })).map(({ policy }) => policy)).to.deep.equal(["ejection-guard-missing"]);
        } finally {
            await analyzer.stop();
        }
    });
});
