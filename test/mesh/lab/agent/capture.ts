// Reads the TLS ClientHellos on a namespace's wire while tcpdump runs.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readClientHello } from "./client-hello";
import type { ClientHello } from "./client-hello";

/** One ClientHello on the wire. */
export interface SeenHello extends ClientHello {
    readonly from: string;
    readonly to: string;
    /** The port that was dialled. */
    readonly port: number;
}

const FILE_HEADER = 24, PACKET_HEADER = 16, ETHERNET_HEADER = 14, IPV4 = 0x0800, TCP = 6;

let running: { readonly child: ChildProcess; readonly hellos: SeenHello[] } | undefined;

export const captureMethods = {
    /** @param ports the TCP ports to look at */
    async captureStart({ ports }: { readonly ports: readonly number[] }): Promise<void> {
        if (running !== undefined) throw new Error("A capture is running already.");
        // -U and the immediate mode: each packet at once; the count bounds a capture that nobody stops.
        const child = spawn("tcpdump", ["-i", "eth0", "-nn", "-s", "0", "-U", "--immediate-mode", "-c", "100000", "-w", "-", ports.map((port) => `tcp dst port ${String(port)}`).join(" or ")], { stdio: ["ignore", "pipe", "pipe"] });
        const hellos: SeenHello[] = [], reader = new PacketReader((hello) => hellos.push(hello));
        child.stdout.on("data", (data: Buffer) => reader.add(data));
        await new Promise<void>((resolve, reject) => {
            let said = "";
            child.once("error", (error) => reject(new Error(`tcpdump cannot be started (Debian: tcpdump): ${error.message}`)));
            child.once("exit", () => reject(new Error(`tcpdump ended: ${said}`)));
            child.stderr.setEncoding("utf8").on("data", (text: string) => {
                said += text;
                if (said.includes("listening on")) resolve();
            });
        });
        running = { child, hellos };
    },
    async captureStop(): Promise<readonly SeenHello[]> {
        if (running === undefined) throw new Error("No capture is running.");
        const { child, hellos } = running;
        running = undefined;
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.kill("SIGTERM"); // tcpdump writes what it holds, and leaves.
        await ended;
        return hellos;
    },
};

/** Takes a capture file piece by piece. */
class PacketReader {
    private pending = Buffer.alloc(0);
    private offset = FILE_HEADER;
    private readonly flows = new Map<string, Buffer>();

    constructor(private readonly found: (hello: SeenHello) => void) {}

    add(data: Buffer): void {
        this.pending = Buffer.concat([this.pending, data]);
        while (this.pending.length >= this.offset + PACKET_HEADER) {
            const length = this.pending.readUInt32LE(this.offset + 8), end = this.offset + PACKET_HEADER + length;
            if (this.pending.length < end) return;
            this.packet(this.pending.subarray(this.offset + PACKET_HEADER, end));
            this.pending = this.pending.subarray(end);
            this.offset = 0;
        }
    }

    private packet(frame: Buffer): void {
        if (frame.length < ETHERNET_HEADER + 40 || frame.readUInt16BE(12) !== IPV4) return;
        const ip = frame.subarray(ETHERNET_HEADER);
        if (ip[9] !== TCP) return;
        const tcp = ip.subarray((ip.readUInt8(0) & 15) * 4, ip.readUInt16BE(2));
        const payload = tcp.subarray((tcp.readUInt8(12) >> 4) * 4);
        const from = [...ip.subarray(12, 16)].join("."), to = [...ip.subarray(16, 20)].join("."), port = tcp.readUInt16BE(2);
        const flow = `${from}:${String(tcp.readUInt16BE(0))} ${to}:${String(port)}`;
        if (payload.length === 0) return;
        const known = this.flows.get(flow);
        if (known?.length === 0) return; // Its ClientHello has been read.
        const bytes = Buffer.concat([known ?? Buffer.alloc(0), payload]), hello = readClientHello(bytes);
        this.flows.set(flow, hello === "incomplete" ? bytes : Buffer.alloc(0));
        if (hello !== "incomplete" && hello !== undefined) this.found({ from, to, port, ...hello });
    }
}
