// N hosts by the library.
const { readFileSync } = require("node:fs");
const k8s = require("@pulumi/kubernetes");
const { ExternalEgressHost } = require("../../../dist");

const { declarations } = JSON.parse(readFileSync(process.env.BENCH_HOSTS, "utf8"));
const provider = new k8s.Provider("cluster", { renderYamlToDirectory: process.env.BENCH_RENDERED, kubeconfig: "" });
for (const { name, input } of declarations) new ExternalEgressHost(name, input, { providers: [provider] });
