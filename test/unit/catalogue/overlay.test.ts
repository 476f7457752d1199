// Defaults, gateways and files that extend others: what ends up in the declarations, and where errors then point.
import { expect } from "chai";
import { GATEWAY, HOST, good, lines, parse } from "./support";

const BASE = `gateways:
${GATEWAY}defaults: { namespace: egress, gateway: platform, route: mtls-passthrough, failover: { detectionTime: 10s, dnsTtl: 5s } }
hosts:
  partner-api:
    host: api.partner.example
    ports: [{ number: 443 }]
    pool: { membership: fixed, addressesPerAnswer: 2 }
    consumers: [{ namespace: payments }, { namespace: orders }]
    ownership: { owner: team-payments, purpose: card settlement, expires: 2027-06-30 }
  store:
    host: store.partner.example
    route: direct
    pool: { membership: rotating }
    consumers: [{ namespace: reports }]
    ownership: { owner: team-reports, purpose: archive }
`;

const overlay = (text: string): ReturnType<typeof good> => good(`extends: base.yaml\n${text}`, { "base.yaml": BASE });
const errors = (text: string): readonly string[] => lines(parse(`extends: base.yaml\n${text}`, { "base.yaml": BASE }));

describe("catalogue defaults and gateways", () => {
    it("puts defaults under each host and looks its gateway up", () => {
        const [partner, store] = good(BASE).entries;
        expect(partner?.input).to.deep.equal({
            host: "api.partner.example", namespace: "egress", route: "mtls-passthrough",
            ports: [{ number: 443 }],
            pool: { membership: "fixed", addressesPerAnswer: 2 },
            failover: { detectionTime: "10s", dnsTtl: "5s" },
            gateway: {
                namespace: "istio-egress", selector: { istio: "egressgateway" }, serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local",
                ports: [{ number: 443, targetPort: 8443 }], istioVersion: "1.31.0",
            },
            consumers: [{ namespace: "payments" }, { namespace: "orders" }],
            ownership: { owner: "team-payments", purpose: "card settlement", expires: "2027-06-30" },
        });
        expect(partner?.declaration.ports).to.deep.equal([{ number: 443, protocol: "TLS" }]);
        expect(partner?.declaration.gateway?.consumers).to.equal("declared");
        expect(store?.input, "a default gateway is none of a direct host's").not.to.have.property("gateway");
    });

    it("lets a host's own value win, maps deep", () => {
        const [partner] = overlay("hosts: { partner-api: { failover: { dnsTtl: 30s }, route: passthrough } }").entries;
        expect(partner?.declaration.failover).to.deep.equal({ detectionTime: "10s", dnsTtl: "30s" });
        expect(partner?.declaration.route).to.equal("passthrough");
    });

    it("leaves a default gateway out when the route is direct by default as well", () => {
        const { entries } = overlay("defaults: { route: direct }");
        expect(entries.map(({ input }) => [input.route, input.gateway])).to.deep.equal([["direct", undefined], ["direct", undefined]]);
    });

    it("accepts sections that are empty", () => {
        expect(good("gateways:\ndefaults:\nhosts:\n").entries).to.deep.equal([]);
        expect(good(`gateways:\ndefaults: ~\nhosts:\n${HOST}`).entries).to.have.length(1);
    });
});

