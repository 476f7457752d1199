// The platform team's stack: the hosts of the environment's catalogue, one that the program itself declares on a gateway of
// its own, and an object that was there before, which the policy pack judges like all others.
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { EgressCatalog, EgressGateway, ExternalEgressHost, Membership, Route } from "istio-egress";

const config = new pulumi.Config();
const renderTo = config.get("renderTo");
// The identifier keeps the objects when the address of the cluster changes; it is a setting, so that it outlives a renamed stack.
const cluster = new k8s.Provider("cluster", renderTo === undefined
    ? { context: config.get("context"), clusterIdentifier: config.get("clusterIdentifier") }
    : { renderYamlToDirectory: renderTo, kubeconfig: "" });

const catalog = new EgressCatalog("egress", { file: new pulumi.Config("istio-egress").require("catalogue") }, { providers: [cluster] });

const regulated = new EgressGateway("regulated", {
    namespace: "istio-egress-regulated",
    selector: { istio: "egressgateway-regulated" },
    serviceHost: "istio-egressgateway.istio-egress-regulated.svc.cluster.local",
    ports: [{ number: 443, targetPort: 8443 }],
    istioVersion: "1.31.0",
});

new ExternalEgressHost("audit-log", {
    host: "audit.regulator.example",
    namespace: "egress",
    pool: { membership: Membership.Fixed, addressesPerAnswer: 2 },
    failover: { detectionTime: "10s", dnsTtl: "5s" },
    route: Route.MtlsPassthrough,
    gateway: regulated.reference,
    // Which namespaces are audited is not the catalogue's to say.
    consumers: config.requireObject<string[]>("auditedNamespaces").map((namespace) => ({ namespace })),
    ownership: { owner: "team-platform", purpose: "audit trail", expires: "2027-12-31" },
}, { providers: [cluster] });

new k8s.apiextensions.CustomResource("legacy-crm", {
    apiVersion: "networking.istio.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "legacy-crm", namespace: "sales" },
    spec: { hosts: ["crm.saas.example"], ports: [{ number: 443, name: "tls", protocol: "TLS" }], location: "MESH_EXTERNAL", resolution: "DNS_ROUND_ROBIN" },
}, { provider: cluster });

/** What application teams need to declare hosts of their own on the regulated gateway. */
export const gateway = regulated.reference;
/** Who may reach what, and who answers for it. */
export const inventory = catalog.hosts.apply((hosts) => hosts.map(({ name, host, route, owner }) => ({ name, host, route, owner })));
