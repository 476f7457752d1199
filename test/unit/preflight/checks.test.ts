// The checks of the preflight on snapshots of clusters: what they say of what is missing, word for word, and that they are silent otherwise.
import { expect } from "chai";
import { judge } from "../../../cli/preflight/checks";
import type { Snapshot } from "../../../cli/preflight/snapshot";
import { GatewayConsumers } from "../../../model";
import { GATEWAY } from "../../support/declarations";
import { DECLARATIONS, INJECTED, POD, SERVICE, SERVICE_HOST, cluster, complaints, forbidden, linesOf, mesh, namespace, needs, pods, seen, unseen } from "./support";

const SERVICE_NAME = "Service istio-egress/istio-egressgateway", PODS = "Pods istio=egressgateway in istio-egress";
const FROM_1_22 = "Istio serves v1 from 1.22 on: upgrade it, its custom resource definitions included (an upgrade of Helm charts leaves old ones behind).";
const INSTALL = 'Install Istio 1.22 or later, with its custom resource definitions (Helm chart "base", or istioctl install).';
const CORRECT_VERSION = "Correct the gateway's istioVersion in the catalogue, or upgrade the gateway.";

const service = (changes: Partial<typeof SERVICE>): Partial<Snapshot> => ({ services: new Map([[SERVICE_HOST, seen({ ...SERVICE, ...changes })]]) });
const port = (changes: Partial<(typeof SERVICE)["ports"][number]>): Partial<Snapshot> => service({ ports: [{ number: 443, protocol: "TCP", targetPort: 8443, ...changes }, { number: 8443, protocol: "TCP", targetPort: 9443 }] });
const payments = (labels: Record<string, string>, terminating = false): Pick<Snapshot, "namespaces"> => ({ namespaces: new Map([...cluster().namespaces, namespace("payments", labels, terminating)]) });
const unlabelled = (list: Snapshot["consumerPods"] extends ReadonlyMap<string, infer V> ? V : never): Partial<Snapshot> => ({ ...payments({}), consumerPods: new Map([["payments", list]]) });
const istiod = (changes: object): Partial<Snapshot> => ({ istiods: seen([{ name: "istiod", revision: "default", image: "docker.io/istio/pilot:1.31.2", readyReplicas: 2, ...changes }]) });

const LABEL = "kubectl label namespace payments istio-injection=enabled --overwrite (or istio.io/rev=REVISION), then restart its pods.";
const NO_SIDECAR = "but it is a consumer of partner-api: pods without a sidecar do not take the route.";

