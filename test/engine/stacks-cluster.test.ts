// Each environment of stacks/ against a real API server with Istio's kinds: every object reads back as declared, a second up changes nothing.
import { expect } from "chai";
import { startApiServer } from "../support/api-server";
import type { ApiServer, KubernetesObject } from "../support/api-server";
import { STACK_MS, embeddedObjects, objectKey, stackProject } from "./stack-harness";
import type { StackProject } from "./stack-harness";

const GROUP = "/apis/networking.istio.io";

describe("stacks/ against a real API server", function () {
    this.timeout(STACK_MS);
    let server: ApiServer;

    before(async () => server = await startApiServer());
    after(() => server?.stop());

    for (const environment of ["dev", "staging", "prod"]) {
        describe(environment, () => {
            let stack: StackProject;
            let declared: Map<string, KubernetesObject>;

            before(async () => {
                declared = await embeddedObjects(environment);
                await createNamespaces(server, new Set([...declared.values()].map(({ metadata }) => String(metadata?.["namespace"]))));
                stack = await stackProject(environment, server.kubeconfig);
            });
            after(() => stack?.remove());

            it("makes every object, and each reads back as declared", async () => {
                const result = await stack.up();
                expect(result.code, result.stdout + result.stderr).to.equal(0);
                const held = await objectsOf(server, declared);
                expect([...held.keys()].sort()).to.deep.equal([...declared.keys()].sort());
                for (const [key, object] of declared) {
                    expect(held.get(key)?.spec, key).to.deep.equal(object.spec);
                    expect(held.get(key)?.metadata?.["labels"], key).to.include(object.metadata?.["labels"]);
                    expect(held.get(key)?.metadata?.["annotations"], key).to.include(object.metadata?.["annotations"]);
                }
            });

            it("changes nothing the second time", async () => {
                const result = await stack.up("--expect-no-changes");
                expect(result.code, result.stdout + result.stderr).to.equal(0);
            });

            it("leaves nothing after a destroy", async () => {
                const result = await stack.destroy();
                expect(result.code, result.stdout + result.stderr).to.equal(0);
                expect([...(await objectsOf(server, declared)).keys()]).to.deep.equal([]);
                expect(await stack.state()).to.deep.equal([]);
            });
        });
    }
});

async function createNamespaces(server: ApiServer, names: Iterable<string>): Promise<void> {
    for (const name of names) {
        const { status, body } = await server.request("POST", "/api/v1/namespaces", { metadata: { name } });
        if (status !== 201 && status !== 409) throw new Error(`Namespace ${name} cannot be made: ${body.message ?? String(status)}`);
    }
}

/** Everything that the server holds of the kinds and versions that are declared. */
async function objectsOf(server: ApiServer, declared: Map<string, KubernetesObject>): Promise<Map<string, KubernetesObject>> {
    const found = new Map<string, KubernetesObject>();
    const versions = new Set([...declared.values()].map(({ apiVersion }) => apiVersion?.split("/")[1] ?? ""));
    for (const version of versions) {
        const { resources = [] } = (await server.request("GET", `${GROUP}/${version}`)).body as { resources?: { name: string; kind: string }[] };
        const kinds = new Set([...declared.values()].filter(({ apiVersion }) => apiVersion?.endsWith(`/${version}`)).map(({ kind }) => kind));
        for (const { name, kind } of resources.filter((one) => kinds.has(one.kind) && !one.name.includes("/"))) {
            const { items = [] } = (await server.request("GET", `${GROUP}/${version}/${name}`)).body;
            for (const item of items) found.set(objectKey({ ...item, kind }), item);
        }
    }
    return found;
}
