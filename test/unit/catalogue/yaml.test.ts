// YAML as such: what is a text, what is refused before the model sees it, and what a syntax error leaves certain.
import { expect } from "chai";
import { MAX_FILE_BYTES, decode } from "../../../catalogue/source";
import { GATEWAY, HOST, good, lines, parse } from "./support";

const withPurpose = (purpose: string): string => `hosts:\n${HOST.replace("card settlement", purpose)}`;
const purposeOf = (text: string): string | undefined => good(text).entries[0]?.declaration.ownership.purpose;
const errors = (text: string | Uint8Array): readonly string[] => lines(parse("extends: x.yaml", { "x.yaml": text }));

describe("catalogue texts", () => {
    it("takes as texts what YAML 1.1 would read as true, false or dates", () => {
        for (const text of ["yes", "no", "on", "off", "y", "2027-06-30", "12:30:45", "1_000", "0b11"]) expect(purposeOf(withPurpose(text))).to.equal(text);
        expect(purposeOf(`%YAML 1.1\n---\n${withPurpose("yes")}`)).to.equal("yes");
    });

    it("says to quote what YAML reads as something else, from the text in the file", () => {
        for (const [text, reading] of [["1.30", "the number 1.3"], ["0o17", "the number 15"], ["1e3", "the number 1000"], ["true", "true"], [".inf", "the number Infinity"]] as const) {
            expect(lines(parse(withPurpose(text)))).to.deep.equal([
                `c.yaml:8:49: hosts.partner-api.ownership.purpose is written ${text} without quotes, which YAML reads as ${reading}, but must be a text: write "${text}".`,
            ]);
            expect(purposeOf(withPurpose(`"${text}"`)), "quoted").to.equal(text);
        }
    });

    it("does not say to quote what would be wrong in quotes as well", () => {
        expect(lines(parse(`hosts:\n${HOST}    connectTimeout: 5\n`)).join()).to.match(/^c\.yaml:9:21: hosts\.partner-api\.connectTimeout is 5, but must be a text\. /);
    });

    it("reads byte order marks and Windows line ends, with the same positions", () => {
        const broken = `${withPurpose("a")}    hots: x\n`, plain = lines(parse(broken));
        expect(plain).to.have.length(1);
        expect(lines(parse(`\uFEFF${broken.replaceAll("\n", "\r\n")}`))).to.deep.equal(plain);
    });

    it("shares values by anchors, and keys by merge keys", () => {
        const { entries } = good(`hosts:
  first: &first
    host: first.partner.example
    namespace: egress
    route: direct
    pool: &pool { membership: fixed, addressesPerAnswer: 2 }
    consumers: [{ namespace: payments }]
    ownership: { owner: a, purpose: b, expires: 2027-01-01 }
  second:
    <<: *first
    host: second.partner.example
    pool: { <<: [{ addressesPerAnswer: 4 }, *pool], membership: fixed }
`);
        expect(entries[1]?.declaration.host).to.equal("second.partner.example");
        expect(entries[1]?.declaration.pool).to.deep.equal({ membership: "fixed", addressesPerAnswer: 4 });
        expect(entries[1]?.declaration.ownership).to.deep.equal(entries[0]?.declaration.ownership);
    });

    it("points to the anchored value when it is wrong, and to the alias when it has no anchor", () => {
        const second = `  second:
    host: second.partner.example
    namespace: egress
    route: direct
    pool: *pool
    consumers: *consumer
    ownership: { owner: a, purpose: b }
`;
        const first = HOST.replace("pool: {", "pool: &pool {").replace("fixed", "fixd").replace("[{", "&consumers [{");
        expect(lines(parse(`hosts:\n${first}${second}`)).map((line) => line.replace(/, but.*/, ""))).to.deep.equal([
            'c.yaml:6:31: hosts.partner-api.pool.membership is "fixd"',
            'c.yaml:6:31: hosts.second.pool.membership is "fixd"',
            "c.yaml:14:16: hosts.second.consumers is the alias *consumer, and no anchor &consumer stands above it: did you mean *consumers?",
        ]);
    });

    it("gives a merged-in value up for a null of its own", () => {
        const { entries } = good(`hosts:\n${HOST.replace("ownership: {", "ownership: &o { expires: 2027-01-01,")}  second:\n    host: b.partner.example\n    namespace: egress\n    route: direct\n    pool: { membership: rotating }\n    consumers: [{ namespace: a }]\n    ownership: { <<: *o, expires: null }\n`);
        expect(entries[1]?.declaration.ownership).to.deep.equal({ owner: "team-payments", purpose: "card settlement" });
    });

    it("keeps what stands before a syntax error and is certain, and says nothing of what may follow from it", () => {
        const text = `hosts:\n${HOST.replace("host: api", "hots: api").replace("route: direct", "route: drect")}  later: { wrong: 1 }\n  broken: "\n`;
        expect(lines(parse(text)).map((line) => line.replace(/(: did| use|, but).*/, ""))).to.deep.equal([
            "c.yaml:3:5: hosts.partner-api.hots is not a property of a declaration",
            'c.yaml:5:12: hosts.partner-api.route is "drect"',
            "c.yaml:9:12: hosts.later.wrong is not a property of a declaration:",
            "c.yaml:10:11: this quote is never closed: add the closing one where the text ends.",
        ]);
    });

    it("does not throw over a thousand of levels", () => {
        for (const text of [`hosts: ${"[".repeat(1000)}`, "- ".repeat(1000), `hosts: ${"{a: ".repeat(1000)}"`]) expect(parse(text).ok).to.equal(false);
    });

    it("names at most a hundred syntax errors", () => {
        const found = lines(parse("a: b: {c\n".repeat(150)));
        expect(found.filter((line) => line.includes("not valid YAML")).length).to.be.at.most(100);
        expect(found.join()).to.match(/\d+ more follow\./);
    });
});

