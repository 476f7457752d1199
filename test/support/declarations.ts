// Declarations for tests: one that is good, and every random valid one.
import fc from "fast-check";
import { type DeclarationInput, EnvoyFilters, GatewayConsumers, LoadBalancer, Lockdown, Membership, OnConnectFailure, OnEmptyAnswer, Protocol, Resolution, Route, TlsMode, checkDeclaration, gatewayPort, isMutualToGateway, originatesTls, type Declaration } from "../../model";

export const GATEWAY: NonNullable<DeclarationInput["gateway"]> = {
    namespace: "istio-egress",
    selector: { istio: "egressgateway" },
    serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local",
    ports: [{ number: 443, targetPort: 8443 }, { number: 8443, targetPort: 9443 }],
    istioVersion: "1.31.0",
};

/** The example of the README, changed as a test needs it. */
export function input(changes: Partial<DeclarationInput> = {}): DeclarationInput {
    return {
        host: "api.partner.example",
        namespace: "egress",
        pool: { membership: Membership.Fixed, addressesPerAnswer: 2 },
        failover: { detectionTime: "10s", dnsTtl: "5s" },
        route: Route.MtlsPassthrough,
        gateway: GATEWAY,
        consumers: [{ namespace: "payments" }],
        ownership: { owner: "team-payments", purpose: "card settlement", expires: "2027-06-30" },
        ...changes,
    };
}

/** The same, checked and with its defaults. */
export function declaration(changes: Partial<DeclarationInput> = {}): Declaration {
    return accept(input(changes));
}

export function accept(raw: DeclarationInput): Declaration {
    const result = checkDeclaration(raw);
    if (!result.ok) throw new Error(result.problems.map(({ path, text }) => `${path.join(".")} ${text}`).join("\n"));
    return result.declaration;
}

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$/);
const hostName = fc.tuple(fc.array(label, { minLength: 1, maxLength: 4 }), fc.constantFrom("example", "com", "co.kr", "test")).map(([labels, tld]) => [...labels, tld].join("."));
const namespace = fc.stringMatching(/^[a-z]([a-z0-9-]{0,12}[a-z0-9])?$/);
const duration = fc.oneof(fc.tuple(fc.integer({ min: 1, max: 600 }), fc.constantFrom("ms", "s", "m", "h")).map(([amount, unit]) => `${amount}${unit}`), fc.constantFrom("1m30s", "1.5s", "2000us", "0.25h", "2562047h"));
const text = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }).filter((value) => value.trim() === value && value !== "");

/** The protocols that each route carries. */
const PROTOCOLS: Readonly<Record<Route, readonly Protocol[]>> = {
    "mtls-passthrough": [Protocol.Tls, Protocol.Tcp], passthrough: [Protocol.Tls], "tls-origination": [Protocol.Http, Protocol.Tcp], direct: [Protocol.Tls, Protocol.Http, Protocol.Tcp],
};
const file = fc.stringMatching(/^\/[a-z]{1,8}\/[a-z]{1,8}\.pem$/);
const tls = fc.record({ ca: fc.option(file, { nil: undefined }), mutual: fc.boolean(), secret: fc.boolean(), file, names: fc.option(fc.uniqueArray(hostName, { minLength: 1, maxLength: 3 }), { nil: undefined }), sni: fc.option(hostName, { nil: undefined }) });

