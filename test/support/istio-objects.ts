// Random objects of Istio's kinds, dense where the rules decide: percents around the bands, small pools, hosts in several spellings.
import fc from "fast-check";
import { ANNOTATIONS, CONNECT_STRATEGY_ANNOTATION, EXEMPTION_PREFIX, Membership, RACE_FIRST_TCP_CONNECT } from "../../model";

export interface IstioManifest {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations: Readonly<Record<string, string>> };
    readonly spec: Readonly<Record<string, unknown>>;
}

/** A property that is there most of the time. */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 });

/** The object without properties that are undefined. */
function compact<T extends object>(object: T): T {
    return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

const HOSTS = ["api.partner.example", "edge.partner.example", "API.Partner.Example", "api.partner.example.", "settlement.bank.example", "a.example", "b.example", "c.example", "d.example", "*.partner.example"];
const host = fc.constantFrom(...HOSTS);
const percent = fc.oneof(fc.integer({ min: -1, max: 12 }), fc.integer({ min: 18, max: 52 }), fc.integer({ min: 97, max: 101 }), fc.integer({ min: 0, max: 100 }));

const exemption = fc.constantFrom("until 2999-12-31: the GSLB moves, CHG-1234", "until 2000-01-01: long ago", "until 2999-02-30: no such day", "until 2996-02-29: a leap year", "until 2999-02-29: none", "until 2999-12-31:", "because", "  until   2999-01-01 :x");

/** @param code the rule from which some of the objects are exempt, or try to be */
function annotations(code: string): fc.Arbitrary<Readonly<Record<string, string>>> {
    return fc.record({
        [ANNOTATIONS.membership]: fc.oneof({ weight: 6, arbitrary: fc.constant(Membership.Fixed) }, { weight: 3, arbitrary: fc.constantFrom(Membership.Rotating, Membership.Rotating, Membership.Rotating, Membership.Rotating, "Fixed", "", undefined) }),
        [ANNOTATIONS.addressesPerAnswer]: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }).map(String) }, { weight: 3, arbitrary: fc.integer({ min: 5, max: 12 }).map(String) }, { weight: 1, arbitrary: fc.constantFrom("33", "99", "100", "101", "0", "02", "2.0", " 2", "two", "", "-1", undefined) }),
        [ANNOTATIONS.host]: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: host }),
        [ANNOTATIONS.owner]: fc.constantFrom("team-payments", "team-payments", "", " ", undefined), [ANNOTATIONS.purpose]: fc.constantFrom("settlement", "settlement", "", undefined),
        [ANNOTATIONS.expires]: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 4, arbitrary: fc.integer({ min: -3, max: 40 }).map(dayFromToday) }, { weight: 1, arbitrary: fc.constantFrom("2999-12-31", "2027-02-30", "whenever", "", "2027-1-1") }),
        [CONNECT_STRATEGY_ANNOTATION]: fc.constantFrom(RACE_FIRST_TCP_CONNECT, "OTHER", undefined),
        [EXEMPTION_PREFIX + code]: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: exemption }),
    }).map((all) => compact(all) as Record<string, string>);
}

