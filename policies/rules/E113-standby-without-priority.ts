// E113: standby addresses without a failoverPriority that keeps them back, or a failoverPriority without standby addresses.
import { Resolution } from "../../model/resolution";
import { wholeConfiguration, type WholeConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import { allOutlierBlocks } from "../outlier";
import { UNKNOWN } from "../plain";
import type { SetRule, SetVerdict } from "../rule";
import { hostRules, rulesOf } from "../views/destination-rules";
import { type EntryHost, entriesOf, entryHosts, mayMeet } from "../views/service-entries";
import { plural } from "../views/words";

const LOCALITY = ["spec", "trafficPolicy", "loadBalancer", "localityLbSetting"];
const PRIORITY = [...LOCALITY, "failoverPriority"];

export const standbyWithoutPriority: SetRule<WholeConfiguration> = {
    code: "E113",
    name: "standby-without-priority",
    level: "mandatory",
    severity: "high",
    description: "Endpoints that mix the DNS name with known addresses need a failoverPriority by their labels, and outlier detection, in the host's DestinationRule.",
    remediation: "Label the endpoints, set localityLbSetting {enabled: true, failoverPriority: [\"label=value\"]} and outlierDetection in the host's DestinationRule.",
    remediates: false,
    kinds: ["ServiceEntry", "DestinationRule"],
    configuration: wholeConfiguration,
    checkSet(mesh, { settings }) {
        if (!mesh.isSure("ServiceEntry") || !mesh.isSure("DestinationRule")) return [];
        const whole = settings.objects === "all" || mesh.isComplete("DestinationRule");
        return [...entryHosts(mesh).flatMap((entry) => judgeEntry(mesh, entry, whole)), ...hostRules(mesh).flatMap(({ object, host, shown, viewers }) => {
            const entries = entriesOf(mesh, host).filter((entry) => entry.isExternal && mayMeet(viewers, entry.viewers));
            return judgeRule(object, shown, entries);
        })];
    },
};

/** Endpoints by name and by address beside each other: the known addresses are meant to stand by. */
function judgeEntry(mesh: Mesh, entry: EntryHost, whole: boolean): readonly SetVerdict[] {
    const { object, host, shown, viewers } = entry, path = ["spec", "endpoints"];
    if (entry.resolution !== Resolution.Dns || !entry.isExternal) return [];
    const addresses = object.indexes(path).map((index) => object.text([...path, index, "address"]));
    const byAddress = addresses.filter((address) => typeof address === "string" && isAddress(address)).length;
    const byName = addresses.filter((address) => typeof address === "string" && !isAddress(address)).length;
    if (byAddress === 0 || byName === 0) return [];
    const rules = rulesOf(mesh, host).filter((rule) => mayMeet(rule.viewers, viewers));
    if (rules.some((rule) => rule.object.at(PRIORITY) !== undefined)) return [];
    if (rules.length === 0 && !whole) return [{ object, path, unjudged: `mix the DNS name of ${shown} with ${plural(byAddress, "address", "addresses")}, and no DestinationRule of it is at hand: whether these stand by is not judged.` }];
    return [{
        object, path,
        text: `mix the DNS name of ${shown} with ${plural(byAddress, "address", "addresses")}, but no DestinationRule of it sets failoverPriority: all of them get new connections from the start, also an address that the GSLB has withdrawn. `
            + "Label the endpoints (tier: primary, tier: standby) and set localityLbSetting {enabled: true, failoverPriority: [\"tier=primary\"]} in the host's DestinationRule.",
    }];
}

function judgeRule(object: MeshObject, host: string, entries: readonly EntryHost[]): readonly SetVerdict[] {
    const wanted = object.texts(PRIORITY);
    if (wanted === undefined || wanted === UNKNOWN || wanted.length === 0 || object.flag([...LOCALITY, "enabled"]) === false || entries.length === 0) return [];
    // `label` alone compares with the proxy's own label; `label=value` with the value.
    const valued = wanted.filter((word) => word.includes("="));
    const missing = valued.filter((word) => !entries.some((entry) => carries(entry.object, word)));
    if (missing.length > 0) {
        return [{
            object, path: PRIORITY,
            text: `names ${missing.map((word) => object.show(PRIORITY, word)).join(" and ")}, but no endpoint of ${host} carries that label: no address is preferred, and nothing stands by. Label the endpoints of the ServiceEntry, or remove it.`,
        }];
    }
    if (valued.length === 0 || allOutlierBlocks(object).length > 0) return [];
    return [{
        object, path: PRIORITY,
        text: `is set, but the rule has no outlierDetection: Envoy leaves a priority only when its addresses are unhealthy, and nothing makes them so; the standby addresses of ${host} would never serve. Add outlierDetection with minHealthPercent 1.`,
    }];
}

function carries(entry: MeshObject, word: string): boolean {
    const [label = "", value] = word.split("=");
    return entry.at(["spec", "endpoints"]) === UNKNOWN || entry.indexes(["spec", "endpoints"]).some((index) => {
        const found = entry.text(["spec", "endpoints", index, "labels", label]);
        return found === UNKNOWN || (found !== undefined && found === value);
    });
}

const isAddress = (text: string): boolean => /^[\d.]+$|:/.test(text);
