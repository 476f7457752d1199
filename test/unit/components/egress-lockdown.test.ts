// EgressLockdown over Pulumi's mocks: its objects, the reference that it publishes, and hosts behind it.
import * as pulumi from "@pulumi/pulumi";
import { expect } from "chai";
import { EgressGateway, EgressLockdown, type EgressLockdownArgs, ExternalEgressHost } from "../../../components";
import { takeRejections } from "../../hooks";
import { GATEWAY, input } from "../../support/declarations";
import { type Registration, captureLog, settled, startRuntime, unknown, valueOf } from "./mocks";

const args: EgressLockdownArgs = { gateway: GATEWAY, mode: "enforced", consumers: [{ namespace: "payments" }], inCluster: "allowed" };
const kubernetes = (list: readonly Registration[]): readonly string[] => list.filter(({ type }) => type.startsWith("kubernetes:")).map(({ type, name }) => `${type.split(":").at(-1)} ${name}`).sort();

describe("EgressLockdown", () => {
    it("registers the fence, publishes the locked gateway, and locks the hosts that take it", async () => {
        const list = await startRuntime(), gateway = new EgressGateway("platform", GATEWAY);
        const lockdown = new EgressLockdown("platform", { ...args, gateway: gateway.reference, registryOnly: true });
        new ExternalEgressHost("partner-api", { ...input(), gateway: lockdown.reference, consumers: [{ namespace: "payments", serviceAccounts: ["settlement"] }] });
        expect(await valueOf(lockdown.reference)).to.deep.equal({ ...GATEWAY, consumers: "declared", lockdown: "enforced", envoyFilters: "allowed" });
        await settled();
        expect(kubernetes(list).filter((name) => name.includes(" platform-"))).to.deep.equal(["AuthorizationPolicy platform-closed", "NetworkPolicy platform-egress-payments", "NetworkPolicy platform-ingress", "Sidecar platform-registry-only-payments"]);
        expect(list.find(({ name }) => name === "partner-api-authorization")?.inputs).to.have.nested.property("spec.rules[0].from[0].source.principals[0]", "cluster.local/ns/payments/sa/settlement");
    });

    it("in a dry run writes the one policy that allows everything", async () => {
        const list = await startRuntime();
        const { reference } = new EgressLockdown("platform", { ...args, mode: "dry-run" });
        expect(await valueOf(reference)).to.include({ lockdown: "dry-run" });
        await settled();
        expect(kubernetes(list)).to.deep.equal(["AuthorizationPolicy platform-open"]);
    });

    it("shows in a preview what does not depend on an unknown value, and leaves out what it cannot name", async () => {
        const list = await startRuntime(true), log = captureLog();
        const { reference } = new EgressLockdown("platform", { ...args, consumers: [{ namespace: unknown<string>() }] });
        await settled();
        expect(await valueOf(reference.namespace)).to.equal("istio-egress");
        expect(kubernetes(list)).to.deep.equal(["AuthorizationPolicy platform-closed", "NetworkPolicy platform-ingress"]);
        expect(log.stop().join("\n")).to.contain('EgressLockdown "platform": the NetworkPolicy of egress-sample-a is left out of this preview, since it depends on consumers[0].namespace, which is not known yet');
    });

    it("refuses bad arguments at once, and a mode that is not known", async () => {
        await startRuntime(true);
        expect(() => new EgressLockdown("platform", { ...args, mode: "off" })).to.throw(pulumi.RunError, /EgressLockdown "platform": mode is "off", but must be one of "dry-run", "enforced"\./);
        new EgressLockdown("late", { ...args, mode: unknown<"enforced">() });
        await settled();
        expect(await takeRejections()).to.deep.equal(['EgressLockdown "late": mode is not known yet: what is created depends on it, so give a plain value.']);
    });
});
