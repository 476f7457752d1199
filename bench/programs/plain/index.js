// The same objects without the library: one bare component per host, its objects as they are, the last after the others.
const { readFileSync } = require("node:fs");
const k8s = require("@pulumi/kubernetes");
const pulumi = require("@pulumi/pulumi");

const { hosts } = JSON.parse(readFileSync(process.env.BENCH_HOSTS, "utf8"));
const provider = new k8s.Provider("cluster", { renderYamlToDirectory: process.env.BENCH_RENDERED, kubeconfig: "" });
for (const { name, objects } of hosts) {
    const parent = new pulumi.ComponentResource("bench:index:Host", name, {}, { providers: [provider] });
    const written = [];
    for (const { key, object, last } of objects) {
        written.push(new k8s.apiextensions.CustomResource(`${name}-${key}`, object, { parent, dependsOn: last ? [...written] : [] }));
    }
    parent.registerOutputs({});
}
