// How long connections live: idleTimeout, maxConnectionDuration, responses of more than five minutes, and HTTP/2.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Resolution } from "../../../model";
import type { Lab } from "../lab";
import type { Exchange } from "../lab/agent/client";
import type { Connection } from "../lab/world";
import { declare } from "../lab/declare";
import { vip } from "../lab/layout";
import { scenario } from "../scenario";

const consumers = [{ namespace: "payments" }];
const IDLE_S = 4, DURATION_S = 6;
const limit = (spec: object): Record<string, unknown> => ({ spec: { trafficPolicy: { connectionPool: { tcp: { connectTimeout: "1s", ...spec } } } } });
const HOSTS = {
    plain: declare({ host: "plain.life.example", consumers }),
    goaway: declare({ host: "goaway.life.example", consumers }),
    logical: declare({ host: "logical.life.example", consumers, resolution: Resolution.DnsRoundRobin }),
    idle: declare({ host: "idle.life.example", consumers, idleTimeout: `${String(IDLE_S)}s` }),
    duration: declare({ host: "duration.life.example", consumers, manifestOverrides: { "DestinationRule/host": limit({ maxConnectionDuration: `${String(DURATION_S)}s` }) } }),
};

/** What became of one kept connection. */
interface Kept {
    /** Seconds from its first request until the other side ended it, or until it was given up. */
    readonly endedAfter: number;
    readonly how: "closed" | "reset" | "open";
    readonly answered: number;
    readonly lastWait: Exchange | undefined;
}

