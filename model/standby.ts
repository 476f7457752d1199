// Standby addresses: the known addresses of a fixed pool, which serve when none that DNS answers does. Istio turns the labels
// of a ServiceEntry's endpoints into Envoy's priorities (failoverPriority): first what DNS says, then the known ones.
import { checkEachAddress } from "./addresses";
import type { Declaration } from "./declaration";
import { ejectable } from "./guard";
import { compareIstio, formatIstio, parseIstioVersion } from "./istio";
import type { Path, Problems } from "./problem";
import { MAX_ADDRESSES_PER_ANSWER, Membership, Resolution, resolutionOf } from "./resolution";

/** The label of the endpoints, and its two values. */
export const STANDBY_TIER = { label: "tier", primary: "primary", standby: "standby" } as const;

/** failoverPriority acts on clusters of DNS from this version on (Istio 1.30 release notes). */
export const STANDBY_SINCE = { major: 1, minor: 30 } as const;

/**
 * The connect timeout of a host with standby addresses. The first connections try the dead address twice, as what DNS
 * says and as a standby address, and a third time by chance: 3 of these and the back-offs between stay under 3 s.
 */
export const STANDBY_CONNECT_TIMEOUT_MS = 900;

/** The addresses that stand by; undefined where none do. */
export function standbyAddresses({ pool }: Pick<Declaration, "pool">): readonly string[] | undefined {
    return pool.standbyAddresses;
}

/** How many hosts Envoy counts: an address in both priorities is two, ejected separately. Undefined while N is unknown. */
export function countedHosts({ pool }: Pick<Declaration, "pool">): number | undefined {
    return pool.addressesPerAnswer === undefined ? undefined : pool.addressesPerAnswer + (pool.standbyAddresses?.length ?? 0);
}

/**
 * The guard over both priorities: every host but one can be ejected, all that DNS answers and the dead ones that stand by.
 * With 50 % of one address and two that stand by (3 hosts) only one could be, and a dead one would go on serving as standby.
 */
export function standbyEjectionPercent(hosts: number): number {
    return Math.ceil((100 * (hosts - 1)) / hosts);
}

/**
 * Envoy sends new connections to the standby addresses as soon as less than 100 % of the first priority is available, which
 * it takes as its healthy share times this factor. At its own 140 % one of two ejected sends 30 % to standby although its
 * partner lives (measured); at 100 % for each address one live address is enough.
 */
export function standbyOverprovisioning(addressesPerAnswer: number): number {
    return 100 * addressesPerAnswer;
}

/** RFC 1918, RFC 6598 and RFC 4193: no address of the internet. */
function isPrivate(text: string): boolean {
    return /^(10\.|172\.(1[6-9]|2\d|3[01])\.|192\.168\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(text) || /^f[cd]/i.test(text);
}

/** What a plan says of addresses that are no mistake for sure; each a sentence. */
export function standbyConsequences(declaration: Pick<Declaration, "pool">): readonly string[] {
    const addresses = standbyAddresses(declaration) ?? [], local = addresses.filter(isPrivate);
    if (addresses.length === 0) return [];
    return [
        "standby addresses are served although DNS may have withdrawn them, once nothing that DNS answers serves: keep the list current (istio-egress verify-pool).",
        ...(local.length === 0 ? [] : [`${local.join(", ")} ${local.length === 1 ? "is a private address" : "are private addresses"}: make sure that the partner is reached there, and nothing of your own.`]),
    ];
}

export function checkStandby(problems: Problems, declaration: Declaration): void {
    const { pool, gateway, outlier } = declaration, addresses = standbyAddresses(declaration), at: Path = ["pool", "standbyAddresses"];
    if (addresses === undefined) return;
    const { resolution } = resolutionOf(declaration);
    if (pool.membership !== Membership.Fixed || resolution !== Resolution.Dns) {
        problems.add(at, `has no effect with ${pool.membership === Membership.Fixed ? `resolution ${resolution}` : "a rotating pool"}: only under DNS can known addresses stand by behind what DNS answers; remove it.`, [["pool", "membership"], ["resolution"], ["host"]]);
        return;
    }
    const version = parseIstioVersion(gateway?.istioVersion ?? "");
    if (version !== undefined && compareIstio(version, STANDBY_SINCE) < 0) {
        problems.add(at, `needs Istio ${formatIstio(STANDBY_SINCE)} or later, and the gateway runs ${formatIstio(version)}: before, failoverPriority does nothing for DNS, and the addresses would serve beside what DNS answers; remove it, or upgrade the gateway.`, [["gateway", "istioVersion"]]);
    }
    if (addresses.length === 0 || addresses.length > MAX_ADDRESSES_PER_ANSWER) problems.add(at, `names ${addresses.length} addresses: name 1 to ${MAX_ADDRESSES_PER_ANSWER}, or leave it out.`);
    checkEachAddress(problems, at, addresses, "give the addresses that DNS can answer", true);
    const families = new Set(addresses.map((address) => address.includes(":")));
    if (families.size > 1 && pool.addressesPerAnswer === 1) {
        problems.add(at, "mixes IPv4 and IPv6, but one DNS answer holds one address, so that the proxies are not dual stack and reach one family only: name the addresses of that family.", [["pool", "addressesPerAnswer"]]);
    }
    const hosts = countedHosts(declaration), max = outlier?.maxEjectionPercent;
    if (hosts === undefined || pool.addressesPerAnswer === undefined || max === undefined || max === 0 || ejectable(hosts, max) >= pool.addressesPerAnswer + 1) return;
    problems.add(["outlier", "maxEjectionPercent"], `is ${max}, which ejects ${ejectable(hosts, max)} of ${hosts} (${pool.addressesPerAnswer} that DNS answers and ${addresses.length} that stand by): a dead address is in both, so leave it unset (${standbyEjectionPercent(hosts)}), or take at least ${Math.ceil((100 * (pool.addressesPerAnswer + 1)) / hosts)}.`, [at, ["pool", "addressesPerAnswer"]]);
}
