// A small DNS server on loopback for tests: UDP, an ephemeral port, and a zone that says what is answered, question by question.
import { createSocket } from "node:dgram";
import { AUTHORITATIVE_ANSWER, type Answer, decode, encode } from "dns-packet";

/** What one question is answered: addresses of any family, or how it fails. */
export type Said = readonly string[] | "nxdomain" | "servfail" | "refused" | "silence" | "garbage";

const RCODES = { nxdomain: 3, servfail: 2, refused: 5 } as const;

export interface DnsServer {
    /** `127.0.0.1:PORT`. */
    readonly address: string;
    /** Of A and AAAA. */
    readonly questions: { readonly name: string; readonly type: string }[];
    readonly close: () => void;
}

/** `say` gets the name and how often its A record was asked for before. */
export async function dnsServer(say: (name: string, round: number) => Said): Promise<DnsServer> {
    const socket = createSocket("udp4"), questions: { name: string; type: string }[] = [], rounds = new Map<string, number>();
    socket.on("message", (message, { address, port }) => {
        const { id, questions: [question] = [] } = decode(message);
        if (question === undefined) return;
        const { name, type } = question, key = `${name} ${type}`, round = rounds.get(key) ?? 0, said = say(name, round);
        rounds.set(key, round + 1);
        questions.push({ name, type });
        if (said === "silence") return;
        if (said === "garbage") return socket.send(Buffer.from("no DNS at all"), port, address);
        const addresses = typeof said === "string" ? [] : said.filter((one) => one.includes(":") === (type === "AAAA"));
        socket.send(encode({
            type: "response", id: id ?? 0, questions: [question], flags: AUTHORITATIVE_ANSWER | (typeof said === "string" ? RCODES[said] : 0),
            answers: addresses.map((data): Answer => ({ name, type: type as "A" | "AAAA", ttl: 5, data })),
        }), port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return { address: `127.0.0.1:${String((socket.address()).port)}`, questions, close: () => socket.close() };
}
