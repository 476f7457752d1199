// The components that users import, and the words that their arguments are written in.
export { EgressAdmission } from "./egress-admission";
export type { EgressAdmissionArgs } from "./egress-admission";
export { EgressCatalog } from "./egress-catalog";
export type { EgressCatalogArgs } from "./egress-catalog";
export { EgressGateway } from "./egress-gateway";
export type {
    EgressGatewayArgs, EgressGatewayPortArgs, GatewayDeploymentArgs, GatewayPort, GatewayPortArgs, GatewayReferenceArgs, GatewayReferenceOutput,
} from "./egress-gateway-args";
export { EgressLockdown } from "./egress-lockdown";
export type { EgressLockdownArgs, LockdownConsumerArgs, LockdownDnsArgs } from "./egress-lockdown";
export { ExternalEgressHost } from "./external-egress-host";
export type { ConsumerArgs, ExternalEgressHostArgs, FailoverArgs, OutlierArgs, OwnershipArgs, PoolArgs, PortArgs, TlsArgs } from "./external-egress-host-args";
export type { ContractTermOutput, DrainWaitOutput, EgressObject, HostPlan, HostSummary, LossWindowOutput, OutlierOutput, TimePart } from "./outputs";
export { FailurePolicy } from "../policies/admission";
export { GatewayConsumers, GatewayMode, InCluster, LoadBalancer, Lockdown, Membership, Protocol, Resolution, Route, TlsMode } from "../model";
