// Each environment of stacks/ on the real CLI, rendered: its files, no change the second time, one change as one update, a violation refused.
import { isDeepStrictEqual } from "node:util";
import { version as providerVersion } from "@pulumi/kubernetes/package.json";
import { expect } from "chai";
import { expectGolden } from "./golden";
import { changes, filesUnder } from "./harness";
import { STACK_MS, embeddedObjects, objectsIn, stackProject } from "./stack-harness";
import type { StackProject } from "./stack-harness";

/** A fixed pool that every environment has. */
const FIXED = "settlement";
/** A rotating pool that every environment has. */
const ROTATING = "saas-billing";

for (const environment of ["dev", "staging", "prod"]) {
    describe(`stacks/, ${environment}, rendered by the real CLI`, function () {
        this.timeout(STACK_MS);
        let stack: StackProject;

        before(async () => stack = await stackProject(environment));
        after(() => stack?.remove());

        it("renders the known files, with the pinned provider", async () => {
            const result = await stack.up();
            expect(result.code, result.stdout + result.stderr).to.equal(0);
            await expectGolden(environment, await filesUnder(stack.rendered));
            const provider = (await stack.state()).find(({ type }) => type === "pulumi:providers:kubernetes");
            expect(provider?.inputs).to.include({ version: providerVersion });
        });

        it("renders the same objects as the embedded engine", async () => {
            expect(Object.fromEntries(await objectsIn(stack.rendered))).to.deep.equal(Object.fromEntries(await embeddedObjects(environment)));
        });

        it("changes nothing the second time", async () => {
            const result = await stack.up("--expect-no-changes");
            expect(result.code, result.stdout + result.stderr).to.equal(0);
        });

        it("updates the one object of a changed field", async () => {
            const before = await objectsIn(stack.rendered);
            const result = await stack.up(...await stack.withHosts({ [ROTATING]: { connectTimeout: "2s" } }));
            expect(result.code, result.stdout + result.stderr).to.equal(0);
            const { updated, unchanged, ...others } = changes(result);
            // The object, and the two components whose inputs changed: the host and the catalogue (its file has another name here).
            expect({ updated, others }).to.deep.equal({ updated: 3, others: {} });
            expect(unchanged).to.be.above(40);
            const changed = [...await objectsIn(stack.rendered)].filter(([key, object]) => !isDeepStrictEqual(object, before.get(key)));
            expect(changed.map(([, { kind, spec }]) => [kind, connectTimeout(spec)])).to.deep.equal([["DestinationRule", "2s"]]);
        });

        it("fails the preview of a round robin forced on a fixed pool", async () => {
            const result = await stack.preview(...await stack.withHosts({ [FIXED]: { resolution: "DNS_ROUND_ROBIN" } }));
            expect(result.code).to.not.equal(0);
            expect(result.stdout).to.match(/\[mandatory\] \[severity: high\] +logical-dns-on-small-pool/);
            expect(result.stdout).to.match(/E201 ServiceEntry egress\/\S+: spec\.resolution is DNS_ROUND_ROBIN, but the pool behind \S+ is fixed: /);
        });
    });
}

function connectTimeout(spec: unknown): string | undefined {
    const { trafficPolicy } = spec as { trafficPolicy?: { connectionPool?: { tcp?: { connectTimeout?: string } } } };
    return trafficPolicy?.connectionPool?.tcp?.connectTimeout;
}
