import * as pulumi from "@pulumi/pulumi";
import { startRuntime, settled, valueOf, delayed, unknown } from "./mocks";
import { ExternalEgressHost, EgressGateway } from "../../../components";
const base = { host: "api.partner.example", namespace: "egress", pool: { membership: "fixed", addressesPerAnswer: 2 }, failover: { detectionTime: "10s", dnsTtl: "5s" }, route: "mtls-passthrough", consumers: [{ namespace: "payments" }], ownership: { owner: "t", purpose: "p" } } as const;
describe("try", () => {
  it("plain", async () => {
    const regs = await startRuntime();
    const gw = new EgressGateway("platform", { namespace: "istio-egress", selector: { istio: "egressgateway" }, serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local", ports: [{ number: 443, targetPort: 8443 }], istioVersion: "1.31.0" });
    const h = new ExternalEgressHost("partner-api", { ...base, consumers: [{ namespace: "payments" }], gateway: gw.reference });
    console.log(JSON.stringify(await valueOf(h.objects), null, 1), (await valueOf(h.plan))?.summary);
    await settled();
    console.log(regs.map((r) => r.type + " " + r.name));
    console.log(JSON.stringify(regs.at(-1), null, 1));
  });
  it("unknown", async () => {
    const regs = await startRuntime(true);
    const h = new ExternalEgressHost("p2", { ...base, consumers: [{ namespace: delayed("payments") }], host: unknown<string>(), gateway: { namespace: "istio-egress", selector: { istio: "egressgateway" }, serviceHost: pulumi.secret("istio-egressgateway.istio-egress.svc.cluster.local"), ports: [{ number: 443, targetPort: 8443 }], istioVersion: "1.31.0" } });
    void h;
    await settled();
    console.log(JSON.stringify(regs, null, 1));
  });
});