/** Days count in UTC, as the rules count them. */
function dayFromToday(days: number): string {
    return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const outlierDetection = fc.record({
    splitExternalLocalOriginErrors: maybe(fc.boolean()), consecutive5xxErrors: maybe(fc.constantFrom(0, 5, null)), consecutiveGatewayErrors: fc.option(fc.constantFrom(0, 3, null), { nil: undefined }),
    consecutiveLocalOriginFailures: maybe(fc.constantFrom(0, 3)), maxEjectionPercent: maybe(percent), minHealthPercent: maybe(fc.oneof(fc.constantFrom(0, 1, 50, -1), fc.integer({ min: 45, max: 100 }))), interval: maybe(fc.constant("5s")),
}).map(compact);

const connectionPool = fc.constant({ tcp: { connectTimeout: "1s" } }), loadBalancer = fc.constant({ simple: "ROUND_ROBIN" });
const entry = fc.record({
    port: fc.option(fc.record({ number: fc.constantFrom(443, 8443, 9000) }), { nil: undefined, freq: 9 }),
    outlierDetection: fc.option(outlierDetection, { nil: undefined, freq: 1 }), connectionPool: fc.option(connectionPool, { nil: undefined }), loadBalancer: fc.option(loadBalancer, { nil: undefined }),
}).map(compact);
const trafficPolicy = fc.record({
    outlierDetection: maybe(outlierDetection), connectionPool: fc.option(connectionPool, { nil: undefined }), loadBalancer: fc.option(loadBalancer, { nil: undefined }),
    portLevelSettings: fc.option(fc.array(entry, { maxLength: 3 }), { nil: undefined }),
}).map(compact);

const destinationRule = fc.record({
    host, trafficPolicy: maybe(trafficPolicy),
    subsets: fc.option(fc.array(fc.record({ name: fc.constantFrom("v1", "v2"), labels: fc.constantFrom(undefined, {}, { version: "v1" }), trafficPolicy: maybe(trafficPolicy) }).map(compact), { maxLength: 3 }), { nil: undefined }),
}).map(compact);

const serviceEntry = fc.record({
    hosts: fc.array(host, { minLength: 1, maxLength: 8 }), resolution: fc.constantFrom("DNS", "DNS_ROUND_ROBIN", "DNS", "DNS_ROUND_ROBIN", "NONE", "STATIC", "DYNAMIC_DNS", "DYNAMIC_DNS", undefined), location: fc.constantFrom("MESH_EXTERNAL", "MESH_EXTERNAL", "MESH_INTERNAL", undefined),
    ports: fc.uniqueArray(fc.record({ number: fc.integer({ min: 1, max: 9 }), protocol: fc.constantFrom("TLS", "tls", "HTTPS", "HTTP", "TCP", "tcp", "MONGO", "UDP", undefined) }), { maxLength: 4, selector: ({ number }) => number })
        .map((ports) => ports.map(({ number, protocol }) => compact({ number, name: `p${number}`, protocol }))),
    addresses: fc.constantFrom(undefined, undefined, ["192.0.2.1"]), endpoints: fc.constantFrom(undefined, undefined, undefined, [{ address: "192.0.2.1" }], [{ address: "2001:db8::1" }], [{ address: "b.example" }], [{ address: "192.0.2.1" }, { address: "b.example" }]),
    workloadSelector: fc.constantFrom(undefined, undefined, undefined, { labels: { app: "a" } }),
}).map(compact);

const sniHosts = fc.array(fc.oneof(host, fc.constantFrom("*", "*.example", "x.partner.example", "b.b.example")), { minLength: 1, maxLength: 3 });
const virtualService = fc.record({
    hosts: fc.option(fc.array(fc.oneof(host, fc.constantFrom("*", "*.example")), { minLength: 1, maxLength: 7 }), { nil: undefined, freq: 9 }),
    tls: fc.array(fc.record({ match: fc.array(fc.record({ sniHosts }), { minLength: 1, maxLength: 2 }), route: fc.constant([{ destination: { host: "egress.istio-egress.svc.cluster.local" } }]) }), { maxLength: 3 }),
}).map(compact);

const serverHost = fc.tuple(fc.constantFrom("", "", "egress/", "./", "*/"), host).map(([prefix, name]) => prefix + name);
const gateway = fc.record({
    selector: fc.constant({ istio: "egressgateway" }),
    servers: fc.array(fc.record({
        port: fc.record({ number: fc.constantFrom(443, 8443, 15443), name: fc.constantFrom("tls", "https"), protocol: fc.constantFrom("TLS", "tls", "TLS", "HTTPS", "TCP") }),
        hosts: fc.array(serverHost, { minLength: 1, maxLength: 8 }), tls: fc.record({ mode: fc.constantFrom("ISTIO_MUTUAL", "ISTIO_MUTUAL", "PASSTHROUGH", "SIMPLE") }),
    }), { minLength: 1, maxLength: 5 }),
});

const SPECS: Readonly<Record<string, fc.Arbitrary<Readonly<Record<string, unknown>>>>> = { DestinationRule: destinationRule, ServiceEntry: serviceEntry, Gateway: gateway, VirtualService: virtualService };

export function istioManifests(kind: string, code: string, namespace: string): fc.Arbitrary<IstioManifest> {
    const spec = SPECS[kind];
    if (spec === undefined) throw new Error(`There are no random objects of kind ${kind} yet.`);
    const version = kind === "EnvoyFilter" ? fc.constant("v1alpha3") : fc.constantFrom("v1", "v1", "v1beta1", "v1alpha3");
    return fc.record({ apiVersion: version.map((one) => `networking.istio.io/${one}`), kind: fc.constant(kind), metadata: annotations(code).map((all) => ({ name: "random", namespace, annotations: all })), spec });
}
