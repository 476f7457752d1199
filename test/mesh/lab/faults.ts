// Faults of the network, by iptables and tc in the lab's own namespaces.
import { attempt, must } from "./machine";
import { inNamespace } from "./network";

/** `drop`: packets vanish, as of a dead machine. `refuse`: each is answered with RST, as where nobody listens. */
export type Fault = "drop" | "refuse";

export class Faults {
    private readonly touched = new Set<string>();

    constructor(private readonly lab: string) {}

    /** An address of a VIP fails, for connections that exist too; `connections: "new"` lets those go on. */
    vip(address: string, fault: Fault, connections: "all" | "new" = "all"): void {
        this.rule("vips", ["-d", address], fault, connections);
    }

    /** A pod cannot be reached by anybody on these ports. */
    pod(name: string, fault: Fault, ports: readonly number[] = [8443, 9443, 15432]): void {
        this.rule(name, ["-m", "multiport", "--dports", ports.join(",")], fault, "all");
    }

    /** What a node sends arrives later. Needs the kernel's netem. */
    delay(node: string, milliseconds: number): void {
        const where = ["tc", "qdisc", "replace", "dev", "eth0", "root", "netem", "delay", `${String(milliseconds)}ms`];
        try {
            this.run(node, where);
        } catch (error) {
            throw new Error(`This machine's kernel cannot delay packets (sch_netem): use lab.vips.behave(address, {delayMs}) for a slow server. ${String(error)}`, { cause: error });
        }
    }

    /** Everything works again. */
    clear(node?: string): void {
        for (const one of node === undefined ? this.touched : [node]) {
            this.run(one, ["iptables", "-w", "-F", "INPUT"]);
            const [command = "", ...args] = [...inNamespace(this.lab, one), "tc", "qdisc", "del", "dev", "eth0", "root"];
            attempt(command, args);
        }
        if (node === undefined) this.touched.clear();
    }

    /** One address works again. */
    clearVip(address: string): void {
        for (const fault of ["drop", "refuse"] as const) {
            for (const connections of ["all", "new"] as const) {
                const [command = "", ...args] = [...inNamespace(this.lab, "vips"), ...ruleOf("-D", ["-d", address], fault, connections)];
                attempt(command, args);
            }
        }
    }

    private rule(node: string, what: readonly string[], fault: Fault, connections: "all" | "new"): void {
        this.run(node, ruleOf("-A", what, fault, connections));
    }

    private run(node: string, command: readonly string[]): void {
        this.touched.add(node);
        const [first = "", ...args] = [...inNamespace(this.lab, node), ...command];
        must(first, args);
    }
}

function ruleOf(verb: "-A" | "-D", what: readonly string[], fault: Fault, connections: "all" | "new"): string[] {
    const target = fault === "drop" ? ["DROP"] : ["REJECT", "--reject-with", "tcp-reset"];
    // The DNS server is a node of its own; its address is never among these.
    return ["iptables", "-w", verb, "INPUT", "-p", "tcp", ...(connections === "new" ? ["--syn"] : []), ...what, "-j", ...target];
}