/** A cluster that lacks something, and all that is said of it. */
const CASES: readonly (readonly [what: string, cluster: Partial<Snapshot>, lines: readonly string[]])[] = [
    // Istio's kinds.
    ["no kinds", { served: seen(new Map()) }, [`served-kinds missing: ServiceEntry, DestinationRule, Gateway, EnvoyFilter and VirtualService are not served: the cluster has no custom resource definitions of Istio's for what is written. → ${INSTALL}`]],
    ["one kind missing", { served: seen(new Map([["v1", ["ServiceEntry", "DestinationRule", "Gateway"]], ["v1alpha3", ["EnvoyFilter"]]])) }, [`served-kinds missing: VirtualService is not served: the cluster lacks these custom resource definitions of Istio's. → ${INSTALL}`]],
    ["old versions", { served: seen(new Map([["v1", ["ServiceEntry", "DestinationRule", "Gateway"]], ["v1beta1", ["VirtualService"]], ["v1alpha3", ["EnvoyFilter"]]])) }, [`served-kinds missing: VirtualService is served as v1beta1 of networking.istio.io, but not as v1, which is what is written. → ${FROM_1_22}`]],
    ["kinds not seen", { served: forbidden("discover the kinds of networking.istio.io") }, ["served-kinds unknown: networking.istio.io may be served or not: this account may not discover the kinds of networking.istio.io. → Allow it to discover the kinds of networking.istio.io, or have it looked at by somebody who may."]],
    // istiod.
    ["istiod elsewhere", { istiods: seen([]) }, ["istiod unknown: istiod in istio-system is not there: no Deployment has the label app=istiod, so the control plane runs elsewhere, or not at all. → Name its namespace with --istio-namespace; of a control plane outside the cluster nothing can be seen."]],
    ["istiod not seen", { istiods: unseen({ kind: "failed", action: "list deployments in namespace istio-system", text: "there was no answer in time" }) }, ["istiod unknown: istiod in istio-system is not known: to list deployments in namespace istio-system failed, there was no answer in time. → Run the preflight again."]],
    ["istiod not ready", istiod({ readyReplicas: 0 }), ["istiod missing: Deployment istio-system/istiod has no ready pod: what is written reaches no proxy. → Look why: kubectl -n istio-system describe deployment istiod"]],
    ["an istiod too old", istiod({ image: "docker.io/istio/pilot:1.21.6" }), [
        "istiod missing: Deployment istio-system/istiod is Istio 1.21.6, which does not carry the routes of partner-api and source-code. → Upgrade Istio, or take the route that its version carries: docs/limits.md.",
        "istiod warning: Gateway istio-egress/istio-egressgateway is declared with istioVersion 1.31.0, but istiod is 1.21.6: what is supported is decided by the declared version, and a gateway newer than its istiod is not supported by Istio. → Correct istioVersion in the catalogue, or upgrade the one that is behind.",
    ]],
    ["another istiod than declared", istiod({ image: "docker.io/istio/pilot:1.32.0" }), ["istiod warning: Gateway istio-egress/istio-egressgateway is declared with istioVersion 1.31.0, but istiod is 1.32.0: what is supported is decided by the declared version. → Correct istioVersion in the catalogue, or upgrade the one that is behind."]],
    ["an istiod without a version", istiod({ image: "istio/pilot@sha256:0123" }), ["istiod unknown: Deployment istio-system/istiod tells no version: its image has no tag. → Look yourself: istioctl version"]],
    ["an istiod with another tag", istiod({ image: "istio/pilot:latest" }), ['istiod unknown: Deployment istio-system/istiod tells no version: its image\'s tag is "latest". → Look yourself: istioctl version']],
    // The gateway's Service.
    ["no Service", { services: new Map([[SERVICE_HOST, seen(undefined)]]) }, [`gateway-service missing: ${SERVICE_NAME} does not exist, but is the gateway of partner-api: every connection to these hosts would fail. → Install the gateway (Helm chart istio/gateway), or correct the gateway's serviceHost in the catalogue.`]],
    ["a Service not seen", { services: new Map([[SERVICE_HOST, forbidden("get service istio-egressgateway in namespace istio-egress")]]) }, [`gateway-service unknown: ${SERVICE_NAME} is not known: this account may not get service istio-egressgateway in namespace istio-egress. → Allow it to get service istio-egressgateway in namespace istio-egress, or have it looked at by somebody who may.`]],
    ["a Service that is a name", { services: new Map([[SERVICE_HOST, seen({ type: "ExternalName", ports: SERVICE.ports, selector: SERVICE.selector, annotations: {} })]]) }, [`gateway-service missing: ${SERVICE_NAME} is of type ExternalName: it stands for a name elsewhere and has no pods, so no gateway is behind it. → Give the gateway's serviceHost in the catalogue the Service of its pods.`]],
    ["no port", service({ ports: [{ number: 443, protocol: "TCP", targetPort: 8443 }] }), [`gateway-port missing: ${SERVICE_NAME} port 8443 does not exist; the Service has 443: connections that are sent to it go nowhere. → Add {name: tls-8443, port: 8443, targetPort: 9443, protocol: TCP} to the Service, or correct the gateway's ports in the catalogue.`]],
    ["a port of UDP only", port({ protocol: "UDP" }), [`gateway-port missing: ${SERVICE_NAME} port 443 is UDP only, and egress is TCP. → Add {name: tls-443, port: 443, targetPort: 8443, protocol: TCP} to the Service, or correct the gateway's ports in the catalogue.`]],
    ["another target port", port({ targetPort: 443 }), [`gateway-port missing: ${SERVICE_NAME} port 443 leads to targetPort 443, but 8443 is declared. → Correct the port's targetPort in the catalogue, or the Service's to 8443.`]],
    ["a name for another port", port({ targetPort: "tls-alt" }), [`gateway-port missing: ${SERVICE_NAME} port 443 leads to the targetPort named "tls-alt", which is 9443 in the gateway's pods, but 8443 is declared. → Correct the port's targetPort in the catalogue, or the Service's to 8443.`]],
    ["a name that no pod has", port({ targetPort: "https" }), [`gateway-port missing: ${SERVICE_NAME} port 443 leads to the targetPort named "https", which no container of the gateway's pods declares: Kubernetes sends it nowhere. → Name the container's port 8443 "https", or set the Service's targetPort to 8443.`]],
    ["a name that one pod lacks", { ...port({ targetPort: "tls" }), ...pods(POD, { ...POD, name: "egress-2", ports: [] }) }, [`gateway-port warning: ${SERVICE_NAME} port 443 leads to the targetPort named "tls", which 1 pod of 2 do not declare: they get no connection. → Name their container's port 8443 "tls".`]],
    ["a name and pods not seen", { ...port({ targetPort: "tls" }), gatewayPods: new Map([[needs().gateways[0]?.key ?? "", forbidden("list pods in namespace istio-egress")]]) }, [
        `gateway-port unknown: ${SERVICE_NAME} port 443 leads to the targetPort named "tls", whose number is not known: this account may not list pods in namespace istio-egress. → Allow it to list pods in namespace istio-egress, or have it looked at by somebody who may.`,
        `gateway-pods unknown: ${PODS} are not known: this account may not list pods in namespace istio-egress. → Allow it to list pods in namespace istio-egress, or have it looked at by somebody who may.`,
    ]],
    ["a Service that consumers do not see", service({ annotations: { "networking.istio.io/exportTo": ".,orders" } }), [`gateway-visible missing: ${SERVICE_NAME} is exported to . and orders by its annotation networking.istio.io/exportTo, so that the sidecars of payments do not see it: their connections to the hosts fail. → Add payments to the annotation, or take it off.`]],
    ["a mesh whose Services are private", { meshes: [mesh({ defaultServiceExportTo: ["."] })] }, [`gateway-visible missing: ${SERVICE_NAME} is exported to . by meshConfig.defaultServiceExportTo, so that the sidecars of payments do not see it: their connections to the hosts fail. → Give the Service the annotation networking.istio.io/exportTo: ".,payments".`]],
    // Its pods.
    ["no pods", pods(), [`gateway-pods missing: ${PODS} do not exist: no proxy would get the hosts' listeners. → Install the gateway, or correct the gateway's namespace and selector in the catalogue.`]],
    ["pods with other labels", pods({ ...POD, labels: { app: "egress" } }), [`gateway-pods missing: ${PODS} do not exist: no proxy would get the hosts' listeners. → Install the gateway, or correct the gateway's namespace and selector in the catalogue.`]],
    ["pods behind the Service with other labels", { ...service({ selector: { app: "egress" } }), ...pods({ ...POD, labels: { app: "egress" } }) }, [`gateway-pods missing: ${PODS} do not exist; pods behind the Service, such as egress-1, have app=egress: no proxy would get the hosts' listeners. → Install the gateway, or correct the gateway's namespace and selector in the catalogue.`]],
    ["no pod ready", pods({ ...POD, ready: false }), [`gateway-pods missing: ${PODS} are not ready, none of 1. → Look why: kubectl -n istio-egress describe pod -l istio=egressgateway`]],
    ["some ready", pods(POD, { ...POD, name: "egress-2", ready: false }), [`gateway-pods warning: ${PODS} are ready, 1 of 2. → Look why: kubectl -n istio-egress describe pod egress-2`]],
    ["a Service that selects other pods", service({ selector: { app: "other" } }), [`gateway-selection missing: ${SERVICE_NAME} selects app=other, which none of the gateway's pods has: connections do not reach them. → Correct the Service's selector, or the gateway's in the catalogue.`]],
    ["a Service that leaves pods out", { ...service({ selector: { app: "egress" } }), ...pods(POD, { ...POD, name: "egress-2", labels: { istio: "egressgateway" } }) }, [`gateway-selection warning: ${SERVICE_NAME} does not select 1 pod of the gateway (egress-2): they get no connection. → Give them the labels app=egress, or correct the gateway's selector in the catalogue.`]],
    ["a Service that selects strangers too", { ...service({ selector: { app: "egress" } }), ...pods(POD, { ...POD, name: "other-1", labels: { app: "egress" } }) }, [`gateway-selection missing: ${SERVICE_NAME} also selects 1 pod without the labels istio=egressgateway (other-1): they get no listener, and their share of the connections fails. → Narrow the Service's selector to the gateway's pods, or correct the gateway's selector in the catalogue.`]],
    ["a Service without a selector", service({ selector: {} }), [`gateway-selection unknown: ${SERVICE_NAME} has no selector: its endpoints are written by hand, and whether they are the gateway's pods is not looked at.`]],
    ["no proxy", pods({ ...POD, proxyImage: undefined }), [`gateway-version missing: ${PODS} have no container istio-proxy, 1 of 1 (egress-1): no gateway runs there. → Give the gateway's selector in the catalogue the labels of an Istio gateway's pods.`]],
    ["not injected", pods({ ...POD, proxyImage: "auto" }), [`gateway-version missing: ${PODS} were not injected, 1 of 1 (egress-1): their image is still "auto". → Enable injection in istio-egress (label istio-injection=enabled, or istio.io/rev), then restart the gateway.`]],
    ["another version", pods(POD, { ...POD, name: "egress-2", proxyImage: "mirror:5000/proxyv2:1.30.4-distroless@sha256:01" }), [`gateway-version warning: ${PODS} run Istio 1.30.4-distroless, but istioVersion 1.31.0 is declared: what is supported is decided by the declared version. → ${CORRECT_VERSION}`]],
    ["no version", pods({ ...POD, proxyImage: "mirror:5000/proxyv2" }), [`gateway-version unknown: ${PODS} tell no version: the image of istio-proxy has no tag. → Look yourself: istioctl proxy-status`]],
    // Namespaces.
    ["no namespace", { namespaces: new Map([...cluster().namespaces, ["payments", seen(undefined)]]) }, ["namespace missing: Namespace payments does not exist, but it is a consumer of partner-api. → Create it: kubectl create namespace payments"]],
    ["a namespace that goes", payments(INJECTED, true), ["namespace missing: Namespace payments is being deleted, but it is a consumer of partner-api: nothing can be created in it. → Wait until it is gone and create it again, or take it out of the catalogue."]],
    ["a namespace not seen", { namespaces: new Map([...cluster().namespaces, ["egress", forbidden("get namespace egress")]]) }, ["namespace unknown: Namespace egress is not known: this account may not get namespace egress. → Allow it to get namespace egress, or have it looked at by somebody who may."]],
    ["injection off", payments({ "istio-injection": "disabled", "istio.io/rev": "default" }), [`injection missing: Namespace payments has injection off (label istio-injection=disabled), ${NO_SIDECAR} → Enable it: ${LABEL}`]],
    ["ambient", payments({ "istio.io/dataplane-mode": "ambient" }), [`injection missing: Namespace payments is in ambient mode (label istio.io/dataplane-mode=ambient), which is not supported, but it is a consumer of partner-api: its traffic would not take the route. → Take the label off, and enable sidecars: ${LABEL}`]],
    ["ambient beside sidecars", payments({ ...INJECTED, "istio.io/dataplane-mode": "ambient" }), ["injection warning: Namespace payments has sidecars and the label istio.io/dataplane-mode=ambient: ambient mode is not supported, and pods that have no sidecar yet are taken by it. → Take the label off: kubectl label namespace payments istio.io/dataplane-mode-"]],
    ["a revision that is gone", payments({ "istio.io/rev": "1-29" }), ["injection missing: Namespace payments has injection on (label istio.io/rev=1-29), but no control plane answers to it: the injectors are of default; new pods get no sidecar. → Label the namespace istio.io/rev=default (without istio-injection), or set a tag: istioctl tag set 1-29 --revision REVISION"]],
    ["no injector", { ...payments(INJECTED), injectors: seen([]) }, ["payments", "build"].map((name) => `injection missing: Namespace ${name} has injection on (label istio-injection=enabled), but no control plane answers to it: the cluster has no sidecar injector; new pods get no sidecar. → Install istiod, or name its revision.`)],
    ["no label, no pods", unlabelled(seen([])), [`injection missing: Namespace payments has no label for injection (istio-injection, istio.io/rev), ${NO_SIDECAR} → Enable it: ${LABEL}`]],
    ["no label, no sidecars", unlabelled(seen([{ ...POD, proxyImage: undefined }])), [`injection missing: Namespace payments has no label for injection (istio-injection, istio.io/rev), and none of its 1 pod has a sidecar, ${NO_SIDECAR} → Enable it: ${LABEL}`]],
    ["no label, some sidecars", unlabelled(seen([POD, { ...POD, proxyImage: undefined }])), [`injection warning: Namespace payments has no label for injection (istio-injection, istio.io/rev), and 1 of 2 pods has no sidecar, but it is a consumer of partner-api: these pods do not take the route. → Enable it for all: ${LABEL}`]],
    ["no label, pods not seen", unlabelled(forbidden("list pods in namespace payments")), ["injection unknown: Namespace payments has no label for injection (istio-injection, istio.io/rev), and whether its pods ask for a sidecar themselves is not known: this account may not list pods in namespace payments. → Allow it to list pods in namespace payments, or have it looked at by somebody who may."]],
    ["a namespace that istiod ignores", { meshes: [mesh({ discoverySelectors: [{ matchLabels: { mesh: "in" } }, { matchExpressions: [{ key: "istio-injection", operator: "Exists" }] }] })] }, ["egress", "istio-egress"].map((name) => `discovery-selectors missing: Namespace ${name} is not selected by meshConfig.discoverySelectors (istio-system/istio): istiod ignores what is in it. → Give the namespace labels that one of the selectors takes.`)],
    // Permissions.
    ["rights that lack", { denied: new Map([...cluster().denied, ["payments", seen([{ kind: "ServiceEntry", verbs: ["create", "delete"] }, { kind: "DestinationRule", verbs: ["create", "delete"] }])], ["istio-egress", seen([{ kind: "Gateway", verbs: ["patch"] }, { kind: "VirtualService", verbs: ["create"] }])]]) }, [
        "permissions missing: Namespace payments is closed to this account, which may not create and delete serviceentries and destinationrules. → Add to a Role of payments that is bound to it: {apiGroups: [networking.istio.io], resources: [serviceentries, destinationrules], verbs: [create, delete]}",
        "permissions missing: Namespace istio-egress is closed to this account, which may not patch gateways; nor create virtualservices. → Add to a Role of istio-egress that is bound to it: {apiGroups: [networking.istio.io], resources: [gateways], verbs: [patch]}, {apiGroups: [networking.istio.io], resources: [virtualservices], verbs: [create]}",
    ]],
    ["rights that up does without", { denied: new Map([...cluster().denied, ["payments", seen([{ kind: "ServiceEntry", verbs: ["get", "watch"] }])]]) }, [
        "permissions warning: Namespace payments is closed to this account, which may not get and watch serviceentries: up does without, pulumi refresh does not. → Add to a Role of payments that is bound to it: {apiGroups: [networking.istio.io], resources: [serviceentries], verbs: [get, watch]}",
    ]],
    ["rights not seen", { denied: new Map([...cluster().denied, ["payments", forbidden("create selfsubjectaccessreviews")]]) }, ["permissions unknown: Namespace payments may be closed to this account or not: this account may not create selfsubjectaccessreviews. → Allow it to create selfsubjectaccessreviews, or have it looked at by somebody who may."]],
    // meshConfig.
    ["no meshConfig", { meshes: [{ object: "istio-system/istio", config: seen(undefined) }] }, ["mesh-config unknown: ConfigMap istio-system/istio does not exist or holds no mesh: which defaults of the mesh are changed is not known. → Name the control plane's namespace with --istio-namespace."]],
    ["meshConfig not seen", { meshes: [{ object: "istio-system/istio", config: forbidden("get configmap istio in namespace istio-system") }] }, ["mesh-config unknown: ConfigMap istio-system/istio is not known: this account may not get configmap istio in namespace istio-system. → Allow it to get configmap istio in namespace istio-system, or have it looked at by somebody who may."]],
    ["an outlier detection for all", { meshes: [mesh({ defaultTrafficPolicy: { outlierDetection: { consecutive5xxErrors: 5 } } })] }, ["default-traffic-policy warning: ConfigMap istio-system/istio sets defaultTrafficPolicy.outlierDetection, which also acts on source-code, whose pools are to have none: one logical host is ejected whole, or never. → Move it from the mesh's default into the DestinationRules of the Services that need it."]],
];

