// DNS faults as the library writes it, without standby addresses: what is lost while nothing is known, and how soon it is over.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Lab } from "../lab";
import type { DnsRecord } from "../lab/agent/dns";
import { WAITING } from "../lab/declare";
import { GATEWAY_LABELS, NAMESPACES } from "../lab/layout";
import { Addresses, counting, failures, slowest, warmUp } from "../runs";
import type { Run } from "../runs";
import { isFull, scenario } from "../scenario";
import { answering, declared } from "../variants";

type DnsFault = Exclude<DnsRecord["kind"], "addresses">;
interface Inputs { readonly runs: number; readonly connections: number; readonly perSecond: number; readonly faultSeconds: number }
interface Figures { readonly runs: readonly (Run & { readonly lastFailure: number })[]; readonly faultSeconds: number }
const TTL = 2;
const FULL: Inputs = { runs: 3, connections: 1000, perSecond: 20, faultSeconds: 20 }, QUICK: Inputs = { runs: 1, connections: 160, perSecond: 20, faultSeconds: 4 };
const addresses = new Addresses();

/** What else could bring a host back, or keep it: merged into its cluster at the gateway by hand, after the library's own. */
type Device = "logical" | "failure-refresh" | "istio-refresh";
const DEVICES: Readonly<Record<Device, { readonly title: string; readonly value: object; readonly keeps: boolean; readonly why: string }>> = {
    logical: { title: "the cluster as LOGICAL_DNS", value: { type: "LOGICAL_DNS" }, keeps: true, why: "LOGICAL keeps its address, but spreads nothing and ejects nothing as soon as DNS answers two" },
    "failure-refresh": { title: "dns_failure_refresh_rate 200 ms", value: { dns_failure_refresh_rate: { base_interval: "0.2s", max_interval: "0.2s" } }, keeps: false, why: "asked sooner, but the list is empty all the same" },
    "istio-refresh": { title: "Istio's dnsRefreshRate, 60 s", value: { dns_refresh_rate: "60s" }, keeps: false, why: "what Istio does by itself" },
};
function deviceFilter(host: string, device: Device): object {
    return {
        apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", metadata: { name: `device-${host.replaceAll(".", "-")}`, namespace: NAMESPACES.gateway },
        spec: {
            workloadSelector: { labels: { istio: GATEWAY_LABELS.istio } }, priority: 10,
            configPatches: [{ applyTo: "CLUSTER", match: { context: "GATEWAY", cluster: { service: host, portNumber: 443 } }, patch: { operation: "MERGE", value: DEVICES[device].value } }],
        },
    };
}

const CELLS: readonly { readonly fault: DnsFault; readonly answers: 1 | 2; readonly empties: boolean; readonly isQuick?: boolean; readonly device?: Device }[] = [
    { fault: "empty", answers: 1, empties: true, isQuick: true }, { fault: "nxdomain", answers: 1, empties: true }, { fault: "servfail", answers: 1, empties: false }, { fault: "silence", answers: 1, empties: false },
    { fault: "empty", answers: 2, empties: true },
    { fault: "empty", answers: 1, empties: false, device: "logical" }, { fault: "nxdomain", answers: 1, empties: false, device: "logical" },
    { fault: "empty", answers: 1, empties: true, device: "failure-refresh" }, { fault: "empty", answers: 1, empties: true, device: "istio-refresh" },
];
const idOf = ({ fault, answers, device }: (typeof CELLS)[number]): string => `${fault}-${String(answers)}${device === undefined ? "" : `-${device}`}`;
const hostOf = (id: string, run: number): string => `${id}-${String(run)}.unanswered.example`;

scenario("waiting-dns", { title: "Waiting instead of failing: DNS faults", question: "DNS answers nothing, or not at all, for 20 s, and no address stands by: what do new connections lose, and how soon is it over?" }, ({ lab, cell }) => {
    before(async function () {
        this.timeout(300_000);
        const all = CELLS.filter(({ isQuick }) => isFull || isQuick === true).flatMap((one) => Array.from({ length: isFull ? FULL.runs : QUICK.runs }, (_, run) => ({ ...one, host: hostOf(idOf(one), run) })));
        for (const { host, answers } of all) await lab().dns.addresses(host, addresses.take(answers), { ttl: TTL });
        await lab().cluster.apply(all.flatMap(({ host, device }) => device === undefined ? [] : [deviceFilter(host, device)]));
        expect(await lab().up(Object.fromEntries(all.map(({ host, answers }) => [host.replaceAll(".", "-"), declared(host, answering(answers), { failover: WAITING })])))).to.deep.equal({});
    });

    for (const one of CELLS) {
        const { fault, answers, empties, isQuick, device } = one;
        cell<Inputs, Figures>({
            id: idOf(one), title: `${fault}, ${String(answers)} ${answers === 1 ? "address" : "addresses"} before and after${device === undefined ? "" : `, ${DEVICES[device].title}`}`, full: FULL, ...(isQuick === true ? { quick: QUICK } : {}), timeoutMs: 300_000,
            measure: async (on, inputs) => ({ faultSeconds: inputs.faultSeconds, runs: await Promise.all(Array.from({ length: inputs.runs }, (_, run) => measure(on, hostOf(idOf(one), run), fault, answers, inputs))) }),
            expect: ({ runs, faultSeconds }) => {
                for (const { failed, failedBy, lastFailure } of runs) {
                    if (!empties) expect(failed, JSON.stringify(failedBy)).to.equal(0);
                    else if (device === "istio-refresh") expect(lastFailure, "the last second in which one began that failed").to.be.greaterThan(faultSeconds + 5);
                    else expect(lastFailure, "the last second in which one began that failed").to.be.at.most(faultSeconds + 2);
                }
            },
            shown: ({ runs }) => `${failures(runs)}; ${slowest(runs)}${empties ? `; the last that fails begins in second ${runs.map(({ lastFailure }) => String(lastFailure)).join(", ")}` : ""}`,
            ...(device !== undefined ? { why: DEVICES[device].why } : empties ? { earlier: "88 %, for a minute", why: "an empty list is no failed attempt: Envoy does not try again. With standby addresses nothing is lost" } : { earlier: "0 of 600" }),
        });
    }
});

async function measure(lab: Lab, host: string, fault: DnsFault, answers: number, { connections, perSecond, faultSeconds }: Inputs): Promise<Figures["runs"][number]> {
    const vips = addresses.take(answers), [address = ""] = vips;
    await lab.dns.addresses(host, vips, { ttl: TTL });
    await lab.members(host, vips);
    await warmUp(lab, host);
    const { run, timeline } = await counting(lab, host, async () => {
        const load = lab.apps.payments.load(host, { count: connections, pace: { kind: "rate", perSecond }, timeoutMs: 60_000, address });
        await lab.dns.fails(host, fault);
        await wait(faultSeconds * 1000); // How long the GSLB answers so: the experiment.
        await lab.dns.addresses(host, vips, { ttl: TTL });
        return load;
    });
    return { ...run, lastFailure: Math.max(-1, ...timeline.filter(({ failed }) => failed > 0).map(({ second }) => second)) };
}
