// What a snapshot keeps of the client's objects, and what it makes of incomplete ones.
import { expect } from "chai";
import { imageTag, imageVersion } from "../../../cli/preflight/checks/versions";
import { injectorOf, istioObjectOf, istiodOf, namespaceOf, podOf, serviceOf } from "../../../cli/preflight/convert";

describe("objects of the client in a snapshot", () => {
    it("keeps of a pod its readiness, its proxy and the ports that targetPort may name", () => {
        const pod = podOf({
            metadata: { name: "p", labels: { a: "b", "istio.io/rev": "stable" }, annotations: { "sidecar.istio.io/status": '{"revision":"1-31"}', "istio.io/rev": "other" } },
            spec: {
                containers: [{ name: "app", image: "app:1", ports: [{ name: "http", containerPort: 80 }, { containerPort: 81 }, { name: "dns", containerPort: 53, protocol: "UDP" }] }],
                initContainers: [{ name: "istio-init", image: "proxyv2:0" }, { name: "istio-proxy", image: "proxyv2:1.31.0", restartPolicy: "Always", ports: [{ name: "metrics", containerPort: 15090 }] }],
            },
            status: { conditions: [{ type: "PodScheduled", status: "True" }, { type: "Ready", status: "True" }] },
        });
        expect(pod).to.deep.equal({ name: "p", labels: { a: "b", "istio.io/rev": "stable" }, ready: true, ports: [{ name: "http", number: 80 }, { name: "metrics", number: 15090 }], proxyImage: "proxyv2:1.31.0", revision: "1-31" });
        expect(podOf({ metadata: { annotations: { "sidecar.istio.io/status": "{", "istio.io/rev": "default" } } })).to.deep.equal({ name: "", labels: {}, ready: false, ports: [], revision: "default" });
    });

    it("fills in what Kubernetes leaves out", () => {
        expect(serviceOf({ spec: { ports: [{ port: 443 }, { port: 53, protocol: "UDP", targetPort: "dns", name: "dns" }] } }))
            .to.deep.equal({ type: "ClusterIP", selector: {}, annotations: {}, ports: [{ number: 443, protocol: "TCP", targetPort: 443 }, { number: 53, protocol: "UDP", targetPort: "dns", name: "dns" }] });
        expect(namespaceOf({ metadata: { name: "a" }, status: { phase: "Terminating" } })).to.deep.equal({ name: "a", labels: {}, terminating: true });
        expect(istiodOf({ metadata: { name: "istiod" }, spec: { selector: {}, template: { spec: { containers: [{ name: "x", image: "x:1" }, { name: "discovery", image: "pilot:1.31.0" }] } } } }))
            .to.deep.equal({ name: "istiod", revision: "default", readyReplicas: 0, image: "pilot:1.31.0" });
        expect(injectorOf({ metadata: { name: "i", labels: { "istio.io/rev": "1-31", "istio.io/tag": "stable" } } })).to.deep.equal({ name: "i", revision: "1-31", tag: "stable" });
    });

    it("takes custom resources of any shape, or leaves them", () => {
        expect(istioObjectOf("Gateway", { metadata: { name: "a", namespace: "b", labels: { c: "d", e: 1 } }, spec: [] })).to.deep.equal({ kind: "Gateway", namespace: "b", name: "a", labels: { c: "d" }, annotations: {}, spec: {}, fieldManagers: [] });
        expect(istioObjectOf("Gateway", { metadata: { name: "a", namespace: "b", managedFields: [{ manager: "kubectl" }, {}, 1] } })).to.have.property("fieldManagers").that.deep.equals(["kubectl", "", ""]);
        expect([null, 1, {}, { metadata: null }, { metadata: { name: "a" } }].map((item) => istioObjectOf("Gateway", item))).to.deep.equal([undefined, undefined, undefined, undefined, undefined]);
    });

    it("reads versions from tags", () => {
        const images = ["istio/proxyv2:1.31.0", "mirror:5000/istio/proxyv2:1.30.4-distroless@sha256:01", "mirror:5000/istio/proxyv2", "istio/proxyv2@sha256:01", "istio/proxyv2:latest"];
        expect(images.map(imageTag)).to.deep.equal(["1.31.0", "1.30.4-distroless", undefined, undefined, "latest"]);
        expect([...images, undefined].map((image) => imageVersion(image)?.version)).to.deep.equal([{ major: 1, minor: 31 }, { major: 1, minor: 30 }, undefined, undefined, undefined, undefined]);
    });
});
