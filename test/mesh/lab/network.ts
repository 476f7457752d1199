// The lab's network: one namespace per node, joined by a bridge in a namespace of its own. The machine's own network is not touched.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { ISTIOD_HOST } from "../../support/istiod";
import { ADDRESSES, NETWORK, VIP_COUNT, nodes, vip } from "./layout";
import { attempt, must } from "./machine";

const PREFIX = "ieg";
const SWITCH = "switch";

/** The name of a node's network namespace. */
export function namespaceOf(lab: string, node: string): string {
    return `${PREFIX}-${lab}-${node}`;
}

/** Put before a command that is to run in a node's namespace, with the node's resolv.conf and hosts. */
export function inNamespace(lab: string, node: string): readonly string[] {
    return ["ip", "netns", "exec", namespaceOf(lab, node)];
}

export function createNetwork(lab: string): void {
    const bridge = namespaceOf(lab, SWITCH);
    must("ip", ["netns", "add", bridge]);
    must("ip", ["-n", bridge, "-batch", "-"], "link set lo up\nlink add br0 type bridge\nlink set br0 up\n");
    for (const { name, address } of nodes()) {
        const namespace = namespaceOf(lab, name);
        // Before the namespace: `ip netns exec` lays these files over those of /etc.
        const files = `/etc/netns/${namespace}`;
        mkdirSync(files, { recursive: true });
        writeFileSync(`${files}/resolv.conf`, `nameserver ${ADDRESSES.dns}\noptions ndots:1 timeout:1\n`);
        writeFileSync(`${files}/hosts`, `127.0.0.1 localhost\n${name === "control" ? "127.0.0.1" : ADDRESSES.control} ${ISTIOD_HOST} istiod\n`);
        must("ip", ["netns", "add", namespace]);
        must("ip", ["-n", bridge, "-batch", "-"], `link add v-${name} type veth peer name eth0 netns ${namespace}\nlink set v-${name} master br0 up\n`);
        // The default route leads nowhere: it lets connections to any address begin, which interception then takes.
        const more = name === "vips" ? otherVips() : [];
        const commands = ["link set lo up", `addr add ${address}/${String(NETWORK.prefixLength)} dev eth0`, ...more, "link set eth0 up", `route add default via ${NETWORK.router}`];
        must("ip", ["-n", namespace, "-batch", "-"], `${commands.join("\n")}\n`);
    }
}

function otherVips(): string[] {
    return Array.from({ length: VIP_COUNT }, (_, index) => vip(index + 1)).filter((address) => address !== ADDRESSES.vips)
        .map((address) => `addr add ${address}/${String(NETWORK.prefixLength)} dev eth0`);
}

/** The network namespaces of a lab that are there. */
export function namespacesOf(lab: string): readonly string[] {
    return attempt("ip", ["netns", "list"]).split("\n").map((line) => line.split(" ")[0] ?? "").filter((name) => name.startsWith(`${PREFIX}-${lab}-`));
}

/** The processes in a namespace: all of them are the lab's. */
export function processesIn(namespace: string): readonly number[] {
    return attempt("ip", ["netns", "pids", namespace]).split("\n").filter((line) => line !== "").map(Number);
}

export function removeNetwork(lab: string): void {
    for (const namespace of namespacesOf(lab)) {
        attempt("ip", ["netns", "del", namespace]);
        rmSync(`/etc/netns/${namespace}`, { recursive: true, force: true });
    }
}
