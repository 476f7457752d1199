// Every field of a declaration changed once, all in one `pulumi up`: in place wherever the object keeps its name, and nothing else touched.
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { SAMPLES } from "../../components/samples";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";
import { LIFECYCLE_MS, declared, expectExactly, expectObject, startLife } from "./lifecycle";
import type { Life, Objects } from "./lifecycle";
import { FIELD_CHANGES, UNCHANGEABLE, planned } from "./lifecycle-fields";
import { Journal } from "./lifecycle-journal";
import type { Entry } from "./lifecycle-journal";
import { unsupported } from "./lifecycle-moments";

/** Hundreds of objects, and no state that outlives the test. */
const FAST = { env: { PULUMI_SKIP_CHECKPOINTS: "true" } };

describe("a change of each field", function () {
    this.timeout(LIFECYCLE_MS);
    const pairs = FIELD_CHANGES.map(planned);
    const plan = { hosts: pairs.map(({ after }) => after) };
    let server: ApiServer;
    let life: Life;
    let old: Objects;
    let held: Objects;
    let entries: readonly Entry[];

    before(async () => {
        server = await startApiServer();
        life = await startLife(server);
        const first = await life.up({ hosts: pairs.map(({ before }) => before) }, [], FAST);
        expect(first.code, first.stdout + first.stderr).to.equal(0);
        old = await life.held();
        const second = await Journal.during(server, () => life.up(plan, [], FAST));
        expect(second.result.code, second.result.stdout + second.result.stderr).to.equal(0);
        held = await life.held();
        entries = second.entries;
    });
    after(async () => {
        await life?.remove();
        await server?.stop();
    });

    it("is tried for every field that can change", () => {
        // How a gateway is deployed is EgressGateway's to say, not a declaration's: gateway.test.ts.
        const ofGateway = (field: string): boolean => field === "gateway.mode" || field.startsWith("gateway.deployment");
        const fields = Object.keys(SAMPLES).filter((field, _, all) => !ofGateway(field) && !all.some((other) => other.startsWith(`${field}.`) || other === `${field}*`));
        const tried = new Set(FIELD_CHANGES.map(({ field }) => field.split(" ")[0]));
        expect([...tried, ...UNCHANGEABLE].sort()).to.deep.equal(fields.sort());
    });

    it("leaves what is declared, and nothing else", () => expectExactly(life, plan.hosts));

    it("would be noticed if it came in the wrong order", () => {
        const { before, after } = pairs[0] ?? expect.fail("no change");
        expect(unsupported(old, [...entries].reverse(), before, after)).to.not.be.empty;
    });

    for (const { field, before, after } of pairs) {
        it(`touches what it must, in place: ${field}`, () => {
            const from = declared([before]), to = declared([after]);
            for (const [key, object] of to) {
                expectObject(held.get(key), object);
                if (!from.has(key)) continue;
                expect(held.get(key)?.metadata?.["uid"], `${key} is the same object`).to.equal(old.get(key)?.metadata?.["uid"]);
                const isTouched = held.get(key)?.metadata?.["resourceVersion"] !== old.get(key)?.metadata?.["resourceVersion"];
                expect(isTouched, `${key} is written`).to.equal(!isDeepStrictEqual(from.get(key), object));
            }
            expect([...from.keys()].filter((key) => !to.has(key) && held.has(key)), "objects that should be gone").to.deep.equal([]);
        });

        it(`never has the mesh leg without the rest: ${field}`, () => {
            expect(unsupported(old, entries, before, after)).to.deep.equal([]);
        });
    }
});