/** Clusters that are well in another way. */
const WELL: readonly (readonly [what: string, cluster: Partial<Snapshot>])[] = [
    ["all is there", {}],
    ["a named target port", port({ targetPort: "tls" })],
    ["TCP and UDP on one port", service({ ports: [{ number: 443, protocol: "UDP", targetPort: 1 }, ...SERVICE.ports] })],
    ["a Service that is exported to the consumer", service({ annotations: { "networking.istio.io/exportTo": "payments, orders" } })],
    ["a revision", { ...payments({ "istio.io/rev": "1-31" }), injectors: seen([{ name: "a", revision: "default" }, { name: "b", revision: "1-31" }]) }],
    ["a tag", { ...payments({ "istio.io/rev": "stable" }), injectors: seen([{ name: "a", revision: "default" }, { name: "t", revision: "1-31", tag: "stable" }]) }],
    ["injectors that cannot be seen", { injectors: forbidden("list mutatingwebhookconfigurations") }],
    ["pods that ask for sidecars themselves", unlabelled(seen([POD]))],
    ["an istiod of the gateway's revision beside another", { istiods: seen([{ name: "istiod", revision: "default", image: "pilot:1.31.2", readyReplicas: 1 }, { name: "istiod-1-32", revision: "1-32", image: "pilot:1.32.0", readyReplicas: 1 }]) }],
    ["discovery selectors that take all", { meshes: [mesh({ discoverySelectors: [{ matchExpressions: [{ key: "mesh", operator: "NotIn", values: ["out"] }] }] })] }],
    ["default connection settings", { meshes: [mesh({ defaultTrafficPolicy: { connectionPool: { tcp: { connectTimeout: "3s" } } } })] }],
];

