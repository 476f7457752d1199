// The ejection guard against Envoy's rule, for every pool and every percent.
import { expect } from "chai";
import { GuardVerdict, ejectable, judgeGuard, safeBand } from "../../../model";

/** Envoy's rule, step by step: eject one more while 100 * (ejected + 1) / hosts <= max_ejection_percent. */
function envoyEjects(hosts: number, max: number): number {
    const percent = max === 0 ? 10 : max;
    let ejected = 0;
    while (ejected < hosts && (100 * (ejected + 1)) / hosts <= percent) ejected++;
    return ejected;
}

/** Envoy's rule of panic, with its overprovisioning factor of 140 %. */
function envoyPanics(hosts: number, ejected: number, threshold: number): boolean {
    const healthy = hosts - ejected;
    return Math.floor((140 * healthy) / hosts) < 100 && (healthy / hosts) * 100 < threshold;
}

const POOLS = Array.from({ length: 100 }, (_, index) => index + 1), PERCENTS = Array.from({ length: 101 }, (_, index) => index);

describe("ejection guard", () => {
    it("counts what Envoy ejects, for N = 1..100 and max = 0..100", () => {
        for (const hosts of POOLS) for (const max of PERCENTS) expect(ejectable(hosts, max), `${hosts} hosts, ${max} %`).to.equal(envoyEjects(hosts, max));
    });

    it("takes unset for Envoy's own 10 %", () => {
        expect([9, 10, 20].map((hosts) => ejectable(hosts, undefined))).to.deep.equal([0, 1, 2]);
        expect(ejectable(9, 0)).to.equal(0);
    });

    it("has a safe band in which one is ejected and never all, and none for one address", () => {
        expect(safeBand(1)).to.equal(undefined);
        for (const hosts of POOLS.slice(1)) {
            const band = safeBand(hosts);
            for (const max of PERCENTS) {
                const inBand = band !== undefined && max >= band.min && max <= band.max;
                const works = max > 0 && envoyEjects(hosts, max) >= 1 && envoyEjects(hosts, max) < hosts;
                expect(inBand, `${hosts} hosts, ${max} %`).to.equal(works);
            }
        }
    });

    it("gives the verdicts that the rules give, for N = 1..100, max = 0..100 and minHealthPercent on both sides of each bound", () => {
        for (const hosts of POOLS) for (const max of PERCENTS) for (const health of [0, 1, 50, 51, 66, 67, 100]) {
            const expected: GuardVerdict[] = [];
            const sizes = POOLS.filter((size) => size >= 2 && size <= hosts), dead = sizes.filter((size) => envoyEjects(size, max) === 0 || envoyPanics(size, 1, health));
            if (envoyEjects(hosts, max) === 0) expected.push(GuardVerdict.Inert);
            else if (hosts > 1 && envoyPanics(hosts, 1, health)) expected.push(GuardVerdict.UndoneByPanic);
            else if (dead.length > 0) expected.push(GuardVerdict.InertAfterWithdrawal);
            if (health === 0 && envoyEjects(hosts, max) === hosts) expected.push(GuardVerdict.CanEmptyThePool);
            else if (health === 0 && hosts >= 2 && envoyEjects(hosts, max) > 0) expected.push(GuardVerdict.CanLeaveEjectedOnly);
            const guard = judgeGuard(hosts, max, health), wanted = expected.length === 0 ? [GuardVerdict.Safe] : expected;
            if (guard.verdicts.join() !== wanted.join() || guard.inertSizes.join() !== dead.join()) {
                expect({ verdicts: guard.verdicts, inertSizes: guard.inertSizes }, `${hosts} hosts, ${max} %, minHealthPercent ${health}`).to.deep.equal({ verdicts: wanted, inertSizes: dead });
            }
        }
    });

    it("knows that a high minHealthPercent undoes the first ejection", () => {
        expect(judgeGuard(2, 50, 50).verdicts).to.deep.equal([GuardVerdict.Safe]);
        expect(judgeGuard(2, 50, 51).verdicts).to.deep.equal([GuardVerdict.UndoneByPanic]);
        expect(judgeGuard(4, 50, 100)).to.deep.include({ verdicts: [GuardVerdict.InertAfterWithdrawal], inertSizes: [2, 3] });
    });

    it("is safe by default for every pool of two or more, and inert by arithmetic for one", () => {
        for (const hosts of POOLS.slice(1)) expect(judgeGuard(hosts, 50, 1).verdicts).to.deep.equal([GuardVerdict.Safe]);
        expect(judgeGuard(1, 50, 1)).to.deep.equal({ effectivePercent: 50, ejectable: 0, inertSizes: [], verdicts: [GuardVerdict.Inert] });
    });

    it("knows that the exact minimum for three is dead for two, and that panic routing keeps 100 % harmless", () => {
        expect(judgeGuard(3, 34, 1)).to.deep.equal({ effectivePercent: 34, ejectable: 1, inertSizes: [2], verdicts: [GuardVerdict.InertAfterWithdrawal] });
        expect(judgeGuard(2, 100, 0).verdicts).to.deep.equal([GuardVerdict.CanEmptyThePool]);
        expect(judgeGuard(2, 100, 1).verdicts).to.deep.equal([GuardVerdict.Safe]);
        expect(judgeGuard(2, 50, undefined).verdicts).to.deep.equal([GuardVerdict.CanLeaveEjectedOnly]);
    });
});