describe("catalogue overlays", () => {
    it("merge maps deep and replace lists and values", () => {
        const [partner] = overlay(`hosts:
  partner-api:
    ownership: { purpose: refunds }
    consumers: [{ namespace: billing }]
`).entries;
        expect(partner?.declaration.ownership).to.deep.equal({ owner: "team-payments", purpose: "refunds", expires: "2027-06-30" });
        expect(partner?.declaration.consumers).to.deep.equal([{ namespace: "billing" }]);
        expect(partner?.origin, "where it is declared").to.deep.equal({ file: "base.yaml", line: 10, column: 3 });
    });

    it("remove a host, a field, a default and a gateway by null", () => {
        expect(overlay("hosts: { store: null }").entries.map(({ name }) => name)).to.deep.equal(["partner-api"]);
        const [partner] = overlay("hosts: { partner-api: { ownership: { expires: ~ }, failover: null } }").entries;
        expect(partner?.declaration).not.to.have.property("failover");
        expect(partner?.declaration.ownership).to.deep.equal({ owner: "team-payments", purpose: "card settlement" });
        expect(overlay("defaults: { failover: null }").entries[0]?.declaration).not.to.have.property("failover");
        expect(errors("gateways: { platform: null }")).to.deep.equal([
            'base.yaml:8:41: defaults.gateway is "platform", but no gateway is called so: there are none. (host partner-api)',
        ]);
    });

    it("keep null inside a manifest override, where it is JSON merge patch's own", () => {
        const [partner] = overlay("hosts: { partner-api: { manifestOverrides: { DestinationRule/host: { spec: { trafficPolicy: null } } } } }").entries;
        expect(partner?.input.manifestOverrides).to.deep.equal({ "DestinationRule/host": { spec: { trafficPolicy: null } } });
        const files = { "mid.yaml": "extends: base.yaml\nhosts: { partner-api: { manifestOverrides: { Gateway: { spec: { servers: null } } } } }", "base.yaml": BASE };
        const removed = good("extends: mid.yaml\nhosts: { partner-api: { manifestOverrides: { Gateway: null } } }", files);
        expect(removed.entries[0]?.input.manifestOverrides).to.deep.equal({});
    });

    it("change a gateway for all its hosts, and add gateways and hosts", () => {
        const catalogue = overlay(`gateways:
  platform: { namespace: istio-dev, serviceHost: egress.istio-dev.svc.cluster.local, selector: { env: dev } }
hosts:
${HOST.replaceAll("partner", "other")}`);
        expect(catalogue.entries.map(({ name }) => name)).to.deep.equal(["partner-api", "store", "other-api"]);
        expect(catalogue.entries[0]?.declaration.gateway?.selector).to.deep.equal({ istio: "egressgateway", env: "dev" });
        expect(catalogue.entries[2]?.origin).to.deep.equal({ file: "c.yaml", line: 5, column: 3 });
        expect(catalogue.files).to.deep.equal(["base.yaml", "c.yaml"]);
    });

    it("point an error to the file that wrote the value", () => {
        expect(errors("hosts: { partner-api: { outlier: { maxEjectionPercent: 30 } } }")).to.deep.equal([
            "c.yaml:2:56: hosts.partner-api.outlier.maxEjectionPercent is 30, but a pool of 2 addresses ejects one only at 50..99: leave it unset (50) or raise it.",
        ]);
        expect(errors("hosts: { store: { route: passthrough } }\ngateways: { platform: { ports: [{ number: 444, targetPort: 8444 }] } }")).to.deep.equal([
            "base.yaml:12:23: hosts.partner-api.ports[0].number is 443, but the gateway's Service has 444 only: add the port to the gateway and its Service, then to gateway.ports.",
            // The default port is written nowhere, so the host's key stands for it.
            "base.yaml:16:3: hosts.store.ports[0].number is 443, but the gateway's Service has 444 only: add the port to the gateway and its Service, then to gateway.ports.",
        ]);
    });

    it("point a missing property to where it was removed, to the map that lacks it, or to the host's key", () => {
        const start = (text: string): readonly string[] => errors(text).map((line) => line.slice(0, line.indexOf(" is missing")));
        expect(start("hosts: { partner-api: { pool: { addressesPerAnswer: null } } }")).to.deep.equal(["c.yaml:2:53: hosts.partner-api.pool.addressesPerAnswer"]);
        expect(start("hosts: { store: { pool: { membership: fixed } } }")).to.deep.equal(["c.yaml:2:25: hosts.store.pool.addressesPerAnswer"]);
        expect(start(`hosts:\n  new:\n    host: new.partner.example\n    pool:\n      membership: fixed\n    consumers: [{}]\n    ownership: { owner: a, purpose: b }\n`)).to.deep.equal(["c.yaml:7:17: hosts.new.consumers[0].namespace"]);
        expect(start("hosts:\n  new: { host: new.partner.example, consumers: [{ namespace: a }], pool: { membership: rotating } }\n")).to.deep.equal(["c.yaml:3:3: hosts.new.ownership"]);
    });

    it("refuse to change or remove what is not there, since that is a typing error more often than a wish", () => {
        expect(errors("hosts: { partner-ap: { settleTime: 3s }, stor: null }")).to.deep.equal([
            "c.yaml:2:10: hosts.partner-ap has no host, as a new declaration must, and base.yaml, which this file extends, declares none of this name to change: did you mean partner-api? (There are partner-api, store.)",
            "c.yaml:2:48: hosts.stor is null (or empty), which removes what an extended file declares, and none declares this name: write its properties, or remove the line.",
        ]);
    });

    it("resolve each path from the file that names it, over several files", () => {
        const catalogue = good("extends: envs/dev.yaml", { "envs/dev.yaml": "extends: ../base/all.yaml\nhosts: { store: null }", "base/all.yaml": BASE });
        expect(catalogue.files).to.deep.equal(["base/all.yaml", "envs/dev.yaml", "c.yaml"]);
    });

    it("name every file of a circle", () => {
        const files = { "a.yaml": "extends: b.yaml", "b.yaml": "extends: c.yaml" };
        expect(lines(parse("extends: a.yaml", files))).to.deep.equal([
            "b.yaml:1:10: extends leads back to a file that extends this one (c.yaml → a.yaml → b.yaml → c.yaml): remove one of these extends.",
        ]);
    });

    it("end a chain that a link makes endless", () => {
        const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${"x/".repeat(index + 1)}c.yaml`, "extends: x/c.yaml"]));
        expect(lines(parse("extends: x/c.yaml", files)).join()).to.contain("extends makes a chain of more than 20 files: extend fewer.");
    });

    it("report all files' errors, sorted by file and place", () => {
        const bad = BASE.replace("fixed,", "fixd,");
        const result = lines(parse("extends: base.yaml\nhosts: { store: { rout: direct }, partner-api: { hots: x } }", { "base.yaml": bad }));
        expect(result.map((line) => line.slice(0, line.indexOf(" is ")))).to.deep.equal([
            "base.yaml:13:25: hosts.partner-api.pool.membership", "c.yaml:2:19: hosts.store.rout", "c.yaml:2:50: hosts.partner-api.hots",
        ]);
    });
});
