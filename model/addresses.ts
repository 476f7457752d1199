// The addresses that applications dial on TCP ports, where a connection carries no name.
import { z } from "zod";
import type { Declaration } from "./declaration";
import { METADATA_ADDRESSES } from "./host";
import { hasProtocol } from "./ports";
import { type Path, type Problems, show } from "./problem";
import { Protocol } from "./routes";

const V4 = z.ipv4(), V6 = z.ipv6();

/** Why an address cannot be dialled through the mesh; the reason reads on from the value. */
function refusal(text: string): string | undefined {
    if (METADATA_ADDRESSES.includes(text.toLowerCase())) return "it is a cloud metadata address, which hands out credentials of the node; no egress may lead there";
    const isV4 = V4.safeParse(text).success;
    if (!isV4 && !V6.safeParse(text).success) return "it is not an IP address: give the addresses that DNS answers the applications, one by one";
    if (isV4 ? /^(0|127)\./.test(text) : text === "::" || text === "::1") return "it never leaves the pod: give the addresses that DNS answers the applications";
    return undefined;
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
    const seen = new Map<string, number>();
    addresses.forEach((address, index) => {
        const path: Path = ["addresses", index], reason = refusal(address), first = seen.get(address.toLowerCase());
        if (reason !== undefined) problems.add(path, `is ${show(address)}, and ${reason}.`);
        if (first === undefined) seen.set(address.toLowerCase(), index);
        else problems.add(path, `is ${show(address)}, which addresses[${first}] names already: remove one of them.`, [["addresses", first]]);
    });
    const { addressesPerAnswer } = declaration.pool;
    if (declaration.pool.membership === "fixed" && addressesPerAnswer !== undefined && addresses.length > 1 && addresses.length < addressesPerAnswer) {
        problems.add(["addresses"], `names ${addresses.length} of the ${addressesPerAnswer} addresses that one DNS answer holds: connections to the others would pass by the route; name all, or the one address that the applications' resolver answers.`, [["pool"], ...reads]);
    }
}
