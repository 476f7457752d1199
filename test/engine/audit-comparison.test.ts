// The page that sets the audit beside the real istioctl analyze is what both say now.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { PAGE, comparison } from "../../tools/audit-comparison";

describe("docs/audit-comparison.md", function () {
    this.timeout(600_000);

    it("is current; npm run compare writes it", async () => {
        expect(readFileSync(PAGE, "utf8")).to.equal(await comparison());
    });
});
