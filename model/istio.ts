// Istio versions: which are supported, and which this project's figures were measured on.

/** networking.istio.io/v1, the version that is emitted, is served from this minor version on (Istio 1.22 release notes). */
export const OLDEST_ISTIO = { major: 1, minor: 22 } as const;
/** The line that the lab measured: istiod 1.31, Envoy 1.39.3. */
export const MEASURED_ISTIO = { major: 1, minor: 31 } as const;

export interface IstioVersion {
    readonly major: number;
    readonly minor: number;
}

/** `1.30`, `1.30.3`, `v1.31.0-alpha.1` → the minor version; undefined for anything else. */
export function parseIstioVersion(text: string): IstioVersion | undefined {
    const match = /^v?(\d+)\.(\d+)(\.\d+)?([-+].*)?$/.exec(text);
    return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

/** Negative when `a` is older than `b`. */
export function compareIstio(a: IstioVersion, b: IstioVersion): number {
    return a.major - b.major || a.minor - b.minor;
}

export function formatIstio(version: IstioVersion): string {
    return `${version.major}.${version.minor}`;
}

/** The API version of each kind that is emitted: the newest served one. */
export const API_VERSIONS = {
    ServiceEntry: "networking.istio.io/v1",
    DestinationRule: "networking.istio.io/v1",
    Gateway: "networking.istio.io/v1",
    VirtualService: "networking.istio.io/v1",
    /** It has no newer one. */
    EnvoyFilter: "networking.istio.io/v1alpha3",
} as const;
export type IstioKind = keyof typeof API_VERSIONS;

/** The newest version of each group that Istio serves (its CRDs, 1.32), and the kinds that have no newer one than another. */
const NEWEST: Readonly<Record<string, string>> = { "networking.istio.io": "v1", "security.istio.io": "v1" };
const NEWEST_OF_KIND: Readonly<Record<string, string>> = { EnvoyFilter: "v1alpha3", ProxyConfig: "v1beta1" };
/** Versions that Istio has served, oldest first. */
const SERVED = ["v1alpha3", "v1beta1", "v1"];

/** The newest served API version of an object's kind, where the object has an older one; undefined otherwise. */
export function newerApiVersion(apiVersion: string, kind: string): string | undefined {
    const [group = "", version = ""] = apiVersion.split("/"), newest = Object.hasOwn(NEWEST_OF_KIND, kind) ? NEWEST_OF_KIND[kind] : Object.hasOwn(NEWEST, group) ? NEWEST[group] : undefined;
    if (newest === undefined || !Object.hasOwn(NEWEST, group) || !SERVED.includes(version)) return undefined;
    return SERVED.indexOf(version) < SERVED.indexOf(newest) ? `${group}/${newest}` : undefined;
}

/** The kind that says who may use a host behind a locked gateway; v1 since Istio 1.22 too (Istio 1.22 release notes). */
export const AUTHORIZATION_POLICY = "AuthorizationPolicy";
export const SECURITY_VERSION = "security.istio.io/v1";

export type EmittedKind = IstioKind | typeof AUTHORIZATION_POLICY;

export const apiVersionOf = (kind: EmittedKind): string => (kind === AUTHORIZATION_POLICY ? SECURITY_VERSION : API_VERSIONS[kind]);

/** Versions under which the same kind may have been created before; they are aliases, so that an upgrade replaces nothing. */
export function formerApiVersions(kind: string): readonly string[] {
    if (Object.hasOwn(NEWEST_OF_KIND, kind)) return [];
    return kind === AUTHORIZATION_POLICY ? ["security.istio.io/v1beta1"] : ["networking.istio.io/v1beta1", "networking.istio.io/v1alpha3"];
}
