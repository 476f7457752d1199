// The addresses that applications dial on TCP ports, where a connection carries no name.
import { z } from "zod";
import type { Declaration } from "./declaration";
import { metadataAddressRefusal } from "./host";
import { hasProtocol } from "./ports";
import { type Path, type Problems, show } from "./problem";
import { Protocol } from "./routes";

const V4 = z.ipv4(), V6 = z.ipv6();

/** Why an address cannot be one of a host's; the reason reads on from the value, and ends with what to give. */
function refusal(text: string, wayOut: string, isLinkLocalRefused: boolean): string | undefined {
    const address = text.toLowerCase(), isV4 = V4.safeParse(text).success, metadata = metadataAddressRefusal(address);
    if (metadata !== undefined) return metadata;
    if (!isV4 && !V6.safeParse(text).success) return `it is not an IP address: ${wayOut}, one by one`;
    if (isV4 ? /^(0|127)\./.test(text) : address === "::" || address === "::1") return `it never leaves the pod: ${wayOut}`;
    if (isLinkLocalRefused && (isV4 ? /^(169\.254|22[4-9]|23\d|255)\./.test(text) : /^(fe[89ab]|ff)/.test(address))) return `it is a link-local, multicast or broadcast address, which no partner serves on: ${wayOut}`;
    return undefined;
}

/** Each of a list of addresses: one that can be a host's, and named once. */
export function checkEachAddress(problems: Problems, at: Path, addresses: readonly string[], wayOut: string, isLinkLocalRefused: boolean): void {
    const seen = new Map<string, number>();
    addresses.forEach((address, index) => {
        const path: Path = [...at, index], reason = refusal(address, wayOut, isLinkLocalRefused), first = seen.get(address.toLowerCase());
        if (reason !== undefined) problems.add(path, `is ${show(address)}, and ${reason}.`);
        if (first === undefined) seen.set(address.toLowerCase(), index);
        else problems.add(path, `is ${show(address)}, which ${String(at.at(-1))}[${first}] names already: remove one of them.`, [[...at, first]]);
    });
}

export function checkAddresses(problems: Problems, declaration: Declaration): void {
    const { addresses } = declaration, reads: Path[] = [["ports"]];
    if (!hasProtocol(declaration, Protocol.Tcp)) {
        if (addresses !== undefined) problems.add(["addresses"], "has no effect without a TCP port: TLS and HTTP carry the host's name, by which the sidecar tells hosts apart; remove it.", reads);
        return;
    }
    if (addresses === undefined) {
        problems.add(["addresses"], "is missing: a TCP port needs the addresses that applications dial, since TCP carries no name; without them the sidecar would take every connection on that port, whatever the host, and of two such hosts the older one would take all.", reads);
        return;
    }
    checkEachAddress(problems, ["addresses"], addresses, "give the addresses that DNS answers the applications", false);
    const { addressesPerAnswer } = declaration.pool;
    if (declaration.pool.membership === "fixed" && addressesPerAnswer !== undefined && addresses.length > 1 && addresses.length < addressesPerAnswer) {
        problems.add(["addresses"], `names ${addresses.length} of the ${addressesPerAnswer} addresses that one DNS answer holds: connections to the others would pass by the route; name all, or the one address that the applications' resolver answers.`, [["pool"], ...reads]);
    }
}
