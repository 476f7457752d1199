// Programs under the embedded engine: what is registered, what is unknown or secret, what an error looks like.
import { expect } from "chai";
import type { ProgramRun } from "../../cli/embedded/types";
import { fixture, named, runIn, runPrograms } from "./support";

const HOST = "urn:pulumi:dev::tree::fixture:index:Host";

describe("embedded engine: a component with late children", () => {
    let run: ProgramRun;
    before(async () => { run = await runIn(fixture("tree")); });

    it("registers every resource once, under the real engine's URN", () => {
        expect(run.errors).to.deep.equal([]);
        expect(run.resources.map(({ urn }) => urn).sort()).to.deep.equal([
            `${HOST}$fixture:index:Host$kubernetes:networking.istio.io/v1:DestinationRule::second-rule`,
            `${HOST}$fixture:index:Host$kubernetes:networking.istio.io/v1:ServiceEntry::second-entry`,
            `${HOST}$fixture:index:Host::second`,
            `${HOST}$kubernetes:networking.istio.io/v1:DestinationRule::first-rule`,
            `${HOST}$kubernetes:networking.istio.io/v1:ServiceEntry::first-entry`,
            `${HOST}::first`,
            "urn:pulumi:dev::tree::kubernetes:core/v1:ConfigMap::note",
            "urn:pulumi:dev::tree::pulumi:pulumi:Stack::tree-dev",
        ]);
    });

    it("takes configuration from Pulumi.yaml and the environment's file", () => {
        expect(named(run, "first-entry").inputs).to.deep.equal({
            apiVersion: "networking.istio.io/v1",
            kind: "ServiceEntry",
            metadata: { name: "first", namespace: "egress" },
            spec: { hosts: ["api.example.test"], ports: [{ number: 443 }, { number: 8443 }] },
        });
    });

    it("records what mocks hide: parent, dependsOn, aliases, protect", () => {
        const { parent, dependencies, protect, aliases } = named(run, "first-rule");
        expect({ parent, dependencies, protect, aliases }).to.deep.equal({
            parent: `${HOST}::first`,
            dependencies: [`${HOST}$kubernetes:networking.istio.io/v1:ServiceEntry::first-entry`],
            protect: true,
            aliases: [],
        });
        expect(named(run, "first-entry").aliases).to.deep.equal(["type=kubernetes:networking.istio.io/v1beta1:ServiceEntry"]);
    });

    it("names an object without a name after its resource, always the same", () => {
        expect(named(run, "first-rule").inputs["metadata"]).to.deep.equal({ namespace: "egress", name: "first-rule-9f746462" });
    });

    it("applies transforms, and runs no hook that is not for previews", () => {
        expect(named(run, "note").inputs["data"]).to.deep.equal({ region: "east", replicas: "2", transformed: "yes" });
    });

    it("keeps the outputs that components register, the stack's outputs, and what the program logs", () => {
        expect(named(run, "second").outputs).to.deep.equal({ address: "second", plan: { summary: ["second goes out directly"], window: "15s" } });
        expect(run.outputs).to.deep.equal({ address: "first" });
        expect(run.diagnostics).to.deep.equal([{ severity: "warning", message: "a warning", urn: `${HOST}::first` }]);
    });

    it("runs the same program for another environment in the same process", async () => {
        const prod = await runIn(fixture("tree"), "prod");
        expect(named(prod, "note").inputs["data"]).to.deep.equal({ region: "west", replicas: "2", transformed: "yes" });
        expect(named(prod, "note").urn).to.equal("urn:pulumi:prod::tree::kubernetes:core/v1:ConfigMap::note");
    });
});

describe("embedded engine: values that a preview does not have or must not show", () => {
    let run: ProgramRun;
    before(async () => { run = await runIn(fixture("secrets")); });

    it("marks unknowns and masks secrets, also inside text and in stack outputs", () => {
        expect(named(run, "mixed").inputs["data"]).to.deep.equal({ plain: "visible", secret: "[secret]", unknown: "<unknown>", composed: "<unknown>" });
        expect(named(run, "token").inputs["stringData"]).to.equal("<unknown>");
        expect(named(run, "key").inputs["stringData"]).to.equal("[secret]");
        expect(run.outputs).to.deep.equal({ hidden: "[secret]", id: "<unknown>" });
    });

    it("says that encrypted configuration stays unknown", () => {
        expect(run.diagnostics).to.deep.equal([{
            severity: "warning",
            message: "Configuration secrets:password is encrypted: this preview has no key for it and treats it as unknown. `pulumi preview` decrypts it.",
        }]);
    });

    it("shows no secret in anything but the wire form", () => {
        expect(JSON.stringify(run.resources.map(({ inputs, outputs }) => ({ inputs, outputs })))).not.to.include("hunter2");
        expect(JSON.stringify(named(run, "mixed").wire.inputs)).to.include("hunter2");
    });
});

