// `npm run up -- ENVIRONMENT --context NAME`: nothing is written to a cluster that is not ready.
import { expect } from "chai";
import { repository } from "../../tools/support/places";
import { run } from "../../tools/support/process";
import { startApiServer } from "../support/api-server";
import type { ApiServer } from "../support/api-server";

describe("up into a cluster", function () {
    this.timeout(180_000);
    let server: ApiServer;

    before(async () => server = await startApiServer());
    after(() => server?.stop());

    it("asks the preflight first, and writes nothing when something is missing", async () => {
        const env = { ...process.env, KUBECONFIG: server.kubeconfig };
        const { code, stdout, stderr } = await run(process.execPath, ["--import", "tsx", "tools/up.ts", "dev", "--context", "test"], { cwd: repository, env, timeout: 120_000 });
        expect(code).to.equal(1);
        expect(stdout).to.match(/Service istio-system\/istio-egressgateway/);
        expect(stderr).to.contain("up: the cluster of context test is not ready for dev; nothing was written.");
        expect((await server.request("GET", "/apis/networking.istio.io/v1/serviceentries")).body.items).to.deep.equal([]);
    });

    it("names the contexts that there are", async () => {
        const env = { ...process.env, KUBECONFIG: server.kubeconfig };
        const { code, stdout, stderr } = await run(process.execPath, ["--import", "tsx", "tools/up.ts", "dev", "--context", "none"], { cwd: repository, env, timeout: 120_000 });
        expect(code).to.equal(1);
        expect(stdout + stderr).to.match(/context.*none/).and.to.match(/test/);
    });
});
