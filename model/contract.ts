// The application contract: what an application must do for the declaration's promises to hold, as data with reasons.
import type { Declaration } from "./declaration";
import { formatDuration, milliseconds } from "./duration";
import { connectTimeoutMs } from "./outlier";
import { hasProtocol } from "./ports";
import { Protocol, usesGateway } from "./routes";
import { type Waiting, decideWaiting, decideWaitingBeside } from "./waiting";
import { type LossWindow, WindowEnd, lossWindow } from "./window";

export interface ContractTerm {
    readonly term: "connectTimeout" | "handshakeTimeout" | "responseTimeout" | "connectRetries" | "connectionLifetime";
    /** The value to set, for people: `at least 3s`. */
    readonly value: string;
    /** The same as milliseconds where it is a bound on time. */
    readonly ms?: number;
    readonly reason: string;
}

/** The field documents' advice: one or two retries, on connect failure only. */
const CONNECT_RETRIES = 2;
/** Our own: room above the proxy's connect timeout for the TLS handshake itself. */
const MARGIN_MS = 2000;

const NEVER_REPEATED = "a request that was sent is never repeated safely";

/** Retries help where something can have changed by the time they run. */
function retries(window: LossWindow, waiting: Waiting | undefined): ContractTerm {
    const term = "connectRetries", value = `${CONNECT_RETRIES}, on connect or handshake failure only`;
    if (waiting !== undefined) return { term, value, reason: `the gateway itself tries again for ${formatDuration(waiting.budgetMs)}, so that what still fails met a longer fault, or a gateway pod that died; ${NEVER_REPEATED}` };
    switch (window.endsBy) {
        case WindowEnd.Gslb: {
            const { ms = 0 } = window;
            return { term, ms, value: `${value}, with a back-off that outlasts ${formatDuration(ms)} in total`, reason: `a retry inside the loss window can meet the dead address again; ${NEVER_REPEATED}` };
        }
        case WindowEnd.Unknown: return { term, value: `${value}, with a back-off that outlasts the GSLB's failover`, reason: `how long that takes is not declared (failover), and a retry before it meets the dead address again; ${NEVER_REPEATED}` };
        case WindowEnd.Standby:
        case WindowEnd.Ejection: return { term, value, reason: `outlier detection ejects after its first failures and never rescues the connection that failed; ${NEVER_REPEATED}` };
        case WindowEnd.HappyEyeballs: return { term, value, reason: `the proxy tries the answer's other addresses by itself, and a retry may find a new answer; ${NEVER_REPEATED}` };
        case WindowEnd.Application: return { term, value, reason: `the proxy connects to the address that the application resolved, so that a retry helps once it resolves again; ${NEVER_REPEATED}` };
    }
}

/** How long an application must be ready to wait: the budget, and the attempt that begins at its end. */
const waitFor = ({ budgetMs, backOff }: Waiting, timeoutMs: number): number => budgetMs + backOff.maxMs + timeoutMs;

/** The terms of a declaration, in the order in which a connection meets them. */
export function applicationContract(declaration: Declaration): readonly ContractTerm[] {
    const window = lossWindow(declaration), timeout = connectTimeoutMs(declaration), gateway = usesGateway(declaration.route);
    const { longestConnection } = declaration.failover ?? {};
    const first = decideWaiting(declaration), beside = decideWaitingBeside(declaration), waits = [first, ...(beside === undefined ? [] : [beside])].flatMap((one) => (one.waits ? [one.waiting] : []));
    const [waiting] = waits, isForAll = first.waits && beside?.waits !== false;
    const where = waiting === undefined || isForAll ? "" : ` on ${first.waits ? "ports other than HTTP" : "HTTP ports"}`;
    const wait = (waiting === undefined ? timeout : waitFor(waiting, timeout)) + MARGIN_MS;
    const waitsFor = `waits for the ${gateway ? "gateway's" : "sidecar's"} connection to the host, ${waiting === undefined ? `up to its connect timeout of ${formatDuration(timeout)}` : `for which the gateway tries for ${formatDuration(waiting.budgetMs)} in a failover${where}`}`;
    const isPlain = hasProtocol(declaration, Protocol.Http) || hasProtocol(declaration, Protocol.Tcp);
    return [
        {
            term: "connectTimeout", value: "1s to 3s", ms: 3000,
            reason: "the sidecar accepts the connection at once, so that only a missing proxy makes it last; the host's own connect time counts in what follows",
        },
        ...(hasProtocol(declaration, Protocol.Tls) ? [{ term: "handshakeTimeout", value: `at least ${formatDuration(wait)}`, ms: wait, reason: `the TLS handshake ${waitsFor}` } as const] : []),
        ...(isPlain ? [{ term: "responseTimeout", value: `at least ${formatDuration(wait)}`, ms: wait, reason: `the first answer ${waitsFor}` } as const] : []),
        retries(window, isForAll ? waiting : undefined),
        longestConnection === undefined
            ? { term: "connectionLifetime", value: "agree on a cap, below the target time of a planned failover", reason: "a kept-alive connection stays on the old address until the application closes it" }
            : { term: "connectionLifetime", value: `at most ${longestConnection}`, ms: milliseconds(longestConnection), reason: "the old address of a planned failover is kept up exactly that long" },
    ];
}
