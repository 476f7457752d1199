// What the admission form of a rule is: the same rule in CEL, for the API server's own admission.
import type { Level, ObjectRule } from "../rule";
import type { Cel } from "./cel";

/** The kinds that admission policies are bound to, as the API names them. */
export const RESOURCES: Readonly<Record<string, { readonly group: string; readonly resource: string }>> = {
    DestinationRule: { group: "networking.istio.io", resource: "destinationrules" },
    EnvoyFilter: { group: "networking.istio.io", resource: "envoyfilters" },
    Gateway: { group: "networking.istio.io", resource: "gateways" },
    ProxyConfig: { group: "networking.istio.io", resource: "proxyconfigs" },
    ServiceEntry: { group: "networking.istio.io", resource: "serviceentries" },
    Sidecar: { group: "networking.istio.io", resource: "sidecars" },
    VirtualService: { group: "networking.istio.io", resource: "virtualservices" },
    WorkloadEntry: { group: "networking.istio.io", resource: "workloadentries" },
    WorkloadGroup: { group: "networking.istio.io", resource: "workloadgroups" },
    AuthorizationPolicy: { group: "security.istio.io", resource: "authorizationpolicies" },
    PeerAuthentication: { group: "security.istio.io", resource: "peerauthentications" },
    RequestAuthentication: { group: "security.istio.io", resource: "requestauthentications" },
};

export interface AdmissionRule {
    readonly rule: ObjectRule;
    /** Values that the expressions share, each by its name and in an order in which they may refer to those before. */
    readonly variables: readonly (readonly [name: string, expression: Cel])[];
    /**
     * The texts of the findings of each level, `field text`, joined by line breaks: the rule's own level, and advisory where
     * the rule has findings that weigh less.
     */
    readonly findings: Readonly<Partial<Record<"own" | "advisory", Cel>>>;
}

export type FindingLevel = keyof AdmissionRule["findings"];

/** The level of findings of a policy, by the rule's configured level. */
export function levelFor(findings: FindingLevel, level: Level): Level {
    return findings === "advisory" ? "advisory" : level;
}
