// The registry that several stacks share: what is written, what is read back, and whose conflicts are found.
import { expect } from "chai";
import fc from "fast-check";
import { type Registry, isRegistered, parseRegistry, readRegistry, registryConflicts, withStack, withoutStack } from "../../../catalogue";
import { accept, declarations } from "../../support/declarations";
import { GATEWAY, HOST, good } from "./support";

const BEHIND = HOST.replace("route: direct", "route: mtls-passthrough\n    gateway: platform");
const entries = (hosts: string): ReturnType<typeof good>["entries"] => good(`gateways:\n${GATEWAY}hosts:\n${hosts}`).entries;
function registry(text: string): Registry {
    const result = parseRegistry(text, "registry.yaml");
    if (!result.ok) throw new Error(result.errors.join("\n"));
    return result.registry;
}
const errors = (text: string): readonly string[] => {
    const result = parseRegistry(text, "registry.yaml");
    return result.ok ? [] : result.errors;
};

describe("the registry", () => {
    it("holds a stack's hosts, in one order, with each gateway once", () => {
        expect(withStack(new Map(), "egress/prod", entries(BEHIND + BEHIND.replace("partner-api", "b").replace("api.partner", "b.partner")))).to.equal(`# Which stack declares which external host. Written by \`istio-egress register\`; by hand only to remove a stack that is gone.
stacks:
  egress/prod:
    gateways:
      istio-egressgateway.istio-egress.svc.cluster.local:
        consumers: declared
        envoyFilters: allowed
        istioVersion: 1.31.0
        lockdown: off
        namespace: istio-egress
        ports:
          - number: 443
            targetPort: 8443
        selector:
          istio: egressgateway
    hosts:
      b:
        consumers:
          - namespace: payments
        gateway: istio-egressgateway.istio-egress.svc.cluster.local
        host: b.partner.example
        ports:
          - number: 443
            protocol: TLS
        route: mtls-passthrough
      partner-api:
        consumers:
          - namespace: payments
        gateway: istio-egressgateway.istio-egress.svc.cluster.local
        host: api.partner.example
        ports:
          - number: 443
            protocol: TLS
        route: mtls-passthrough
`);
    });

    it("finds another stack's host, at its place in the catalogue, and not one's own", () => {
        const shared = registry(withStack(new Map(), "egress/prod", entries(BEHIND)));
        expect(registryConflicts(entries(BEHIND.replace("partner-api", "mine")), shared, "orders/prod", "registry.yaml")).to.deep.equal([
            'c.yaml:9:3: hosts.mine.host conflicts with stack egress/prod (registry.yaml): "partner-api" of stack egress/prod and "mine" both put api.partner.example on port 443 of the gateway istio-egressgateway.istio-egress.svc.cluster.local: Istio silently drops the later server; make them one declaration.',
        ]);
        expect(registryConflicts(entries(BEHIND), shared, "egress/prod", "registry.yaml")).to.deep.equal([]);
    });

    it("leaves conflicts of other stacks among themselves to them", () => {
        const two = registry(withStack(registry(withStack(new Map(), "a/prod", entries(BEHIND))), "b/prod", entries(BEHIND)));
        expect(registryConflicts(entries(BEHIND.replace("api.partner", "c.partner")), two, "c/prod", "registry.yaml")).to.deep.equal([]);
    });

    it("knows whether it says what a stack declares, and forgets a stack", () => {
        const own = entries(BEHIND), shared = registry(withStack(new Map(), "egress/prod", own));
        expect(isRegistered(shared, "egress/prod", own)).to.equal(true);
        expect(isRegistered(shared, "egress/prod", entries(BEHIND.replace("443", "443").replace("payments }", "orders }")))).to.equal(false);
        expect(isRegistered(shared, "egress/dev", own)).to.equal(false);
        expect([...registry(withoutStack(shared, "egress/prod")).keys()]).to.deep.equal([]);
    });

    it("reads back every declaration as it was written", () => {
        fc.assert(fc.property(declarations, (raw) => {
            const own = [{ name: "host", declaration: accept(raw) }], text = withStack(new Map(), "a/b", own);
            expect(isRegistered(registry(text), "a/b", own)).to.equal(true);
            expect(withStack(registry(text), "a/b", own)).to.equal(text);
        }), { numRuns: 200 });
    });

    it("says what is wrong with a file", () => {
        expect(errors("stacks: {a/b: {host: {}}}")).to.deep.equal(['registry.yaml: stacks["a/b"].host is not a property of a/b: did you mean hosts?']);
        expect(errors("stacks: {a/b: {hosts: {x: {host: a.example.com, route: mtls-passthrough, consumers: [{namespace: a}], gateway: gone}}}}")).to.deep.equal([
            'registry.yaml: stacks."a/b".hosts.x.gateway is "gone", but the stack\'s gateways have none of that name: run `istio-egress register` for that stack.',
        ]);
        expect(errors("stacks: [")[0]).to.match(/^registry\.yaml:1: /);
        expect(errors("5")[0]).to.match(/^registry\.yaml: /);
        expect(errors("")).to.deep.equal([]);
        expect(readRegistry("/nowhere/registry.yaml")).to.deep.equal({ ok: false, errors: ["/nowhere/registry.yaml: the registry does not exist: check the path."] });
    });
});
