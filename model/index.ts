// The model: every decision about external egress, pure.
export * from "./annotations";
export * from "./check";
export * from "./conflicts";
export * from "./contract";
export * from "./declaration";
export * from "./duration";
export * from "./guard";
export * from "./host";
export * from "./istio";
export * from "./names";
export * from "./outlier";
export * from "./overrides";
export * from "./plan";
export * from "./problem";
export * from "./resolution";
export * from "./routes";
export { nearest } from "./structure";
export * from "./window";
