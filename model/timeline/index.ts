// The planner: what a declaration's failovers cost, second by second.
export * from "./advice";
export * from "./failover";
export { Device, devicesOf, proxySettings, stepsOf, whyNoTimeline } from "./settings";
export { Fault, type Load, type ProxySettings, type Simulation, type Situation, simulate } from "./simulate";
