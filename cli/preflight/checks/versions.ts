// Istio versions as clusters show them: the tags of images.
import { type IstioVersion, parseIstioVersion } from "../../../model";

/** `registry:5000/istio/proxyv2:1.31.0-distroless@sha256:…` → `1.31.0-distroless`; undefined for an image without a tag. */
export function imageTag(image: string): string | undefined {
    const name = (image.split("@")[0] ?? "").split("/").at(-1) ?? "", colon = name.indexOf(":");
    return colon < 0 ? undefined : name.slice(colon + 1);
}

/** The version that an image's tag tells, if it tells one. */
export function imageVersion(image: string | undefined): { readonly tag: string; readonly version: IstioVersion } | undefined {
    const tag = image === undefined ? undefined : imageTag(image), version = tag === undefined ? undefined : parseIstioVersion(tag);
    return tag === undefined || version === undefined ? undefined : { tag, version };
}

export function sameMinor(one: IstioVersion, other: IstioVersion): boolean {
    return one.major === other.major && one.minor === other.minor;
}
