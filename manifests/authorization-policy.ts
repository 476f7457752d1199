// AuthorizationPolicy: who may use a host at its gateway. The first one that allows makes the gateway deny all else.
import { type Declaration, Lockdown, allowedSources, objectName } from "../model";
import { type Manifest, kubernetesObject } from "./manifest";

/** Istio evaluates such a policy, counts what it would do, and does nothing. */
export const DRY_RUN = { "istio.io/dry-run": "true" };

export function authorizationPolicy(name: string, declaration: Declaration): readonly Manifest[] {
    const { gateway, host } = declaration, sources = allowedSources(declaration);
    if (gateway === undefined || sources === undefined) return [];
    const identity = {
        kind: "AuthorizationPolicy", name: objectName(host), namespace: gateway.namespace, carriesPool: false,
        ...(gateway.lockdown === Lockdown.DryRun ? { annotations: DRY_RUN } : {}),
    } as const;
    return [{
        key: "authorization", role: "AuthorizationPolicy/consumers", movesTraffic: false,
        object: kubernetesObject(name, declaration, identity, {
            selector: { matchLabels: gateway.selector },
            action: "ALLOW",
            rules: [{
                ...(sources.length === 0 ? {} : { from: sources.map((source) => ({ source })) }),
                // Behind an ISTIO_MUTUAL server the outer SNI, which picks the host; otherwise the application's own.
                when: [{ key: "connection.sni", values: [host] }],
            }],
        }),
    }];
}
