// External host names: what is a host that egress may be declared for, and what is refused and why.

/** A host name in the one form that every object carries: lower case, no trailing dot, punycode kept. */
export interface HostName {
    readonly name: string;
    /** `*.partner.example`: many hosts, which DNS cannot resolve as one. */
    readonly wildcard: boolean;
}

export type HostVerdict = { readonly ok: true; readonly host: HostName } | { readonly ok: false; readonly reason: string };

/** RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text. */
const MAX_NAME = 253;
const MAX_LABEL = 63;

/** Addresses and names under which clouds hand out credentials to whoever asks. */
const METADATA_NAMES = ["metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com"];
const METADATA_ADDRESSES = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23"];

/** Names that never leave the cluster or the machine: a ServiceEntry for one would take over traffic of the mesh itself. */
const LOCAL_SUFFIXES: readonly (readonly [suffix: string, reason: string])[] = [
    ["cluster.local", "it is a name of the cluster itself"],
    ["svc", "it is a name of the cluster itself"],
    ["localhost", "it is this machine (RFC 6761)"],
    ["local", "it is resolved by multicast on the local link (RFC 6762), never by a DNS server"],
];

/** Judges a host name as users write it; the result is normalised, the reason reads on from the value. */
export function parseHost(text: string): HostVerdict {
    const name = text.toLowerCase().replace(/\.$/, "");
    const reason = refusal(name, text);
    return reason === undefined ? { ok: true, host: { name, wildcard: name.startsWith("*.") } } : { ok: false, reason };
}

/**
 * Why no egress may lead to a name or an address, whoever declares it: a cloud's metadata service, the cluster itself, this machine;
 * an IP literal too, which has neither a DNS answer nor an SNI. Undefined for every other text, one that is no host name included.
 */
export function refusedTarget(text: string): string | undefined {
    const name = normaliseHost(text);
    return addressRefusal(name) ?? metadataRefusal(name) ?? localRefusal(name);
}

/** Why an address can be nobody's: it is a cloud's metadata service. */
export function metadataAddressRefusal(address: string): string | undefined {
    return METADATA_ADDRESSES.includes(address) ? "it is a cloud metadata address, which hands out credentials of the node; no egress may lead there" : undefined;
}

/** Whether an address or a name is a cloud's metadata service. */
export function isMetadata(text: string): boolean {
    const name = normaliseHost(text);
    return METADATA_ADDRESSES.includes(name.replace(/^\[(.*)\]$/, "$1")) || METADATA_NAMES.includes(name);
}

/** The form in which two spellings of one host are equal; anything is accepted, for objects that others wrote. */
export function normaliseHost(text: string): string {
    const name = isLowerCase(text) ? text : text.toLowerCase();
    return name.charCodeAt(name.length - 1) === DOT ? name.slice(0, -1) : name;
}

const DOT = 46;

/** As nearly every host is written. */
function isLowerCase(text: string): boolean {
    for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if ((code >= 65 && code <= 90) || code > 127) return false;
    }
    return true;
}

/** Whether a pattern (`api.partner.example`, or `*.partner.example` for every name below) covers a host. */
export function hostMatches(pattern: string, host: string): boolean {
    const wanted = normaliseHost(pattern), name = normaliseHost(host);
    return wanted === name || (wanted.startsWith("*.") && name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1);
}

function refusal(name: string, text: string): string | undefined {
    if (name === "") return "it is empty: name the external host, such as api.partner.example";
    // Before any pattern: a name of any length may come from anybody's object.
    if (name.length > MAX_NAME) return `it has ${name.length} characters, and DNS carries ${MAX_NAME}: check the name`;
    const address = addressRefusal(name);
    if (address !== undefined) return address;
    if (name === "*") return "it names every host at once: list the hosts that the applications need";
    if (/^[a-z][a-z0-9+.-]*:\/\//.test(name) || name.includes("/")) return "it is a URL or path: give the host name only";
    if (/:\d+$/.test(name)) return "it carries a port: give the port under ports";
    if (/^\*\.[^.]*$/.test(name)) return "it covers a whole top-level domain: use *.partner.example or exact names";
    const metadata = metadataRefusal(name);
    if (metadata !== undefined) return metadata;
    const local = localRefusal(name);
    return local === undefined ? syntaxRefusal(name, text) : `${local}, not an external host: remove the declaration`;
}

function metadataRefusal(name: string): string | undefined {
    return (name.startsWith("*") ? METADATA_NAMES.some((metadata) => hostMatches(name, metadata)) : METADATA_NAMES.includes(name)) ? "it is a cloud metadata service, which hands out credentials of the node; no egress may lead there" : undefined;
}

function localRefusal(name: string): string | undefined {
    return LOCAL_SUFFIXES.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1];
}

function addressRefusal(name: string): string | undefined {
    const bare = name.replace(/^\[(.*)\]$/, "$1");
    const metadata = metadataAddressRefusal(bare);
    if (metadata !== undefined) return metadata;
    const isV4 = /^\d{1,3}(\.\d{1,3}){3}$/.test(bare);
    const isV6 = /^[0-9a-f:.]+(%\w+)?$/.test(bare) && bare.split(":").length > 2;
    if (isV4 || isV6) return "it is an IP literal, which has no DNS answer and no SNI to route by: declare the host name behind it";
    if (/^(0x[0-9a-f]+|\d+)(\.(0x[0-9a-f]+|\d+))*$/.test(bare)) return "it is a number that resolvers read as an IP address: declare the host name behind it";
    return undefined;
}

function syntaxRefusal(name: string, text: string): string | undefined {
    const labels = (name.startsWith("*.") ? name.slice(2) : name).split(".");
    for (const label of labels) {
        if (label === "") return "it has an empty label (two dots, or a dot at an end): remove the extra dot";
        if (label.includes("*")) return "it has a * that is not the whole first label, which Istio does not accept: use *.partner.example or exact names";
        if (label.length > MAX_LABEL) return `its label ${JSON.stringify(label)} has ${label.length} characters, and DNS carries ${MAX_LABEL}: check the name`;
        // eslint-disable-next-line no-control-regex
        if (/[^\x00-\x7f]/.test(label)) return `its label ${JSON.stringify(label)} is not ASCII, and SNI carries ASCII only: write it in punycode (xn--…)`;
        if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label)) {
            return `its label ${JSON.stringify(label)} is not letters, digits and inner hyphens (RFC 1123): check the name ${JSON.stringify(text)}`;
        }
    }
    if (/^\d+$/.test(labels.at(-1) ?? "")) return `its last label ${JSON.stringify(labels.at(-1))} is all digits, which Istio rejects: check the name`;
    if (labels.length < 2) return "it has a single label, which a pod's DNS search list turns into another name: give the fully qualified name";
    return undefined;
}