/** Any valid declaration: all routes, protocols, pools, ports, consumer modes and overrides. */
export const declarations: fc.Arbitrary<DeclarationInput> = fc.record({
    host: hostName, wildcard: fc.boolean(), route: fc.constantFrom(...Object.values(Route)), protocols: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }), tls: fc.option(tls, { nil: undefined }),
    forAll: fc.boolean(), consumers: fc.uniqueArray(namespace, { minLength: 1, maxLength: 4 }), namespace,
    gatewayNamespace: namespace, ports: fc.uniqueArray(fc.integer({ min: 1, max: 65535 }), { minLength: 1, maxLength: 3 }),
    membership: fc.constantFrom(...Object.values(Membership)), addresses: fc.integer({ min: 1, max: 20 }),
    failover: fc.option(fc.record({ detectionTime: duration, dnsTtl: duration }, { requiredKeys: ["detectionTime", "dnsTtl"] }), { nil: undefined }),
    forced: fc.option(fc.constantFrom(Resolution.Dns, Resolution.DnsRoundRobin), { nil: undefined }),
    loadBalancer: fc.option(fc.constantFrom(...Object.values(LoadBalancer)), { nil: undefined }),
    connectTimeout: fc.option(duration, { nil: undefined }), idleTimeout: fc.option(fc.oneof(duration, fc.constant("0s")), { nil: undefined }),
    outlier: fc.option(fc.record({ maxEjectionPercent: fc.integer({ min: 50, max: 100 }), minHealthPercent: fc.integer({ min: 0, max: 50 }), interval: duration }), { nil: undefined }),
    standby: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }), onEmptyAnswer: fc.option(fc.constantFrom(...Object.values(OnEmptyAnswer)), { nil: undefined }), fails: fc.boolean(), envoyFilters: fc.constantFrom(...Object.values(EnvoyFilters)),
    owner: text, purpose: text, active: fc.boolean(), lockdown: fc.constantFrom(...Object.values(Lockdown)), accounts: fc.option(fc.uniqueArray(label, { minLength: 1, maxLength: 3 }), { nil: undefined }),
}).filter(({ consumers, gatewayNamespace, route }) => route === Route.Direct || !consumers.includes(gatewayNamespace)).map((draft) => {
    const direct = draft.route === Route.Direct, carried = PROTOCOLS[draft.route];
    const ports = draft.ports.map((number, index) => {
        const protocol = carried[(draft.protocols[index] ?? 0) % carried.length] ?? Protocol.Tls;
        return { number, protocol, ...(protocol === Protocol.Http ? { targetPort: number } : {}) };
    });
    const dialled = ports.some(({ protocol }) => protocol === Protocol.Tcp), originates = ports.some(({ protocol }) => originatesTls(draft.route, protocol));
    const wildcard = direct && draft.wildcard && !dialled && !originates;
    const knowsClients = isMutualToGateway(draft.route) && draft.lockdown !== Lockdown.Off;
    const resolution = wildcard ? undefined : draft.forced, membership = wildcard ? Membership.Rotating : draft.membership;
    const inForce = wildcard ? Resolution.None : resolution ?? (membership === Membership.Fixed ? Resolution.Dns : Resolution.DnsRoundRobin);
    const standby = inForce === Resolution.Dns && membership === Membership.Fixed ? draft.standby : undefined;
    const onEmptyAnswer = inForce !== Resolution.Dns || standby !== undefined || direct && draft.onEmptyAnswer === OnEmptyAnswer.LastKnown ? undefined : draft.onEmptyAnswer;
    return {
        host: wildcard ? `*.${draft.host}` : draft.host, namespace: draft.namespace, route: draft.route, ports,
        addresses: dialled ? Array.from({ length: draft.addresses }, (_, index) => `192.0.2.${index + 1}`) : undefined,
        tls: originates ? tlsOf(draft.tls, direct) : undefined,
        pool: { membership, addressesPerAnswer: draft.addresses, ...(standby === undefined ? {} : { standbyAddresses: Array.from({ length: standby }, (_, index) => `198.51.100.${index + 1}`) }), ...(onEmptyAnswer === undefined ? {} : { onEmptyAnswer }) },
        failover: wildcard || draft.failover === undefined ? undefined : { ...draft.failover, ...(draft.fails ? { onConnectFailure: OnConnectFailure.Fail } : {}) }, resolution, loadBalancer: inForce === Resolution.Dns ? draft.loadBalancer : undefined, connectTimeout: draft.connectTimeout, idleTimeout: draft.idleTimeout,
        outlier: inForce === Resolution.Dns && standby === undefined ? draft.outlier : undefined,
        active: direct ? true : draft.active,
        consumers: draft.forAll ? [{ namespace: "*" }] : draft.consumers.map((name) => ({ namespace: name, ...(knowsClients && draft.accounts !== undefined ? { serviceAccounts: draft.accounts } : {}) })),
        ownership: { owner: draft.owner, purpose: draft.purpose },
        gateway: direct ? undefined : {
            namespace: draft.gatewayNamespace, selector: { istio: "egressgateway" },
            serviceHost: `egress.${draft.gatewayNamespace}.svc.cluster.local`,
            ports: ports.map((port) => gatewayPort(port, draft.route)).map((number) => ({ number, targetPort: number })), istioVersion: "1.31.0",
            consumers: draft.forAll ? GatewayConsumers.All : GatewayConsumers.Declared, lockdown: draft.lockdown, envoyFilters: draft.envoyFilters,
        },
    };
});

type TlsDraft = typeof tls extends fc.Arbitrary<infer T> ? T : never;

function tlsOf(draft: TlsDraft | undefined, direct: boolean): DeclarationInput["tls"] {
    if (draft === undefined) return undefined;
    const mode = draft.mutual ? TlsMode.Mutual : TlsMode.Simple, names = { mode, subjectAltNames: draft.names, sni: draft.sni };
    if (draft.secret && !direct) return { ...names, credentialName: "partner-client" };
    return { ...names, caCertificates: draft.ca, ...(draft.mutual ? { clientCertificate: draft.file, privateKey: draft.file } : {}) };
}
