// EgressCatalog and EgressGateway over Pulumi's mocks.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { expect } from "chai";
import { EgressCatalog, EgressGateway, type EgressGatewayArgs } from "../../../components";
import { takeRejections } from "../../hooks";
import { GATEWAY } from "../../support/declarations";
import { captureLog, delayed, settled, startRuntime, unknown, valueOf } from "./mocks";

const GOOD = `
defaults: { namespace: egress, route: direct, consumers: [{ namespace: payments }], ownership: { owner: team-payments, purpose: tests } }
hosts:
  partner-api: { host: api.partner.example, pool: { membership: fixed, addressesPerAnswer: 2 } }
  object-store: { host: objects.cloud.example, pool: { membership: rotating } }
`;

describe("EgressCatalog", () => {
    let folder = "";
    before(() => (folder = mkdtempSync(path.join(tmpdir(), "istio-egress-"))));
    after(() => rmSync(folder, { recursive: true }));
    const write = (text: string): string => {
        const file = path.join(folder, "hosts.yaml");
        writeFileSync(file, text);
        return file;
    };

    for (const [how, wrap] of [["a path", (file: string) => file], ["a delayed path", delayed]] as const) {
        it(`registers every host of the file, from ${how}`, async () => {
            const list = await startRuntime();
            const catalog = new EgressCatalog("egress", { file: wrap(write(GOOD)) });
            await settled();
            expect(list.map(({ type, name }) => `${type} ${name}`).filter((text) => text.startsWith("istio-egress:")).sort()).to.deep.equal([
                "istio-egress:index:EgressCatalog egress", "istio-egress:index:ExternalEgressHost egress-object-store", "istio-egress:index:ExternalEgressHost egress-partner-api",
            ]);
            const hosts = await valueOf(catalog.hosts);
            expect(hosts?.map(({ plan, ...row }) => ({ ...row, resolution: plan[0]?.split(":")[0] }))).to.deep.equal([
                { name: "partner-api", host: "api.partner.example", route: "direct", consumers: ["payments"], owner: "team-payments", purpose: "tests", resolution: "resolution DNS" },
                { name: "object-store", host: "objects.cloud.example", route: "direct", consumers: ["payments"], owner: "team-payments", purpose: "tests", resolution: "resolution DNS_ROUND_ROBIN" },
            ]);
        });
    }

    it("refuses a bad file at once, with every position, and registers nothing", async () => {
        const list = await startRuntime(), file = write(GOOD.replace("addressesPerAnswer: 2", "addressesPerAnswer: 0").replace("membership: rotating", "membership: rotatin"));
        expect(() => new EgressCatalog("egress", { file })).to.throw(pulumi.RunError, new RegExp([
            "hosts\\.yaml:4:\\d+: hosts\\.partner-api\\.pool\\.addressesPerAnswer is 0, but must be 1 or more\\. .*",
            ".*hosts\\.yaml:5:\\d+: hosts\\.object-store\\.pool\\.membership is \"rotatin\", but must be one of \"fixed\", \"rotating\"\\. .*",
        ].join("\n")));
        await settled();
        expect(list).to.deep.equal([]);
    });

    it("leaves its hosts out of a preview that does not know the file yet, and says so", async () => {
        const list = await startRuntime(true), log = captureLog();
        const catalog = new EgressCatalog("egress", { file: unknown<string>() });
        await settled();
        expect(log.stop().join("\n")).to.contain('EgressCatalog "egress": its hosts are left out of this preview, since file is not known yet');
        expect(await valueOf(catalog.hosts)).to.equal(undefined);
        expect(list.map(({ type }) => type)).to.deep.equal(["istio-egress:index:EgressCatalog"]);
    });

    it("refuses what is no path, at once", () => {
        for (const file of [null, 5, ""]) expect(() => new EgressCatalog("egress", { file: file as never })).to.throw(pulumi.RunError, `EgressCatalog "egress": file is ${JSON.stringify(file)}, but must be the path of a catalogue file.`);
        expect(() => new EgressCatalog("egress", undefined as never)).to.throw(pulumi.RunError, "The arguments must be an object; its properties may be Outputs, but not the whole of it.");
    });

    it("refuses a missing file by its name, also when the path comes late", async () => {
        const list = await startRuntime();
        new EgressCatalog("egress", { file: delayed(path.join(folder, "none.yaml")) });
        await settled();
        const [message, ...others] = await takeRejections();
        expect(message).to.contain("none.yaml").and.to.not.contain("    at ");
        expect(others).to.deep.equal([]);
        expect(list.filter(({ type }) => type.startsWith("kubernetes:"))).to.deep.equal([]);
    });
});

