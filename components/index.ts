// The components that users import, and the words that their arguments are written in.
export { EgressAdmission } from "./egress-admission";
export type { EgressAdmissionArgs } from "./egress-admission";
export { EgressCatalog } from "./egress-catalog";
export type { EgressCatalogArgs } from "./egress-catalog";
export { EgressGateway } from "./egress-gateway";
export type { EgressGatewayArgs, GatewayPort, GatewayPortArgs, GatewayReferenceArgs, GatewayReferenceOutput } from "./egress-gateway";
export { ExternalEgressHost } from "./external-egress-host";
export type { ConsumerArgs, ExternalEgressHostArgs, FailoverArgs, OutlierArgs, OwnershipArgs, PoolArgs, PortArgs } from "./external-egress-host-args";
export type { ContractTermOutput, DrainWaitOutput, EgressObject, HostPlan, HostSummary, LossWindowOutput, OutlierOutput, TimePart } from "./outputs";
export { FailurePolicy } from "../policies/admission";
export { GatewayConsumers, LoadBalancer, Membership, Protocol, Resolution, Route } from "../model";
