// The lab's GSLB: a DNS server on UDP and TCP whose zone is changed while it runs, and that counts who asks.
import { createSocket } from "node:dgram";
import type { Socket as UdpSocket } from "node:dgram";
import { createServer } from "node:net";
import { decode, encode, streamDecode, streamEncode, AUTHORITATIVE_ANSWER, RECURSION_DESIRED, TRUNCATED_RESPONSE } from "dns-packet";
import type { Answer, Packet, Question } from "dns-packet";

/** What the server says about a name. */
export type DnsRecord =
    | AddressRecord
    /** The name does not exist; no record of that type; the server fails; no answer at all. */
    | { readonly kind: "nxdomain" | "empty" | "servfail" | "silence" };

export interface AddressRecord {
    readonly kind: "addresses";
    /** A and AAAA in the order in which they are answered. */
    readonly addresses: readonly string[];
    /** Seconds. */
    readonly ttl: number;
    /** `fixed` (default) as listed; `rotate` begins with the next one each time; `random`. */
    readonly order?: "fixed" | "rotate" | "random";
    /** An answer holds this many of the addresses only: after the order is applied, the first ones. */
    readonly sample?: number;
    /** Over UDP the answer is cut, so that the client has to ask over TCP. */
    readonly isTruncated?: boolean;
}

export interface DnsQuery {
    /** Milliseconds since 1970. */
    readonly at: number;
    readonly client: string;
    readonly name: string;
    readonly type: string;
    readonly transport: "udp" | "tcp";
    /** The addresses answered, or what else was said. */
    readonly answer: readonly string[] | "nxdomain" | "empty" | "servfail" | "silence" | "truncated";
}

type Said = Pick<DnsQuery, "answer"> & { readonly ttl?: number };

const KEPT_QUERIES = 50_000;
/** Without EDNS (RFC 1035). */
const PLAIN_UDP_BYTES = 512;
const RCODES = { nxdomain: 3, servfail: 2 };

const zone = new Map<string, DnsRecord>();
const turns = new Map<string, number>();
let queries: DnsQuery[] = [];

export const dnsMethods = {
    async dnsListen({ address }: { readonly address: string }): Promise<void> {
        const udp = createSocket("udp4");
        udp.on("message", (message, { address: client, port }) => answerUdp(udp, message, client, port));
        const tcp = createServer((socket) => {
            let pending = Buffer.alloc(0);
            socket.on("error", () => undefined).on("data", (data: Buffer) => {
                pending = Buffer.concat([pending, data]);
                if (pending.length < 2 || pending.length < 2 + pending.readUInt16BE(0)) return;
                const response = reply(streamDecode(pending), socket.remoteAddress ?? "", "tcp");
                if (response !== undefined) socket.end(streamEncode(response));
            });
        });
        await new Promise<void>((resolve) => udp.bind(53, address, resolve));
        await new Promise<void>((resolve) => tcp.listen(53, address, resolve));
    },
    /** Sets names; undefined (null on the wire) removes one. */
    dnsSet({ records }: { readonly records: Readonly<Record<string, DnsRecord | null>> }): void {
        for (const [name, record] of Object.entries(records)) {
            if (record === null) zone.delete(name.toLowerCase());
            else zone.set(name.toLowerCase(), record);
        }
    },
    dnsClear(): void {
        zone.clear();
        turns.clear();
        queries = [];
    },
    dnsQueries({ since = 0 }: { readonly since?: number }): readonly DnsQuery[] {
        return queries.filter(({ at }) => at >= since);
    },
};

function answerUdp(udp: UdpSocket, message: Buffer, client: string, port: number): void {
    const query = parse(message);
    if (query === undefined) return;
    const response = reply(query, client, "udp");
    if (response !== undefined) udp.send(fit(response, query), port, client);
}

function parse(message: Buffer): Packet | undefined {
    try {
        return decode(message);
    } catch {
        return undefined; // Not DNS.
    }
}

/** Cut to what the client takes: an answer that is too long says so, and is asked for over TCP. */
function fit(response: Packet, query: Packet): Buffer {
    const bytes = encode(response);
    const edns = query.additionals?.find(({ type }) => type === "OPT") as { readonly udpPayloadSize?: number } | undefined;
    if (bytes.length <= Math.max(PLAIN_UDP_BYTES, edns?.udpPayloadSize ?? 0)) return bytes;
    return encode({ ...response, answers: [], flags: (response.flags ?? 0) | TRUNCATED_RESPONSE });
}

function reply(query: Packet, client: string, transport: DnsQuery["transport"]): Packet | undefined {
    const question = query.questions?.[0];
    if (question === undefined) return undefined;
    const name = question.name.toLowerCase();
    const { answer, ttl = 0 } = say(name, question, transport);
    queries.push({ at: Date.now(), client, name, type: question.type, transport, answer });
    if (queries.length > KEPT_QUERIES) queries = queries.slice(-KEPT_QUERIES / 2);
    if (answer === "silence") return undefined;
    const addresses = typeof answer === "string" ? [] : answer;
    const rcode = answer === "nxdomain" || answer === "servfail" ? RCODES[answer] : 0;
    return {
        type: "response", id: query.id ?? 0, questions: [question],
        flags: AUTHORITATIVE_ANSWER | ((query.flags ?? 0) & RECURSION_DESIRED) | (answer === "truncated" ? TRUNCATED_RESPONSE : 0) | rcode,
        answers: addresses.map((data): Answer => ({ name: question.name, type: question.type as "A" | "AAAA", ttl, data })),
    };
}

function say(name: string, { type }: Question, transport: DnsQuery["transport"]): Said {
    const record = zone.get(name);
    if (record === undefined) return { answer: "nxdomain" };
    if (record.kind !== "addresses") return { answer: record.kind };
    if (record.isTruncated === true && transport === "udp") return { answer: "truncated" };
    const ofType = record.addresses.filter((address) => type === (address.includes(":") ? "AAAA" : "A"));
    const chosen = inOrder(`${name} ${type}`, ofType, record).slice(0, record.sample ?? ofType.length);
    return chosen.length === 0 ? { answer: "empty" } : { answer: chosen, ttl: record.ttl };
}

function inOrder(key: string, addresses: readonly string[], { order, sample }: AddressRecord): readonly string[] {
    if (order === "random") return shuffled(addresses);
    if (order !== "rotate" || addresses.length === 0) return addresses;
    const turn = turns.get(key) ?? 0;
    turns.set(key, (turn + (sample ?? 1)) % addresses.length);
    return [...addresses.slice(turn), ...addresses.slice(0, turn)];
}

function shuffled(addresses: readonly string[]): readonly string[] {
    return addresses.map((address) => ({ address, by: Math.random() })).sort((a, b) => a.by - b.by).map(({ address }) => address);
}