describe("embedded engine: encrypted configuration", () => {
    it("is an unknown secret for a component, of whatever type it is asked for; the rest is shown", async () => {
        const run = await runIn(fixture("encrypted"));
        expect(run.errors).to.deep.equal([]);
        expect(named(run, "partner-api-service-entry").inputs["spec"]).to.deep.equal({
            exportTo: ["payments"], hosts: ["<unknown>"], location: "MESH_EXTERNAL", ports: [{ name: "tls-443", number: 443, protocol: "TLS" }], resolution: "DNS",
        });
        expect(named(run, "partner-api").inputs["pool"]).to.deep.equal({ membership: "fixed", addressesPerAnswer: "<unknown>" });
        expect(run.outputs).to.deep.equal({ host: "<unknown>", consumers: "<unknown>", absent: "absent" });
    });

    it("is an error where the program wants it in plain, with the key and the ways out", async () => {
        const { "encrypted-plain": run } = await runPrograms("encrypted-plain");
        expect(run?.errors).to.deep.equal([{
            message: "Configuration encrypted-plain:catalogue is encrypted, and this preview has no key for it: read it with requireSecret, which gives an unknown value here, "
                + "set a plain value for previews in test/fixtures/programs/encrypted-plain/Pulumi.dev.yaml, or use `pulumi preview`, which decrypts it.",
            frames: [],
        }]);
    });
});

describe("embedded engine: an exported async function", () => {
    it("makes its result the stack outputs", async () => {
        const run = await runIn(fixture("exports"));
        expect(run.outputs).to.deep.equal({ name: "fine", nested: { count: 0, list: ["a", "default"] } });
    });
});

describe("embedded engine: programs with errors", () => {
    let runs: Record<string, ProgramRun>;
    before(async () => { runs = await runPrograms("throws", "rejects", "waits", "duplicate", "busy", "remote", "hooks"); });
    const errorsOf = (name: string): ProgramRun["errors"] | undefined => runs[name]?.errors;

    it("shows each error once, message first, with the program's own frames unless it is made for people", () => {
        expect(errorsOf("throws")).to.deep.equal([
            { message: "TypeError: the program's own mistake", frames: ["test/fixtures/programs/throws/index.ts:12:7", "test/fixtures/programs/throws/index.ts:12:48"] },
            { message: 'Host "partner-api": pool is missing: say how many addresses an answer holds.', frames: [] },
        ]);
        expect(runs["throws"]?.resources.map(({ name }) => name)).to.deep.equal(["throws-dev"]);
    });

    it("waits for a rejection that comes after the program's end", () => {
        expect(errorsOf("rejects")).to.deep.equal([{ message: "nobody waited for this", frames: ["test/fixtures/programs/rejects/index.ts:5:38"] }]);
    });

    it("does not hang on a promise that nothing resolves, and says so", () => {
        expect(errorsOf("waits")).to.deep.equal([{
            message: "test/fixtures/programs/waits/index.ts ended, but some of its resources or outputs never got a value: they wait for a promise that nothing resolves.",
            frames: [],
        }]);
    });

    it("gives up on a program that never ends, and says what keeps it", () => {
        expect(errorsOf("busy")).to.deep.equal([{
            message: "test/fixtures/programs/busy/index.ts is still busy after 1 s (Timeout): a timer, server or connection keeps it alive; close it when the program is done.",
            frames: [],
        }]);
    });

    it("refuses a second resource of the same URN", () => {
        expect(errorsOf("duplicate")?.map(({ message }) => message)).to.deep.equal([
            'failed to register new resource same [kubernetes:core/v1:ConfigMap]: Duplicate resource URN "urn:pulumi:dev::duplicate::kubernetes:core/v1:ConfigMap::same": two resources of this type and parent have the name "same"; give one of them another name.',
        ]);
    });

    it("applies transforms in the engine's order, and lets a hook for previews refuse a resource", () => {
        const run = runs["hooks"];
        if (run === undefined) throw new Error("It did not run.");
        expect(named(run, "child").inputs["data"]).to.deep.equal({ marks: "own child parent stack" });
        expect(named(run, "child").protect).to.equal(true);
        expect(run.errors.map(({ message }) => message)).to.deep.equal([
            'failed to register new resource refused [kubernetes:core/v1:ConfigMap]: afterCreate hook "refuses" failed: not on a Friday',
        ]);
    });

    it("says what needs a provider, and that the Pulumi CLI has it", () => {
        expect(errorsOf("remote")?.map(({ message }) => message)).to.have.members([
            "failed to register new resource chart [kubernetes:helm.sh/v4:Chart]: kubernetes:helm.sh/v4:Chart is a component that a provider builds, and the embedded engine runs no providers: use `pulumi preview` for this program.",
            "The embedded engine runs no providers, so kubernetes:helm:template cannot be called: use `pulumi preview` for this program.",
        ]);
        expect(runs["remote"]?.resources.map(({ name }) => name).sort()).to.deep.equal(["one", "parsed", "remote-dev", "two"]);
    });
});
