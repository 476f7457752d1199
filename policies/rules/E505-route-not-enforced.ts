// E505: a route through the gateway beside which nothing keeps traffic from going another way, or others from using it.
import { type WholeConfiguration, wholeConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { SetRule, SetVerdict } from "../rule";
import { UNKNOWN } from "../plain";
import { type Hop, hops } from "../views/routes";
import { enumerate } from "../views/words";

export const routeNotEnforced: SetRule<WholeConfiguration> = {
    code: "E505",
    name: "route-not-enforced",
    level: "advisory",
    severity: "medium",
    description: "Beside a route through an egress gateway a NetworkPolicy should close the direct way, or an AuthorizationPolicy say who may use the gateway.",
    remediation: "Add a NetworkPolicy with egress rules to the consumers' namespaces, and an AuthorizationPolicy to the gateway's.",
    remediates: false,
    kinds: ["VirtualService"],
    configuration: wholeConfiguration,
    checkSet(mesh, { settings }) {
        const whole = ["NetworkPolicy", "AuthorizationPolicy"].every((kind) => mesh.isComplete(kind) || (settings.objects === "all" && mesh.isSure(kind)));
        const found = new Map<string, SetVerdict>();
        for (const hop of hops(mesh)) {
            const verdict = judgeHop(mesh, hop, whole), key = hop.leg.object.label;
            if (verdict !== undefined && !found.has(key)) found.set(key, verdict);
        }
        return [...found.values()];
    },
};

function judgeHop(mesh: Mesh, { leg: { object, viewers }, host, gatewayNamespace }: Hop, whole: boolean): SetVerdict | undefined {
    if (viewers === UNKNOWN || enforced(mesh, "AuthorizationPolicy").has(gatewayNamespace) || enforced(mesh, "AuthorizationPolicy").has(mesh.root)) return undefined;
    const closed = enforced(mesh, "NetworkPolicy"), open = viewers === "everywhere" ? undefined : [...viewers].filter((viewer) => viewer !== gatewayNamespace && !closed.has(viewer)).sort();
    if (open?.length === 0) return undefined;
    const clients = open === undefined ? "the sidecars of every namespace" : enumerate(open), path = ["spec", "hosts"];
    if (!whole) return { object, path, unjudged: `names ${host.shown}, and no NetworkPolicy or AuthorizationPolicy beside its route is at hand. They may be in another stack: whether the route is enforced is not judged.` };
    return {
        object, path,
        text: `names ${host.shown}, whose traffic goes through the gateway in ${gatewayNamespace}, but nothing enforces it: no NetworkPolicy with egress rules closes the direct way from ${clients}, and no AuthorizationPolicy in ${gatewayNamespace} says who may use the gateway: a pod without a sidecar goes around it. `
            + "Add a NetworkPolicy to the consumers' namespaces, or an AuthorizationPolicy to the gateway's.",
    };
}

/** The namespaces that have such a policy. */
function enforced(mesh: Mesh, kind: "NetworkPolicy" | "AuthorizationPolicy"): ReadonlySet<unknown> {
    return mesh.once(`enforced by ${kind}`, () => new Set(mesh.of(kind).filter((policy) => kind === "AuthorizationPolicy" || limitsEgress(policy.texts(["spec", "policyTypes"]), policy.at(["spec", "egress"]))).map(({ namespace }) => namespace)));
}

/** Kubernetes: without policyTypes a policy is about egress only where it has egress rules. */
function limitsEgress(types: readonly string[] | undefined | typeof UNKNOWN, egress: unknown): boolean {
    return types === UNKNOWN || (types === undefined ? egress !== undefined : types.includes("Egress"));
}
