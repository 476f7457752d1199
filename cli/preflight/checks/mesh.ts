// Values of meshConfig that decide what the catalogue's hosts do.
import { Membership, Resolution, decideCluster, decideEmptyAnswer, decideOutlier, resolutionOf } from "../../../model";
import type { Needs } from "../needs";
import { Group, type Result, Results, enumerate } from "../result";
import type { Snapshot } from "../snapshot";
import { mapOf, text } from "./mesh-values";

/** meshConfig.dnsRefreshRate where it is not set (Istio's MeshConfig reference). */
const DEFAULT_DNS_REFRESH = "60s";

export function checkMesh(needs: Needs, { meshes }: Pick<Snapshot, "meshes">): readonly Result[] {
    return meshes.flatMap(({ object, config }) => {
        const name = `ConfigMap ${object}`, results = new Results("mesh-config", Group.Mesh);
        if (!config.seen) results.unseen(name, config.why);
        else if (config.value === undefined) results.unknown(name, "does not exist or holds no mesh: which defaults of the mesh are changed is not known.", "Name the control plane's namespace with --istio-namespace.");
        else return [...dnsRefresh(name, config.value, needs), ...outboundPolicy(name, config.value), ...defaultPolicy(name, config.value, needs)];
        return results.list;
    });
}

function dnsRefresh(object: string, mesh: Readonly<Record<string, unknown>>, { declarations }: Needs): readonly Result[] {
    const results = new Results("dns-refresh-rate", Group.Mesh), rate = text(mesh["dnsRefreshRate"]);
    const strict = declarations.filter(({ declaration }) => declaration.pool.membership === Membership.Fixed && resolutionOf(declaration).resolution === Resolution.Dns && decideEmptyAnswer(declaration).serves === "nobody" && decideCluster(declaration) === undefined);
    const effect = strict.length === 0 ? "" : `: for that long ${enumerate(strict.map(({ name }) => name), 3)} ${strict.length === 1 ? "fails" : "fail"} after an empty DNS answer`;
    results.report(object, `${rate === undefined ? `sets no dnsRefreshRate (${DEFAULT_DNS_REFRESH})` : `sets dnsRefreshRate ${rate}`}${effect}.`);
    return results.list;
}

function outboundPolicy(object: string, mesh: Readonly<Record<string, unknown>>): readonly Result[] {
    const results = new Results("outbound-traffic-policy", Group.Mesh), mode = text(mapOf(mesh["outboundTrafficPolicy"])["mode"]);
    const means = mode === "REGISTRY_ONLY" ? "sidecars refuse hosts that nobody declared" : "sidecars let hosts that nobody declared pass, without the gateway";
    results.report(object, `${mode === undefined ? "sets no outboundTrafficPolicy (ALLOW_ANY)" : `sets outboundTrafficPolicy ${mode}`}: ${means}.`);
    return results.list;
}

/** The mesh's default acts where a DestinationRule has no outlier detection: on the pools that are to have none. */
function defaultPolicy(object: string, mesh: Readonly<Record<string, unknown>>, { declarations }: Needs): readonly Result[] {
    const results = new Results("default-traffic-policy", Group.Mesh), policy = mapOf(mesh["defaultTrafficPolicy"]);
    const blocks = Object.keys(policy), bare = declarations.filter(({ declaration }) => !decideOutlier(declaration).emitted);
    if (blocks.length === 0) return [];
    if (blocks.includes("outlierDetection") && bare.length > 0) {
        results.warning(object, `sets defaultTrafficPolicy.outlierDetection, which also acts on ${enumerate(bare.map(({ name }) => name))}, whose pools are to have none: one logical host is ejected whole, or never.`,
            "Move it from the mesh's default into the DestinationRules of the Services that need it.");
    } else results.report(object, `sets defaultTrafficPolicy (${enumerate(blocks)}), which the hosts' own rules replace.`);
    return results.list;
}