scenario("lifetimes", { title: "Lifetimes of connections", question: "What ends a connection that is idle, waits, is busy, or is long, and does it follow a flip of the record?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        for (const { host } of Object.values(HOSTS)) await lab().dns.addresses(host, [vip(1)]);
        await lab().up(HOSTS);
    });

    cell({
        id: "idle-timeout", title: `idleTimeout ${String(IDLE_S)} s`, full: { seconds: 20 }, quick: { seconds: 9 }, timeoutMs: 90_000, isSideBySide: true,
        measure: (one, { seconds }) => lives(one, HOSTS.idle.host, { seconds, longWait: IDLE_S + 3, shortWait: IDLE_S - 2 }),
        expect: ({ quiet, busy, long, short, after }) => {
            expect([quiet.how, long.how]).to.deep.equal(["closed", "closed"]);
            for (const { endedAfter } of [quiet, long]) expect(endedAfter).to.be.within(IDLE_S - 0.5, IDLE_S + 2);
            expect(long.lastWait).to.include({ ok: false });
            expect(short.lastWait).to.include({ ok: true });
            expect([busy.how, busy.pinned]).to.deep.equal(["open", true]);
            expect(after).to.equal(vip(2));
        },
        shown: ({ quiet, long, busy }) => `quiet: ended after ${text(quiet)}; a request that waits ${String(IDLE_S + 3)} s for its answer: cut after ${text(long)}; one that waits ${String(IDLE_S - 2)} s: answered; busy: open after ${text(busy)}, still on the old VIP after the flip`,
        documents: "not measured", earlier: "10 s: ends quiet connections and a request that waits silently for longer; a busy keepalive stays pinned",
    });

    cell({
        id: "max-connection-duration", title: `maxConnectionDuration ${String(DURATION_S)} s`, full: { seconds: 20 }, quick: { seconds: 9 }, timeoutMs: 90_000, isSideBySide: true,
        measure: (one, { seconds }) => lives(one, HOSTS.duration.host, { seconds, longWait: DURATION_S + 3, shortWait: 2 }),
        expect: ({ quiet, busy, long, stream, after }) => {
            for (const { endedAfter, how } of [quiet, busy, long]) {
                expect(how).to.not.equal("open");
                expect(endedAfter).to.be.within(DURATION_S - 1.5, DURATION_S + 2);
            }
            expect(stream).to.include({ ok: false });
            expect(after).to.equal(vip(2));
        },
        shown: ({ quiet, busy, long, stream }) => `quiet: ended after ${text(quiet)}; busy: after ${text(busy)}; waiting: cut after ${text(long)}; a stream: ${stream.reason ?? "whole"} after ${(stream.ms / 1000).toFixed(1)} s`,
        documents: "not measured", earlier: "cuts everything",
    });

    cell({
        id: "long-streams", title: "Responses of 310 s, the record flips after 10 s", full: { seconds: 310 }, timeoutMs: 420_000,
        measure: async (one, { seconds }) => {
            const modes = ["plain", "logical", "idle", "duration"] as const;
            for (const mode of modes) await flip(one, HOSTS[mode].host, 1);
            const streams = modes.map((mode) => one.apps.payments.request(HOSTS[mode].host, { path: `/slow/${String(seconds)}`, timeoutMs: (seconds + 30) * 1000 }));
            await wait(10_000);
            for (const mode of modes) await flip(one, HOSTS[mode].host, 2);
            const next = await one.apps.payments.request(HOSTS.plain.host);
            const [plain, logical, idle, duration] = await Promise.all(streams);
            if (plain === undefined || logical === undefined || idle === undefined || duration === undefined) throw new Error("A stream is missing.");
            return { plain, logical, idle, duration, next };
        },
        expect: ({ plain, logical, idle, duration, next }) => {
            for (const stream of [plain, logical, idle]) {
                expect(stream, JSON.stringify(stream)).to.include({ ok: true });
                expect(stream.reply?.who?.vip).to.equal(vip(1));
                expect(stream.ms).to.be.within(309_000, 325_000);
            }
            expect(next.reply?.who?.vip).to.equal(vip(2));
            expect(duration.ok).to.equal(false);
        },
        shown: ({ plain, logical, idle, duration }) => `STRICT: whole, ${bytes(plain)} in ${secondsOf(plain)}, all from the old VIP; LOGICAL: the same, ${secondsOf(logical)}; idleTimeout ${String(IDLE_S)} s: the same, ${secondsOf(idle)} (a chunk each second is not idle); maxConnectionDuration ${String(DURATION_S)} s: ${duration.reason ?? "whole"} after ${secondsOf(duration)}`,
        documents: "not measured", earlier: "not measured",
    });

    cell({
        id: "http2", title: "HTTP/2: one session with streams side by side, the record flips", full: { seconds: 40 }, quick: { seconds: 6 }, timeoutMs: 120_000, isSideBySide: true,
        measure: async (one, { seconds }) => {
            const { host } = HOSTS.plain;
            await flip(one, host, 1);
            const begin = Date.now(), session = await one.apps.payments.session(host);
            const stream = session.ask(`/slow/${String(seconds)}`, (seconds + 30) * 1000);
            const side = await Promise.all(Array.from({ length: 10 }, () => session.ask()));
            await flip(one, host, 2);
            const afterFlip = await Promise.all(Array.from({ length: 10 }, () => session.ask()));
            const opened = (await one.vips.connections(begin)).filter(({ sni }) => sni === host);
            const fresh = await one.apps.payments.session(host), next = await fresh.ask();
            const whole = await stream;
            await Promise.all([session.close(), fresh.close()]);
            return { whole, side: side.map(answerer), afterFlip: afterFlip.map(answerer), connections: opened.length, alpn: opened[0]?.alpn, next: answerer(next) };
        },
        expect: ({ whole, side, afterFlip, connections, alpn, next }) => {
            expect(whole).to.include({ ok: true });
            expect([...new Set([...side, ...afterFlip, answerer(whole)])]).to.deep.equal([`${vip(1)} HTTP/2.0`]);
            expect([connections, alpn, next]).to.deep.equal([1, ["h2"], `${vip(2)} HTTP/2.0`]);
        },
        shown: ({ whole, afterFlip }) => `one connection (ALPN h2 at the VIP) for 21 requests: the ${secondsOf(whole)} stream is whole, ${String(afterFlip.length)} requests after the flip still reach the old VIP; a new session reaches the new one`,
        documents: "not measured", earlier: "not measured", why: "as keepalive: the connection's lifetime decides, and HTTP/2 keeps one for longer",
    });

    cell({
        id: "http2-goaway", title: "HTTP/2: the old VIP says GOAWAY after the flip", full: { seconds: 10 }, quick: { seconds: 3 }, timeoutMs: 60_000, isSideBySide: true,
        measure: async (one, { seconds }) => {
            const { host } = HOSTS.goaway;
            await flip(one, host, 1);
            const session = await one.apps.payments.session(host), stream = session.ask(`/slow/${String(seconds)}`, (seconds + 20) * 1000);
            await flip(one, host, 2);
            const last = await session.ask("/close");
            for (const deadline = Date.now() + 5_000; !await session.isOver() && Date.now() < deadline; await wait(20));
            const next = await one.apps.payments.session(host), answer = await next.ask();
            const whole = await stream;
            await Promise.all([session.close(), next.close()]);
            return { last: answerer(last), whole, next: answerer(answer) };
        },
        expect: ({ last, whole, next }) => {
            expect([last, next]).to.deep.equal([`${vip(1)} HTTP/2.0`, `${vip(2)} HTTP/2.0`]);
            expect(whole).to.include({ ok: true });
        },
        shown: ({ whole }) => `the stream in flight is whole (${secondsOf(whole)}), nothing is lost, the next session reaches the new VIP`, documents: "not measured", earlier: "not measured",
        why: "how a server lets go of its clients without losing a request: Envoy carries the bytes and takes no part",
    });
});