describe("EgressGateway", () => {
    const args: EgressGatewayArgs = GATEWAY;

    it("publishes the reference with its defaults, and creates nothing else", async () => {
        const list = await startRuntime();
        const { reference } = new EgressGateway("platform", args);
        expect(await valueOf(reference)).to.deep.equal({ ...GATEWAY, consumers: "declared", lockdown: "off", envoyFilters: "allowed" });
        await settled();
        expect(list.map(({ type }) => type)).to.deep.equal(["istio-egress:index:EgressGateway"]);
    });

    it("refuses what no gateway can be, at once or once it is known", async () => {
        const message = 'EgressGateway "platform": serviceHost is "egress", which is not the full name of a Service: write it as NAME.NAMESPACE.svc.cluster.local.';
        await startRuntime();
        expect(() => new EgressGateway("platform", { ...args, serviceHost: "egress" })).to.throw(pulumi.RunError, message);
        expect(() => new EgressGateway("platform", { ...args, istioVersion: "newest", ports: [] })).to.throw(pulumi.RunError, /ports is \[\], but must have at least one entry/);
        new EgressGateway("late", { ...args, serviceHost: delayed("egress") });
        await settled();
        expect(await takeRejections()).to.deep.equal([message.replace("platform", "late")]);
    });

    it("deploys one, and publishes its reference, known in a preview and unknown only where an argument is", async () => {
        for (const preview of [false, true]) {
            const list = await startRuntime(preview);
            const deployment = { longestConnection: "15m", ...(preview ? { cpuRequest: unknown<string>() } : {}) };
            const { reference } = new EgressGateway("platform", { mode: "deploy", namespace: "istio-egress", istioVersion: "1.31.0", deployment });
            expect(await valueOf(reference)).to.deep.include({ serviceHost: "egressgateway-platform.istio-egress.svc.cluster.local", selector: { "istio-egress/gateway": "egressgateway-platform" } });
            await settled();
            expect(list.filter(({ type }) => type.startsWith("kubernetes:")).map(({ type, name }) => `${type} ${name}`).sort()).to.deep.equal([
                "kubernetes:apps/v1:Deployment platform-deployment", "kubernetes:autoscaling/v2:HorizontalPodAutoscaler platform-autoscaler",
                "kubernetes:core/v1:Service platform-service", "kubernetes:core/v1:ServiceAccount platform-service-account", "kubernetes:policy/v1:PodDisruptionBudget platform-pod-disruption-budget",
            ]);
        }
    });

    it("judges maxConnections by memoryLimit once both are known, and leaves all else of the Deployment known", async () => {
        const deploy = (name: string, deployment: object): EgressGateway => new EgressGateway(name, { mode: "deploy", namespace: "istio-egress", istioVersion: "1.31.0", deployment: { longestConnection: "15m", ...deployment } });
        const list = await startRuntime(true), pods = (): Record<string, unknown> => list.find(({ type }) => type.endsWith(":Deployment"))?.inputs["spec"] as Record<string, unknown>;
        deploy("limit", { maxConnections: 100_000, memoryLimit: unknown<string>() });
        deploy("count", { maxConnections: unknown<number>(), memoryLimit: "512Mi" });
        await settled();
        expect(await takeRejections()).to.deep.equal([]);
        expect(pods()).to.have.nested.property("template.spec.serviceAccountName", "egressgateway-limit");

        await startRuntime();
        deploy("late", { maxConnections: delayed(30_000) });
        await settled();
        expect(await takeRejections()).to.deep.equal(['EgressGateway "late": deployment.maxConnections is 30000: so many connections that wait for a failover take 586 MiB of a pod, more than a third of memoryLimit (1Gi), which may end it: set it to 17476 or less, or raise memoryLimit.']);
    });

    it("refuses a mode that is not known, and what belongs to the other one", async () => {
        await startRuntime(true);
        new EgressGateway("platform", { ...args, mode: unknown<"deploy">() });
        await settled();
        expect(await takeRejections()).to.deep.equal(['EgressGateway "platform": mode is not known yet: what is created depends on it, so give a plain value.']);
        expect(() => new EgressGateway("platform", { ...args, deployment: { longestConnection: "1m" } })).to.throw(pulumi.RunError, 'EgressGateway "platform": deployment has no effect on a gateway that exists: choose mode deploy, or remove it.');
    });

    it("keeps the known parts of a reference known", async () => {
        await startRuntime(true);
        const { reference } = new EgressGateway("platform", { ...args, istioVersion: unknown<string>() });
        expect(await valueOf(reference.namespace)).to.equal("istio-egress");
        expect(await (reference.istioVersion as unknown as { isKnown: Promise<boolean> }).isKnown).to.equal(false);
    });
});