describe("checks of the preflight", () => {
    for (const [what, changes, lines] of CASES) it(`tells: ${what}`, () => expect(complaints(changes)).to.deep.equal(lines));
    for (const [what, changes] of WELL) it(`is content: ${what}`, () => expect(complaints(changes)).to.deep.equal([]));

    it("reports the mesh's defaults, with what they mean for the hosts", () => {
        const bare = needs({ "partner-api": { pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" }, failover: undefined } });
        const reports = (config: object, of = needs()): readonly string[] => judge(of, cluster({ meshes: [mesh({ ...config })] }, of)).filter(({ report }) => report === true).map(({ text }) => text);
        expect(reports({})).to.deep.equal([
            "sets no dnsRefreshRate (60s).",
            "sets no outboundTrafficPolicy (ALLOW_ANY): sidecars let hosts that nobody declared pass, without the gateway.",
        ]);
        expect(reports({}, bare)[0]).to.equal("sets no dnsRefreshRate (60s): for that long partner-api fails after an empty DNS answer.");
        expect(reports({ dnsRefreshRate: "5s", outboundTrafficPolicy: { mode: "REGISTRY_ONLY" }, defaultTrafficPolicy: { connectionPool: {} } }, bare)).to.deep.equal([
            "sets dnsRefreshRate 5s: for that long partner-api fails after an empty DNS answer.",
            "sets outboundTrafficPolicy REGISTRY_ONLY: sidecars refuse hosts that nobody declared.",
            "sets defaultTrafficPolicy (connectionPool), which the hosts' own rules replace.",
        ]);
    });

    it("looks at a gateway for all: everybody must see its Service", () => {
        const forAll = needs({ "partner-api": { gateway: { ...GATEWAY, consumers: GatewayConsumers.All }, consumers: [{ namespace: "*" }] } });
        expect(complaints({}, forAll)).to.deep.equal([]);
        expect(complaints(service({ annotations: { "networking.istio.io/exportTo": "payments" } }), forAll)).to.deep.equal([
            `gateway-visible missing: ${SERVICE_NAME} is exported to payments by its annotation networking.istio.io/exportTo, so that other sidecars do not see it: their connections to the hosts fail. → Add "*" to the annotation, or take it off.`,
        ]);
    });

    it("asks for no gateway and no such kinds where all hosts are direct", () => {
        const direct = needs({ "source-code": DECLARATIONS["source-code"] });
        const results = judge(direct, cluster({}, direct));
        expect(results.filter(({ group }) => group === "Gateways")).to.deep.equal([]);
        expect(linesOf("served-kinds", {}, direct)).to.deep.equal(["served-kinds ok: ServiceEntry is served as networking.istio.io/v1.", "served-kinds ok: DestinationRule is served as networking.istio.io/v1."]);
    });

    it("says nothing of a catalogue without hosts but what the mesh's defaults are", () => {
        const none = needs({});
        expect(judge(none, cluster({}, none)).map(({ id }) => id)).to.deep.equal(["istiod", "dns-refresh-rate", "outbound-traffic-policy"]);
    });
});
