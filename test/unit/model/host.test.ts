// Host names: what is accepted and how it is normalised, what is refused and with which reason.
import { expect } from "chai";
import fc from "fast-check";
import { hostMatches, normaliseHost, parseHost } from "../../../model";

const GOOD: readonly (readonly [text: string, name: string, wildcard: boolean])[] = [
    ["api.partner.example", "api.partner.example", false],
    ["API.Partner.Example.", "api.partner.example", false],
    ["xn--3e0b707e.example", "xn--3e0b707e.example", false],
    ["*.partner.example", "*.partner.example", true],
    ["1.example", "1.example", false],
    [`${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`, false],
    ["svc.partner.example", "svc.partner.example", false],
];

const BAD: readonly (readonly [text: string, reason: string])[] = [
    ["", "it is empty: name the external host, such as api.partner.example"],
    ["*", "it names every host at once: list the hosts that the applications need"],
    ["10.0.0.1", "it is an IP literal, which has no DNS answer and no SNI to route by: declare the host name behind it"],
    ["2001:db8::1", "it is an IP literal, which has no DNS answer and no SNI to route by: declare the host name behind it"],
    ["[2001:db8::1]", "it is an IP literal, which has no DNS answer and no SNI to route by: declare the host name behind it"],
    ["0x7f.1", "it is a number that resolvers read as an IP address: declare the host name behind it"],
    ["169.254.169.254", "it is a cloud metadata address, which hands out credentials of the node; no egress may lead there"],
    ["metadata.google.internal", "it is a cloud metadata service, which hands out credentials of the node; no egress may lead there"],
    ["localhost", "it is this machine (RFC 6761), not an external host: remove the declaration"],
    ["db.localhost.", "it is this machine (RFC 6761), not an external host: remove the declaration"],
    ["printer.local", "it is resolved by multicast on the local link (RFC 6762), never by a DNS server, not an external host: remove the declaration"],
    ["api.payments.svc", "it is a name of the cluster itself, not an external host: remove the declaration"],
    ["api.payments.svc.cluster.local", "it is a name of the cluster itself, not an external host: remove the declaration"],
    ["https://api.partner.example", "it is a URL or path: give the host name only"],
    ["api.partner.example:443", "it carries a port: give the port under ports"],
    ["api..example", "it has an empty label (two dots, or a dot at an end): remove the extra dot"],
    [".example.com", "it has an empty label (two dots, or a dot at an end): remove the extra dot"],
    ["api.*.example", "it has a * that is not the whole first label, which Istio does not accept: use *.partner.example or exact names"],
    ["a*.example", "it has a * that is not the whole first label, which Istio does not accept: use *.partner.example or exact names"],
    ["한국.example", 'its label "한국" is not ASCII, and SNI carries ASCII only: write it in punycode (xn--…)'],
    ["a_b.example", 'its label "a_b" is not letters, digits and inner hyphens (RFC 1123): check the name "a_b.example"'],
    ["-a.example", 'its label "-a" is not letters, digits and inner hyphens (RFC 1123): check the name "-a.example"'],
    [`${"a".repeat(64)}.example`, `its label "${"a".repeat(64)}" has 64 characters, and DNS carries 63: check the name`],
    ["*.com", "it covers a whole top-level domain: use *.partner.example or exact names"],
    ["*.google.internal", "it is a cloud metadata service, which hands out credentials of the node; no egress may lead there"],
    ["a.1", 'its last label "1" is all digits, which Istio rejects: check the name'],
    ["partner", "it has a single label, which a pod's DNS search list turns into another name: give the fully qualified name"],
];

describe("host names", () => {
    for (const [text, name, wildcard] of GOOD) it(`accepts ${text}`, () => expect(parseHost(text)).to.deep.equal({ ok: true, host: { name, wildcard } }));
    for (const [text, reason] of BAD) it(`refuses ${JSON.stringify(text)}`, () => expect(parseHost(text)).to.deep.equal({ ok: false, reason }));

    it("refuses a name of more than 253 characters", () => {
        const label = "a".repeat(60);
        expect(parseHost(`${label}.${label}.${label}.${label}.${"a".repeat(9)}`)).to.deep.equal({ ok: true, host: { name: `${label}.${label}.${label}.${label}.${"a".repeat(9)}`, wildcard: false } });
        expect(parseHost(`${label}.${label}.${label}.${label}.${"a".repeat(10)}`)).to.deep.equal({ ok: false, reason: "it has 254 characters, and DNS carries 253: check the name" });
    });

    it("answers at once, however long the name", () => {
        for (const text of [":".repeat(100_000) + "g", "a".repeat(100_000), "a.".repeat(50_000), "0x".repeat(50_000)]) expect(parseHost(text)).to.have.property("ok", false);
    });

    it("never throws, and what it accepts is in normal form", () => {
        fc.assert(fc.property(fc.oneof(fc.string(), fc.domain(), fc.ipV4(), fc.ipV6(), fc.webUrl()), (text) => {
            const verdict = parseHost(text);
            if (verdict.ok) expect(parseHost(verdict.host.name)).to.deep.equal(verdict);
            else expect(verdict.reason).to.match(/\S/);
        }));
    });

    it("has one spelling, whatever the letters", () => fc.assert(fc.property(fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom("API.partner.example.", "api.partner.example", "K.example", "İ.example.", "", ".")), (text) => {
        expect(normaliseHost(text)).to.equal(text.toLowerCase().replace(/\.$/, ""));
    })));

    it("matches patterns by exact name or by everything below a wildcard", () => {
        expect(hostMatches("API.partner.example.", "api.partner.example")).to.equal(true);
        expect(hostMatches("*.partner.example", "api.eu.partner.example")).to.equal(true);
        expect(hostMatches("*.partner.example", "partner.example")).to.equal(false);
        expect(hostMatches("*.partner.example", "apipartner.example")).to.equal(false);
        expect(hostMatches("partner.example", "api.partner.example")).to.equal(false);
    });
});
