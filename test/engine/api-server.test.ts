// `pulumi up` against a real API server with Istio's kinds: objects as declared, refusals told, nothing left at the end.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";
import { changes, fixtureProject } from "./harness";
import type { Project } from "./harness";

const NAMESPACE = "/apis/networking.istio.io/v1/namespaces/default";

describe("a real API server", function () {
    this.timeout(180_000);
    let server: ApiServer;
    let project: Project;
    let config: string[];

    before(async () => {
        server = await startApiServer();
        project = await fixtureProject("render");
        config = ["-c", `kubeconfig=${await readFile(server.kubeconfig, "utf8")}`, "-c", `hookLog=${path.join(project.folder, "hooks.log")}`];
    });
    after(async () => {
        await project?.remove();
        await server?.stop();
    });

    it("holds what the program declares", async () => {
        expect(changes(await project.must(["up", "--yes", "--skip-preview", ...config]))).to.deep.equal({ created: 4 });
        const entry = (await server.request("GET", `${NAMESPACE}/serviceentries/partner`)).body;
        expect(entry.spec).to.deep.equal({
            hosts: ["api.partner.example"], location: "MESH_EXTERNAL", ports: [{ number: 443, name: "tls", protocol: "TLS" }], resolution: "DNS",
        });
        expect(entry.metadata).to.deep.include({ name: "partner", namespace: "default" });
        expect(entry.metadata?.["annotations"]).to.include({ purpose: "card settlement" });
        const rule = (await server.request("GET", `${NAMESPACE}/destinationrules/partner`)).body;
        expect(rule.spec).to.deep.equal({ host: "api.partner.example", trafficPolicy: { outlierDetection: { maxEjectionPercent: 50 } } });
    });

    it("is left alone by a second up, and updated in place by a change", async () => {
        await project.must(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
        const uid = async (): Promise<unknown> => (await server.request("GET", `${NAMESPACE}/serviceentries/partner`)).body.metadata?.["uid"];
        const before = await uid();
        expect(changes(await project.must(["up", "--yes", "--skip-preview", "-c", "resolution=NONE"]))).to.deep.equal({ updated: 1, unchanged: 3 });
        expect(await uid()).to.equal(before);
    });

    it("refuses what Istio's schema forbids, and the CLI tells why", async () => {
        const result = await project.run(["up", "--yes", "--skip-preview", "-c", "resolution=SOMEHOW"]);
        expect(result.code).to.not.equal(0);
        expect(`${result.stdout}${result.stderr}`).to.match(/spec\.resolution.*SOMEHOW/);
        await project.must(["up", "--yes", "--skip-preview", "-c", "resolution=NONE"]);
    });

    it("is empty after a destroy", async () => {
        expect(changes(await project.must(["destroy", "--yes", "--skip-preview"]))).to.deep.equal({ deleted: 4 });
        for (const kind of ["serviceentries", "destinationrules"]) {
            expect((await server.request("GET", `${NAMESPACE}/${kind}`)).body.items).to.deep.equal([]);
        }
    });
});
