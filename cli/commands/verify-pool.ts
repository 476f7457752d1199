// `istio-egress verify-pool`: whether DNS answers what a pool declares: its addresses, and how many of them.
import { parseDuration } from "../../model";
import { ExitCode, usageError } from "../failure";
import { coloursFor } from "../render/colours";
import type { PoolVerdict } from "../verify-pool";
import { whole } from "./plan";

export interface VerifyPoolOptions {
    readonly all: boolean;
    readonly env?: string;
    readonly project: string;
    readonly catalogue?: string;
    readonly resolver?: string;
    readonly times: string;
    readonly interval: string;
    readonly format: "text" | "json";
}

const TIMEOUT_MS = 2000, LONGEST_INTERVAL_MS = 3_600_000;

/** 0: as declared; 1: drift; 2: a wrong call; 3: something could not be asked. */
export async function verifyPool(hosts: readonly string[], options: VerifyPoolOptions): Promise<ExitCode> {
    const { checkResolver } = await import("../verify-pool/ask.js"), times = whole("--times", options.times, 1, 1000), intervalMs = interval(options.interval);
    const resolver = options.resolver === undefined ? {} : { resolver: checkResolver(options.resolver) };
    const { chooseHosts } = await import("../plan/choose.js"), { PoolStatus, countOf, verifyPools } = await import("../verify-pool/index.js");
    const verdicts = await verifyPools(await chooseHosts({ ...options, hosts }), { ...resolver, times, intervalMs, timeoutMs: TIMEOUT_MS });
    if (options.format === "json") process.stdout.write(`${JSON.stringify({ ...resolver, times, hosts: verdicts }, null, 2)}\n`);
    else await print(verdicts);
    if (countOf(verdicts, PoolStatus.Unknown) > 0) return ExitCode.Incomplete;
    return countOf(verdicts, PoolStatus.Drift) > 0 ? ExitCode.Refused : ExitCode.Ok;
}

function interval(text: string): number {
    const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
    if (ms === undefined || ms > LONGEST_INTERVAL_MS) throw usageError(`--interval is ${JSON.stringify(text)}, but takes seconds or a duration of at most an hour, such as 5 or "500ms".`);
    return ms;
}

async function print(verdicts: readonly PoolVerdict[]): Promise<void> {
    const { summaryOf } = await import("../verify-pool/index.js"), { bold, green, red, cyan, dim } = coloursFor(process.stdout);
    const paint = { ok: green, drift: red, unknown: cyan, skipped: dim };
    const lines = verdicts.flatMap(({ name, host, status, seen, answers, drift, unknown, information }) => [
        `${paint[status](status.padEnd("skipped".length))}  ${bold(name)}  ${host}${Object.keys(seen).length === 0 ? "" : `: ${Object.entries(seen).map(([address, count]) => `${address} (${String(count)} of ${String(answers)})`).join(", ")}`}`,
        ...[...unknown, ...drift].map((text) => `         ${text}`), ...information.map((text) => `         ${dim(text)}`),
    ]);
    process.stdout.write([...lines, `${summaryOf(verdicts)}.`, ""].join("\n"));
}