describe("catalogue bytes", () => {
    it("refuses what is no UTF-8 text, at the place", () => {
        expect(errors(Buffer.concat([Buffer.from("# 한글 \uFFFD\n# caf"), Buffer.from([0xe9, 0x20])]))).to.deep.equal(["x.yaml:2:6: the file is not UTF-8 from here on: save it as UTF-8."]);
        expect(errors(Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff]))).to.deep.equal(["x.yaml:1:2: the file is a binary file, not a text: name a YAML file."]);
        expect(errors(Buffer.from("\uFEFFhosts: {}", "utf16le"))).to.deep.equal(["x.yaml:1:1: the file is UTF-16, not UTF-8: save it as UTF-8."]);
        expect(errors("hosts: {}\n#\u0000")).to.deep.equal(["x.yaml:2:2: the file holds the control character U+0000 here, which no YAML text may: name a YAML file, or remove the character."]);
    });

    it("refuses a file above 10 MB, and accepts one of 10 MB", () => {
        const comment = (bytes: number): Buffer => Buffer.concat([Buffer.from("#"), Buffer.alloc(bytes - 1, "x")]);
        expect(decode(comment(MAX_FILE_BYTES)).ok).to.equal(true);
        expect(errors(comment(MAX_FILE_BYTES + 1))).to.deep.equal(["x.yaml:1:1: the file has 10,000,001 bytes, and a catalogue has at most 10,000,000: split it over several catalogues."]);
    });

    it("accepts a replacement character that the file itself holds", () => {
        expect(decode(Buffer.from("# \uFFFD ok"))).to.deep.equal({ ok: true, text: "# \uFFFD ok" });
    });
});

describe("catalogue gateways", () => {
    it("judges a gateway that no host names", () => {
        expect(lines(parse(`gateways:\n${GATEWAY.replace("1.31.0", "1.30")}`))).to.deep.equal([
            'c.yaml:7:19: gateways.platform.istioVersion is written 1.30 without quotes, which YAML reads as the number 1.3, but must be a text: write "1.30".',
        ]);
    });

    it("reports a shared gateway once, with the hosts", () => {
        const hosts = ["a", "b", "c", "d", "e"].map((name) => HOST.replace("partner-api", name).replace("api.", `${name}.`).replace("route: direct", "route: passthrough\n    gateway: platform")).join("");
        expect(lines(parse(`gateways:\n${GATEWAY.replace("443,", "0,")}hosts:\n${hosts}`))).to.deep.equal([
            "c.yaml:6:23: gateways.platform.ports[0].number is 0, but must be 1 or more. The port of the gateway's Service. (hosts a, b, c and 2 more)",
        ]);
    });

    it("refuses a gateway that a direct host names itself", () => {
        expect(lines(parse(`gateways:\n${GATEWAY}hosts:\n${HOST}    gateway: platform\n`))).to.deep.equal([
            "c.yaml:16:5: hosts.partner-api.gateway has no effect with route direct: remove it, or choose route mtls-passthrough.",
        ]);
    });
});
