// Questions to DNS, and what came back: addresses, nothing, or why not.
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { messageOf, usageError } from "../failure";

export interface AskOptions {
    /** `IP` or `IP:port`; the machine's own resolvers where it is not given. */
    readonly resolver?: string;
    /** Of one try; there are two. */
    readonly timeoutMs: number;
}

export type Answer =
    | { readonly kind: "addresses"; readonly addresses: readonly string[] }
    /** No address: a clause that reads on from the host. */
    | { readonly kind: "failed"; readonly cause: string };

const TRIES = 2;
/** What c-ares says where a name has no record of the type. */
const EMPTY = "ENODATA";

const CAUSES: Readonly<Record<string, (seconds: number) => string>> = {
    [EMPTY]: () => "has no address (an answer without records): proxies with resolution DNS would empty their list",
    ENOTFOUND: () => "does not exist (NXDOMAIN): proxies with resolution DNS would empty their list",
    ESERVFAIL: () => "is not answered: the server failed (SERVFAIL)",
    EREFUSED: () => "is not answered: the server refused the question (REFUSED); is it a resolver for this host?",
    ETIMEOUT: (seconds) => `is not answered: nothing came back within ${String(seconds)} s`,
    ECONNREFUSED: () => "is not answered: nobody listens at the resolver",
    EBADRESP: () => "is not answered: what came back is no DNS answer",
};

/** Both kinds of addresses, A before AAAA. Each question is asked anew. */
export async function ask(host: string, options: AskOptions): Promise<Answer> {
    const resolver = new Resolver({ timeout: options.timeoutMs, tries: TRIES });
    if (options.resolver !== undefined) resolver.setServers([options.resolver]);
    const [v4, v6] = await Promise.all([answerOf(resolver.resolve4(host)), answerOf(resolver.resolve6(host))]);
    if (v4.code !== undefined && v4.code !== EMPTY) return { kind: "failed", cause: causeOf(v4.code, options) };
    if (v6.code !== undefined && v6.code !== EMPTY && v4.addresses.length === 0) return { kind: "failed", cause: causeOf(v6.code, options) };
    const addresses = [...v4.addresses, ...v6.addresses];
    return addresses.length === 0 ? { kind: "failed", cause: causeOf(EMPTY, options) } : { kind: "addresses", addresses };
}

async function answerOf(question: Promise<readonly string[]>): Promise<{ readonly addresses: readonly string[]; readonly code?: string }> {
    try {
        return { addresses: await question };
    } catch (error) {
        return { addresses: [], code: (error as NodeJS.ErrnoException).code ?? messageOf(error) };
    }
}

function causeOf(code: string, { timeoutMs }: AskOptions): string {
    return CAUSES[code]?.((timeoutMs * TRIES) / 1000) ?? `is not answered (${code})`;
}

/** `10.0.0.53`, `10.0.0.53:5353`, `fd00::53`, `[fd00::53]:53`. */
export function checkResolver(text: string): string {
    const [, inBrackets, ofV6] = /^\[([^\]]+)\](?::(\d+))?$/.exec(text) ?? [], [, v4, ofV4] = /^([^:]+)(?::(\d+))?$/.exec(text) ?? [];
    const address = inBrackets ?? v4 ?? text, port = Number(ofV6 ?? ofV4 ?? 53);
    if (isIP(address) === 0 || (inBrackets !== undefined && isIP(address) !== 6) || port < 1 || port > 65535) {
        throw usageError(`--resolver is ${JSON.stringify(text)}, but takes the IP address of a resolver, with or without a port: 10.0.0.53, 10.0.0.53:5353 or [fd00::53]:53.`);
    }
    return text;
}
