// istio-egress: governed external egress on Istio, as Pulumi components.
export * from "./components";
