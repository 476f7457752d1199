// Conflicts across declarations and stacks, and between servers on one listener: each kind, and what is none.
import { expect } from "chai";
import { type NamedDeclaration, findConflicts, serverConflict } from "../../../model";
import { GATEWAY, declaration } from "../../support/declarations";

const named = (name: string, changes: Parameters<typeof declaration>[0], stack?: string): NamedDeclaration => ({ name, declaration: declaration(changes), ...(stack === undefined ? {} : { stack }) });
const tcp = (host: string, changes: Parameters<typeof declaration>[0] = {}): Parameters<typeof declaration>[0] => ({ host, ports: [{ number: 8443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"], ...changes });
const SERVICE = "istio-egressgateway.istio-egress.svc.cluster.local";

describe("conflicts across stacks and protocols", () => {
    it("name the other stack", () => {
        expect(findConflicts([named("a", {}, "team-a/prod"), named("b", {})])).to.deep.equal([{
            kind: "same-gateway-port-and-sni", names: ["a", "b"], stacks: ["team-a/prod", undefined], path: ["host"],
            text: `"a" of stack team-a/prod and "b" both put api.partner.example on port 443 of the gateway ${SERVICE}: Istio silently drops the later server; make them one declaration.`,
        }]);
    });

    it("are different protocols for one host", () => {
        const http = { route: "direct", gateway: undefined, ports: [{ number: 443, protocol: "HTTP" }] } as const;
        expect(findConflicts([named("a", {}), named("b", { ...http, ports: [...http.ports] })])).to.deep.equal([{
            kind: "different-protocols", names: ["a", "b"], path: ["ports"],
            text: '"a" and "b" declare api.partner.example with different protocols (a says TLS and b says HTTP on port 443): a sidecar takes one of them for everybody; make them one declaration.',
        }]);
    });

    it("are one address and port of two TCP hosts for the same consumers, once for each pair", () => {
        expect(findConflicts([named("a", tcp("a.example.com")), named("b", tcp("b.example.com", { addresses: ["192.0.2.2", "192.0.2.1"] }))])).to.deep.equal([{
            kind: "same-address-and-port", names: ["a", "b"], path: ["addresses"],
            text: '"a" (a.example.com) and "b" (b.example.com) both are TCP on 192.0.2.2:8443 for the same consumers: TCP carries no name, so a sidecar gives every connection to one of them; give them different ports or addresses.',
        }]);
        expect(findConflicts([named("a", tcp("a.example.com")), named("b", tcp("b.example.com", { consumers: [{ namespace: "orders" }] }))])).to.deep.equal([]);
        expect(findConflicts([named("a", tcp("a.example.com")), named("b", tcp("b.example.com", { ports: [{ number: 443, protocol: "TCP" }] }))])).to.deep.equal([]);
        // Measured: TLS, HTTP and TCP hosts share a port of a sidecar.
        expect(findConflicts([named("a", tcp("a.example.com")), named("b", { host: "b.example.com", ports: [{ number: 8443 }] })])).to.deep.equal([]);
    });

    it("are two views of one gateway", () => {
        const moved = { ...GATEWAY, ports: [{ number: 443, targetPort: 443 }], lockdown: "enforced" } as const;
        expect(findConflicts([named("a", {}), named("b", { host: "b.partner.example", gateway: { ...moved, ports: [...moved.ports] } })]).map(({ kind, path, text }) => ({ kind, path, text }))).to.deep.equal([
            { kind: "mixed-lockdown", path: ["gateway", "lockdown"], text: `"a" says that the lockdown of the gateway ${SERVICE} is off and "b" says enforced: the first policy that allows a host makes the gateway deny those without one, so the whole gateway must have one mode.` },
            { kind: "different-gateway", path: ["gateway", "ports"], text: `"a" and "b" disagree about port 443 of the gateway ${SERVICE}, on which its pods listen on 8443 or on 443: look at the Service, and correct one.` },
        ]);
    });

    it("compare ports as they enter the gateway", () => {
        const http = named("b", { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] });
        expect(findConflicts([named("a", {}), http])[0]).to.include({ kind: "same-gateway-port-and-sni" });
        expect(findConflicts([named("a", { ports: [{ number: 8443 }] }), http])[0]).to.include({ kind: "same-host" });
    });
});

describe("serverConflict", () => {
    const mutual = { protocol: "TLS", hosts: ["api.partner.example"], tlsMode: "ISTIO_MUTUAL" }, passed = { protocol: "TLS", hosts: ["*.partner.example"], tlsMode: "PASSTHROUGH" };

    it("finds what one listener cannot carry", () => {
        expect(serverConflict(mutual, { ...mutual, hosts: ["API.partner.example."] })).to.equal("same-host");
        expect(serverConflict(mutual, { protocol: "HTTP", hosts: ["other.example"], tlsMode: undefined })).to.equal("tls-and-plaintext");
        expect(serverConflict(passed, mutual)).to.equal("wildcard-and-exact-of-different-mode");
        expect(serverConflict(mutual, passed)).to.equal("wildcard-and-exact-of-different-mode");
    });

    it("leaves alone what gets on: HTTPS beside TLS (measured), a wildcard of the same mode, another domain", () => {
        expect(serverConflict(mutual, { protocol: "HTTPS", hosts: ["rates.partner.example"], tlsMode: "ISTIO_MUTUAL" })).to.equal(undefined);
        expect(serverConflict(passed, { ...mutual, tlsMode: "PASSTHROUGH" })).to.equal(undefined);
        expect(serverConflict(passed, { ...mutual, hosts: ["api.other.example"] })).to.equal(undefined);
    });
});
