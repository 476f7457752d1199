// Object names: distinct for distinct hosts, stable, and DNS labels.
import { expect } from "chai";
import fc from "fast-check";
import { objectName, serviceNamespace } from "../../../model";

describe("object names", () => {
    it("are stable: they are what already runs in clusters", () => {
        expect(objectName("api.partner.example")).to.equal("egress-api-partner-example");
        expect(objectName("api-eu.partner.example")).to.equal("egress-api-eu-partner-example-yl5x0l2odz");
        expect(objectName("*.partner.example")).to.match(/^egress-any-partner-example-[a-z0-9]{10}$/);
    });

    it("tell apart hosts that share letters", () => {
        const hosts = ["a-b.c.example", "a.b-c.example", "a.b.c.example", "a-b-c.example", "*.c.example", "any.c.example", "a.c.example.client", "a.c.example.subset"];
        expect(new Set(hosts.map(objectName)).size).to.equal(hosts.length);
    });

    it("are DNS labels with room for a suffix, and differ whenever hosts do", () => {
        const host = fc.array(fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/), { minLength: 2, maxLength: 4 }).map((labels) => labels.join("."));
        fc.assert(fc.property(host, host, (a, b) => {
            expect(objectName(a)).to.match(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/).and.to.have.length.at.most(63 - "-gateway".length);
            if (a !== b) expect(objectName(a)).to.not.equal(objectName(b));
        }));
    });

    it("finds a Service's namespace", () => {
        expect(serviceNamespace("istio-egressgateway.istio-egress.svc.cluster.local")).to.equal("istio-egress");
    });
});
