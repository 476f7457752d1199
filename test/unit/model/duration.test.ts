// Go durations in and out.
import { expect } from "chai";
import fc from "fast-check";
import { formatDuration, milliseconds, parseDuration, toSeconds } from "../../../model";

describe("durations", () => {
    const good: readonly (readonly [string, number])[] = [["10s", 10_000], ["1m30s", 90_000], ["250ms", 250], ["1.5s", 1500], [".5s", 500], ["2h", 7_200_000], ["0", 0], ["0s", 0], ["1h2m3s4ms", 3_723_004], ["1500us", 1.5], ["1000000ns", 1]];
    for (const [text, ms] of good) it(`reads ${text}`, () => expect(parseDuration(text)).to.equal(ms));
    for (const text of ["", "10", "10 s", "-1s", "s", "1d", "1m30", "1s ", "Infinitys", "1e3s", "٣s"]) it(`refuses ${JSON.stringify(text)}`, () => expect(parseDuration(text)).to.equal(undefined));

    it("throws where a schema should have refused", () => {
        expect(() => milliseconds("soon")).to.throw(TypeError, '"soon" is not a Go duration such as "10s" or "1m30s".');
    });

    it("writes what it reads again", () => {
        fc.assert(fc.property(fc.integer({ min: 0, max: 400_000_000 }), (ms) => {
            expect(parseDuration(formatDuration(ms))).to.equal(ms);
            expect(parseDuration(toSeconds(ms))).to.be.closeTo(ms, 1e-6);
        }));
    });

    it("writes seconds for manifests and units for people", () => {
        expect([1000, 1500, 90_000, 7].map(toSeconds)).to.deep.equal(["1s", "1.5s", "90s", "0.007s"]);
        expect([0, 250, 10_100, 90_000, 7_200_000, 3_661_000].map(formatDuration)).to.deep.equal(["0s", "250ms", "10.1s", "1m30s", "2h", "1h1m1s"]);
    });
});
