// From a kubeconfig to an answer: which cluster is meant, and what is said when it cannot be reached. Servers of its own on loopback.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { causeOf } from "../../../cli/preflight/causes";
import { type Client, Cluster } from "../../../cli/preflight/client";
import { type KubeconfigOptions, chooseCluster } from "../../../cli/preflight/kubeconfig";
import { shownPath } from "../../../cli/paths";

describe("the way to the API server", () => {
    let client: Client, folder: string;
    const servers: Server[] = [];

    before(async () => {
        client = await import("@kubernetes/client-node");
        folder = mkdtempSync(join(tmpdir(), "istio-egress-"));
    });
    after(() => {
        rmSync(folder, { recursive: true, force: true });
        for (const server of servers) {
            server.closeAllConnections();
            server.close();
        }
    });

    /** A kubeconfig with one context per name, each on its own cluster. */
    function kubeconfig(name: string, contexts: readonly string[], changes: object = {}): string {
        const file = join(folder, name);
        writeFileSync(file, stringify({
            apiVersion: "v1", kind: "Config", "current-context": contexts[0],
            clusters: contexts.map((one) => ({ name: one, cluster: { server: `https://${one}.${name}.example` } })),
            users: contexts.map((one) => ({ name: one, user: { token: "x" } })),
            contexts: contexts.map((one) => ({ name: one, context: { cluster: one, user: one } })),
            ...changes,
        }));
        return file;
    }

    const choose = (options: KubeconfigOptions): string => {
        const chosen = chooseCluster(client, { environment: {}, ...options });
        return chosen.ok ? `${chosen.context} ${chosen.server}` : `${chosen.cause.text} → ${chosen.cause.fix}`;
    };

    it("takes a file, a context, and KUBECONFIG's list by kubectl's rules", () => {
        const one = kubeconfig("one", ["dev", "prod"]), two = kubeconfig("two", ["dev", "test"]), gone = join(folder, "gone");
        expect(choose({ kubeconfig: one })).to.equal("dev https://dev.one.example");
        expect(choose({ kubeconfig: one, context: "prod" })).to.equal("prod https://prod.one.example");
        const environment = { KUBECONFIG: [gone, one, "", two].join(delimiter) };
        expect(["dev", "prod", "test"].map((context) => choose({ environment, context }))).to.deep.equal(["dev https://dev.one.example", "prod https://prod.one.example", "test https://test.two.example"]);
        expect(choose({ environment })).to.equal("dev https://dev.one.example");
        const plain = chooseCluster(client, { kubeconfig: kubeconfig("plain", ["dev"], { clusters: [{ name: "dev", cluster: { server: "http://127.0.0.1:8001" } }] }) });
        expect(plain.ok && plain.config.getCurrentCluster()?.skipTLSVerify).to.equal(true);
    });

    it("says what a kubeconfig lacks", () => {
        const file = kubeconfig("lacks", ["dev", "prod"]), gone = join(folder, "gone"), shown = shownPath(file);
        const none = kubeconfig("none", [], { "current-context": "" }), broken = join(folder, "broken");
        const noCluster = kubeconfig("no-cluster", ["dev"], { clusters: [] }), noUser = kubeconfig("no-user", ["dev"], { users: [] });
        writeFileSync(broken, "clusters: [");
        expect(choose({ kubeconfig: gone })).to.equal(`there is no kubeconfig: ${shownPath(gone)} does not exist → Name one with --kubeconfig, or get it from where the cluster is managed.`);
        expect(choose({ kubeconfig: file, context: "test" })).to.equal(`there is no context "test" in ${shown}: it has dev and prod → Choose one of these with --context, or in the environment's istio-egress:context.`);
        expect(choose({ kubeconfig: none })).to.equal(`no context is current in ${shownPath(none)}: it has none → Choose one with --context, or with kubectl config use-context.`);
        expect(choose({ kubeconfig: noCluster })).to.equal(`the context "dev" names the cluster "dev", which ${shownPath(noCluster)} does not have → Correct the context, or choose another with --context.`);
        expect(choose({ kubeconfig: noUser })).to.equal(`the context "dev" names the user "dev", which ${shownPath(noUser)} does not have → Correct the context, or choose another with --context.`);
        expect(choose({ kubeconfig: broken })).to.match(/^the kubeconfig .*broken cannot be read: .+ → Correct the file, or name another with --kubeconfig\.$/);
        writeFileSync(broken, "");
        expect(choose({ kubeconfig: broken })).to.match(/^the kubeconfig .*broken cannot be read: /);
    });

    /** A cluster behind a server of this test, with short limits. */
    async function behind(answer: RequestListener, user: object = {}): Promise<Cluster> {
        const server = createServer(answer);
        servers.push(server);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return at(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, user);
    }
    function at(server: string, user: object = {}): Cluster {
        const config = new client.KubeConfig();
        config.loadFromString(stringify({ "current-context": "c", clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }], users: [{ name: "c", user }], contexts: [{ name: "c", context: { cluster: "c", user: "c" } }] }));
        return new Cluster(client, config, { callMs: 300, allMs: 60_000, atOnce: 2 });
    }
    const answering = (status: number, body: string, type = "application/json"): RequestListener => (_, response) => {
        response.writeHead(status, { "content-type": type }).end(body);
    };
    async function cause(cluster: Cluster): Promise<string> {
        try {
            await cluster.version();
            return "none";
        } catch (error) {
            const { text, fix } = causeOf(error);
            return `${text} → ${fix}`;
        }
    }

    it("names the cause of a refusal", async () => {
        const message = (text: string): string => JSON.stringify({ kind: "Status", message: text });
        expect(await cause(await behind(answering(200, '{"gitVersion":"v1.33.0"}')))).to.equal("none");
        expect(await cause(await behind(answering(401, message("Unauthorized"))))).to.equal("the credentials were not accepted (401) → Log in again, or correct the user in the kubeconfig.");
        expect(await cause(await behind(answering(403, message("no"))))).to.equal("the request was refused (403: no) → Ask whoever manages the cluster for access.");
        expect(await cause(await behind(answering(403, message('User "system:anonymous" cannot'))))).to.equal('the request was refused (403: User "system:anonymous" cannot) → The user in the kubeconfig has no credentials: log in, or add them.');
        expect(await cause(await behind(answering(404, "404 page not found", "text/plain")))).to.equal("the answer is not that of a Kubernetes API server (404) → Check the server's address in the kubeconfig.");
        expect(await cause(await behind(answering(503, message("etcd is away"))))).to.equal("the API server answered 503 (etcd is away) → Look at the API server's own state (kubectl get --raw /readyz?verbose).");
        expect(await cause(await behind(answering(429, "")))).to.equal("the API server is overloaded (429) → Run the preflight again.");
        expect(await cause(await behind(answering(200, "<html>Log in</html>", "text/html")))).to.equal("the answer is not that of a Kubernetes API server → Check the server's address in the kubeconfig: a proxy or a login page may answer there.");
    });

    it("names the cause when nobody answers", async () => {
        const silent = await behind(() => undefined), before = Date.now();
        expect(await cause(silent)).to.match(/^there was no answer in time → Check the network/);
        expect(Date.now() - before).to.be.lessThan(3000);
        expect(await cause(at("http://127.0.0.1:1"))).to.equal("the connection was refused: nothing listens at this address → Start the cluster, or choose another context (--context).");
        expect(await cause(at("https://no-such-host.invalid"))).to.match(/^(the server's name is not known to DNS|DNS did not answer for the server's name) → /);
        const plain = await behind(answering(200, '{"gitVersion":"v1.33.0"}')), port = (servers.at(-1)?.address() as AddressInfo).port;
        expect(await cause(plain)).to.equal("none");
        expect(await cause(at(`https://127.0.0.1:${port}`))).to.match(/^TLS failed: the server does not speak it/);
    });

    it("names a command for credentials that is missing, fails or hangs", async () => {
        const exec = (command: string, ...args: string[]): object => ({ exec: { apiVersion: "client.authentication.k8s.io/v1", command, args } });
        expect(await cause(at("http://127.0.0.1:1", exec("no-such-command-here")))).to.match(/^the command or file for the credentials is not there \(.*no-such-command-here.*\) → Install the command/);
        expect(await cause(at("http://127.0.0.1:1", exec(process.execPath, "-e", "console.error('please log in'); process.exit(1)")))).to.equal("please log in → Check that kubectl works with the same context.");
        expect(await cause(at("http://127.0.0.1:1", exec(process.execPath, "-e", "setTimeout(() => 0, 3000)")))).to.match(/^there was no answer in time → /);
    });

    it("tells what may not be seen from what failed, and an object that is not there from both", async () => {
        const cluster = await behind((request, response) => {
            const name = request.url?.split("/").at(-1), status = name === "gone" ? 404 : name === "closed" ? 403 : name === "broken" ? 500 : 200;
            answering(status, JSON.stringify({ metadata: { name } }))(request, response);
        });
        const core = cluster.api(client.CoreV1Api), look = (name: string): Promise<unknown> => cluster.lookUp(`get namespace ${name}`, () => core.readNamespace({ name }).then(({ metadata }) => metadata?.name));
        expect(await Promise.all(["there", "gone", "closed", "broken"].map(look))).to.deep.equal([
            { seen: true, value: "there" }, { seen: true, value: undefined },
            { seen: false, why: { kind: "forbidden", action: "get namespace closed" } },
            { seen: false, why: { kind: "failed", action: "get namespace broken", text: "the API server answered 500" } },
        ]);
    });

    it("reads lists page by page, and keeps to the number of calls at once", async () => {
        let running = 0, most = 0;
        const cluster = await behind((request, response) => {
            most = Math.max(most, ++running);
            const from = new URL(request.url ?? "", "http://x").searchParams.get("continue");
            setTimeout(() => {
                running--;
                answering(200, JSON.stringify({ items: [{ metadata: { name: from ?? "first" } }], metadata: from === null ? { continue: "second" } : {} }))(request, response);
            }, 20);
        });
        const core = cluster.api(client.CoreV1Api), custom = cluster.api(client.CustomObjectsApi);
        const typed = cluster.lookThrough("list pods", (limit, _continue) => core.listNamespacedPod({ namespace: "a", limit, _continue }));
        const untyped = cluster.lookThrough("list things", (limit, _continue) => custom.listClusterCustomObject({ group: "g", version: "v1", plural: "things", limit, _continue }) as Promise<{ items: { metadata: { name: string } }[] }>);
        const more = Array.from({ length: 6 }, () => cluster.look("read", () => core.readNamespace({ name: "a" })));
        const names = (list: { seen: boolean; value?: readonly { metadata?: { name?: string } }[] }): unknown => list.value?.map(({ metadata }) => metadata?.name);
        expect([names(await typed), names(await untyped)]).to.deep.equal([["first", "second"], ["first", "second"]]);
        await Promise.all(more);
        expect(most).to.be.at.most(2);
    });
});