/** Four connections and a stream at once, a flip of the record soon after their begin, and a new connection at the end. */
async function lives(lab: Lab, host: string, { seconds, longWait, shortWait }: { readonly seconds: number; readonly longWait: number; readonly shortWait: number }): Promise<{
    readonly quiet: Kept; readonly busy: Kept & { readonly pinned: boolean }; readonly long: Kept; readonly short: Kept; readonly stream: Exchange; readonly after: string | undefined;
}> {
    await flip(lab, host, 1);
    const stream = lab.apps.payments.request(host, { path: `/slow/${String(seconds)}`, timeoutMs: (seconds + 20) * 1000 });
    const open = (): Promise<Connection> => lab.apps.payments.connect(host);
    const connections = await Promise.all([open(), open(), open(), open()]), [first, second, third, fourth] = connections;
    const running = Promise.all([quiet(first, seconds), busy(second, seconds), waiting(third, longWait), waiting(fourth, shortWait)]);
    await flip(lab, host, 2);
    const [one, two, three, four] = await running;
    await Promise.all(connections.map((connection) => connection.close()));
    const { reply } = await lab.apps.payments.request(host);
    return { quiet: one, busy: two, long: three, short: four, stream: await stream, after: reply?.who?.vip };
}

async function quiet(connection: Connection, seconds: number): Promise<Kept> {
    await connection.ask();
    const { how, ms } = await connection.end(seconds * 1000);
    return { endedAfter: ms / 1000, how, answered: 1, lastWait: undefined };
}

/** A request each second. */
async function busy(connection: Connection, seconds: number): Promise<Kept & { readonly pinned: boolean }> {
    const begin = Date.now();
    const answers: (string | undefined)[] = [];
    let broken: Exchange | undefined;
    while (broken === undefined && Date.now() - begin < seconds * 1000) {
        const exchange = await connection.ask();
        if (exchange.ok) answers.push(exchange.reply?.who?.vip);
        else broken = exchange;
        if (broken === undefined) await wait(1_000);
    }
    return { endedAfter: (Date.now() - begin) / 1000, how: broken === undefined ? "open" : "closed", answered: answers.length, lastWait: broken, pinned: answers.every((by) => by === vip(1)) };
}

/** One request that is answered so many seconds later, in silence until then. */
async function waiting(connection: Connection, seconds: number): Promise<Kept> {
    const begin = Date.now();
    const exchange = await connection.ask(`/wait/${String(seconds)}`, (seconds + 20) * 1000);
    return { endedAfter: (Date.now() - begin) / 1000, how: exchange.ok ? "open" : "closed", answered: exchange.ok ? 1 : 0, lastWait: exchange };
}

async function flip(lab: Lab, host: string, number: number): Promise<void> {
    await lab.dns.addresses(host, [vip(number)], { ttl: 1 });
    await lab.members(host, [vip(number)]);
}

function answerer({ reply, reason }: Exchange): string {
    return reply?.who === undefined ? reason ?? "?" : `${reply.who.vip} HTTP/${reply.who.http}`;
}

function text({ endedAfter }: Kept): string {
    return `${endedAfter.toFixed(1)} s`;
}

function secondsOf({ ms }: Exchange): string {
    return `${(ms / 1000).toFixed(1)} s`;
}

function bytes({ reply }: Exchange): string {
    return `${String(reply?.bytes ?? 0)} bytes`;
}
