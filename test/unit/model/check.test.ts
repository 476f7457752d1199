// The validator of declarations: exact messages, all problems at once, and nothing judged that is not known.
import { expect } from "chai";
import fc from "fast-check";
import { GatewayConsumers, Route, checkDeclaration, formatProblem } from "../../../model";
import { GATEWAY, declarations, input } from "../../support/declarations";

function problems(raw: unknown, unknown: readonly (readonly (string | number)[])[] = []): readonly string[] {
    const result = checkDeclaration(raw, unknown);
    return result.ok ? [] : result.problems.map(formatProblem);
}

type Change = Readonly<Record<string, unknown>>;
const direct: Change = { route: "direct", gateway: undefined };
const http: Change = { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] };

const BAD: readonly (readonly [name: string, change: Change, messages: readonly string[]])[] = [
    ["a missing pool", { pool: undefined }, ["pool is missing: The addresses behind the host. Required: no safe default exists."]],
    ["a missing membership", { pool: { addressesPerAnswer: 2 } }, ["pool.membership is missing: Whether an address that is missing from a DNS answer means something: fixed (it does, it is a failover signal) or rotating (it does not, it was not drawn)."]],
    ["an unknown key", { pol: {} }, ["pol is not a property of a declaration: did you mean pool?"]],
    ["an unknown key below", { pool: { membership: "fixed", addressesPerAnswers: 2 } }, ["pool.addressesPerAnswers is not a property of pool: did you mean addressesPerAnswer?"]],
    ["an unknown key like no other", { pool: { membership: "fixed", addressesPerAnswer: 2, zzzzzz: 1 } }, ["pool.zzzzzz is not a property of pool: use one of membership, addressesPerAnswer, standbyAddresses, onEmptyAnswer"]],
    ["a wrong type", { pool: { membership: "fixed", addressesPerAnswer: "two" } }, ['pool.addressesPerAnswer is "two", but must be a number. How many addresses one DNS answer holds, A and AAAA together where proxies are dual stack. Required for a fixed pool.']],
    ["a fraction", { pool: { membership: "fixed", addressesPerAnswer: 1.5 } }, ["pool.addressesPerAnswer is 1.5, but must be a whole number. How many addresses one DNS answer holds, A and AAAA together where proxies are dual stack. Required for a fixed pool."]],
    ["a word that is none", { pool: { membership: "static", addressesPerAnswer: 2 } }, ['pool.membership is "static", but must be one of "fixed", "rotating". Whether an address that is missing from a DNS answer means something: fixed (it does, it is a failover signal) or rotating (it does not, it was not drawn).']],
    ["a route that is not supported yet", { route: "waypoint" }, ['route is "waypoint", but that is not supported yet (sidecar mode only): it must be one of "mtls-passthrough", "passthrough", "tls-origination", "direct". The way out of the mesh.']],
    ["a duration that is none", { connectTimeout: "1 second" }, ['connectTimeout is "1 second", but must be a Go duration such as "10s", "250ms" or "1m30s". How long the proxy waits for a connection to one address. Default 1s; Istio\'s own is 10s. A Go duration such as "10s" or "1m30s".']],
    ["an IP address", { host: "192.0.2.1" }, ['host is "192.0.2.1", and it is an IP literal, which has no DNS answer and no SNI to route by: declare the host name behind it.']],
    ["a fixed pool of unknown size", { pool: { membership: "fixed" } }, ["pool.addressesPerAnswer is missing: a fixed pool must say how many addresses one DNS answer holds (dig +short HOST | wc -l), since the ejection guard and the loss window depend on it."]],
    ["standby addresses that are none", { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["vip.example", "127.0.0.1", "169.254.169.254", "169.254.0.9", "ff02::1", "192.0.2.1", "192.0.2.1"] } }, [
        'pool.standbyAddresses[0] is "vip.example", and it is not an IP address: give the addresses that DNS can answer, one by one.',
        'pool.standbyAddresses[1] is "127.0.0.1", and it never leaves the pod: give the addresses that DNS can answer.',
        'pool.standbyAddresses[2] is "169.254.169.254", and it is a cloud metadata address, which hands out credentials of the node; no egress may lead there.',
        'pool.standbyAddresses[3] is "169.254.0.9", and it is a link-local, multicast or broadcast address, which no partner serves on: give the addresses that DNS can answer.',
        'pool.standbyAddresses[4] is "ff02::1", and it is a link-local, multicast or broadcast address, which no partner serves on: give the addresses that DNS can answer.',
        'pool.standbyAddresses[6] is "192.0.2.1", which standbyAddresses[5] names already: remove one of them.',
        "pool.standbyAddresses mixes IPv4 and IPv6, but one DNS answer holds one address, so that the proxies are not dual stack and reach one family only: name the addresses of that family.",
    ]],
    ["no standby address", { pool: { membership: "fixed", addressesPerAnswer: 2, standbyAddresses: [] } }, ["pool.standbyAddresses names 0 addresses: name 1 to 100, or leave it out."]],
    ["standby addresses of a rotating pool", { pool: { membership: "rotating", standbyAddresses: ["192.0.2.1"] } }, ["pool.standbyAddresses has no effect with a rotating pool: only under DNS can known addresses stand by behind what DNS answers; remove it."]],
    ["standby addresses under LOGICAL", { resolution: "DNS_ROUND_ROBIN", pool: { membership: "fixed", addressesPerAnswer: 2, standbyAddresses: ["192.0.2.1"] } }, ["pool.standbyAddresses has no effect with resolution DNS_ROUND_ROBIN: only under DNS can known addresses stand by behind what DNS answers; remove it."]],
    ["standby addresses before Istio 1.30", { gateway: { ...GATEWAY, istioVersion: "1.29.2" }, pool: { membership: "fixed", addressesPerAnswer: 2, standbyAddresses: ["192.0.2.1"] } }, ["pool.standbyAddresses needs Istio 1.30 or later, and the gateway runs 1.29: before, failoverPriority does nothing for DNS, and the addresses would serve beside what DNS answers; remove it, or upgrade the gateway."]],
    ["a guard that leaves a dead standby address", { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["192.0.2.1", "192.0.2.2"] }, outlier: { maxEjectionPercent: 50 } }, ["outlier.maxEjectionPercent is 50, which ejects 1 of 3 (1 that DNS answers and 2 that stand by): a dead address is in both, so leave it unset (67), or take at least 67."]],
    ["waiting without a gateway", { route: "direct", gateway: undefined, failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "wait" } }, ['failover.onConnectFailure is "wait", but with route direct there is no gateway that could wait: remove it, or choose route mtls-passthrough.']],
    ["a last known address without a gateway", { route: "direct", gateway: undefined, pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "last-known" } }, ['pool.onEmptyAnswer is "last-known", but with route direct there is no gateway that could keep the address: remove it, or take a route with a gateway.']],
    ["an empty answer beside standby addresses", { pool: { membership: "fixed", addressesPerAnswer: 1, standbyAddresses: ["192.0.2.1"], onEmptyAnswer: "fail" } }, ["pool.onEmptyAnswer has no effect beside standby addresses, which serve while DNS answers none; remove it."]],
    ["an empty answer of a wildcard", { host: "*.partner.example", route: "direct", gateway: undefined, failover: undefined, pool: { membership: "rotating", onEmptyAnswer: "fail" } }, ["pool.onEmptyAnswer has no effect with a wildcard: each application connects to what its own resolver answers; remove it."]],
    ["an empty answer of a pool that keeps its address anyway", { pool: { membership: "rotating", onEmptyAnswer: "fail" } }, ["pool.onEmptyAnswer has no effect with resolution DNS_ROUND_ROBIN: LOGICAL_DNS always goes on with its last address; remove it."]],
    ["an override of a filter that is not there", { pool: { membership: "fixed", addressesPerAnswer: 2, onEmptyAnswer: "fail" }, failover: { detectionTime: "10s", dnsTtl: "5s", onConnectFailure: "fail" }, manifestOverrides: { EnvoyFilter: { spec: {} } } }, ["manifestOverrides.EnvoyFilter has no effect: route mtls-passthrough has no such object, only ServiceEntry/host, ServiceEntry/client-view, DestinationRule/host, DestinationRule/subset, Gateway/server, VirtualService/gateway-leg, VirtualService/mesh-leg; remove it."]],
    ["an override of a filter that requests do not need", { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }], gateway: { ...GATEWAY, envoyFilters: "forbidden" }, manifestOverrides: { "EnvoyFilter/gateway": { spec: {} } } }, ["manifestOverrides[\"EnvoyFilter/gateway\"] has no effect: route tls-origination has no such object, only ServiceEntry/host, ServiceEntry/client-view, DestinationRule/host, DestinationRule/subset, Gateway/server, VirtualService/gateway-leg, VirtualService/mesh-leg; remove it."]],
    ["TLS that is wrapped twice", { route: "tls-origination" }, ['ports[0].protocol is "TLS", and the application speaks TLS already, which the gateway would wrap a second time: use route mtls-passthrough, or declare the port as HTTP or TCP; the nearest supported row is route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later.']],
    ["TCP in a plain passthrough", { route: "passthrough", ports: [{ number: 443, protocol: "TCP" }], addresses: ["192.0.2.1", "192.0.2.2"] }, ["ports[0].protocol is \"TCP\", and a plain passthrough gateway routes by the SNI of a ClientHello, which TCP protocols do not send first (in MySQL, SMTP and FTP the server speaks first, PostgreSQL and STARTTLS begin in plain text): use route mtls-passthrough, with which the sidecar's own TLS carries the SNI; the nearest supported row is route mtls-passthrough, protocol TCP (any port), exact host, any pool, Istio 1.22 or later."]],
    ["plain HTTP through a passthrough", { ports: [{ number: 443, protocol: "HTTP" }] }, ['ports[0].protocol is "HTTP", and the request would leave the gateway unencrypted: use route tls-origination, with which the gateway speaks TLS to the host; the nearest supported row is route tls-origination, protocol HTTP (any port), exact host, any pool, Istio 1.22 or later.']],
    ["a TCP port without addresses", { ports: [{ number: 443, protocol: "TCP" }] }, ["addresses is missing: a TCP port needs the addresses that applications dial, since TCP carries no name; without them the sidecar would take every connection on that port, whatever the host, and of two such hosts the older one would take all."]],
    ["addresses that are none", { ports: [{ number: 443, protocol: "TCP" }], addresses: ["db.example", "127.0.0.1", "169.254.169.254", "192.0.2.1", "192.0.2.1"] }, [
        'addresses[0] is "db.example", and it is not an IP address: give the addresses that DNS answers the applications, one by one.',
        'addresses[1] is "127.0.0.1", and it never leaves the pod: give the addresses that DNS answers the applications.',
        'addresses[2] is "169.254.169.254", and it is a cloud metadata address, which hands out credentials of the node; no egress may lead there.',
        'addresses[4] is "192.0.2.1", which addresses[3] names already: remove one of them.',
    ]],
    ["addresses without a TCP port", { addresses: ["192.0.2.1"] }, ["addresses has no effect without a TCP port: TLS and HTTP carry the host's name, by which the sidecar tells hosts apart; remove it."]],
    ["some of the addresses", { ports: [{ number: 443, protocol: "TCP" }], pool: { membership: "fixed", addressesPerAnswer: 3 }, addresses: ["192.0.2.1", "192.0.2.2"] }, ["addresses names 2 of the 3 addresses that one DNS answer holds: connections to the others would pass by the route; name all, or the one address that the applications' resolver answers."]],
    ["TLS settings where no proxy speaks TLS", { tls: {} }, ["tls has no effect: with route mtls-passthrough no proxy speaks TLS on 443/TLS; remove it, or choose route tls-origination with HTTP or TCP ports."]],
    ["a client certificate without its key", { ...http, tls: { mode: "MUTUAL", clientCertificate: "/a.pem" } }, ["tls.privateKey is missing: MUTUAL needs a client certificate and its key: name both files, or a Secret by credentialName."]],
    ["a client certificate that is not used", { ...http, tls: { clientCertificate: "/a.pem", privateKey: "/a.key" } }, ['tls.clientCertificate is "/a.pem", but has no effect with mode SIMPLE: remove it, or choose MUTUAL.', 'tls.privateKey is "/a.key", but has no effect with mode SIMPLE: remove it, or choose MUTUAL.']],
    ["a Secret beside files", { ...http, tls: { credentialName: "partner", caCertificates: "/ca.pem" } }, ['tls.credentialName is "partner", beside caCertificates: Istio takes a Secret or files, not both; remove one.']],
    ["a Secret of another namespace", { ...http, tls: { credentialName: "egress/partner" } }, ['tls.credentialName is "egress/partner", which is not the name of a Secret: write the name only, the Secret is one of the gateway\'s namespace.']],
    ["a Secret for a sidecar", { ...direct, ports: [{ number: 80, protocol: "HTTP" }], tls: { credentialName: "partner" } }, ['tls.credentialName is "partner", but istiod gives Secrets to gateways only: mount the files into the sidecar (annotation sidecar.istio.io/userVolume) and name them by caCertificates.']],
    ["names that are none", { ...http, tls: { sni: "*.partner.example", subjectAltNames: ["*.partner.example"] } }, ['tls.sni is "*.partner.example", a wildcard, and a ClientHello asks for one name: give it.', 'tls.subjectAltNames[0] is "*.partner.example", but names are compared as they are: give the host\'s name, which a certificate for a wildcard above it matches (measured).']],
    ["a file that is no path", { ...http, tls: { caCertificates: "ca.pem" } }, ['tls.caCertificates is "ca.pem", but must match /^\\/[^\\0]+$/. The certificates of the authorities that may have signed the host\'s. Default: the system\'s roots. An absolute path in the proxy\'s container.']],
    ["a target port that is not used", { ports: [{ number: 443, targetPort: 8443 }] }, ["ports[0].targetPort is 8443, but has no effect on a TLS port with route mtls-passthrough: the host is dialled on the port that the application dials; remove it."]],
    ["a target port that the gateway lacks", { ...http, ports: [{ number: 80, protocol: "HTTP", targetPort: 9443 }] }, ["ports[0].targetPort is 9443, but the gateway's Service has 443, 8443 only: add the port to the gateway and its Service, then to gateway.ports."]],
    ["a target port by default that the gateway lacks", { ...http, gateway: { ...GATEWAY, ports: [{ number: 80, targetPort: 8080 }] } }, ["ports[0].number is 80 and enters the gateway on 443, but the gateway's Service has 80 only: add the port to the gateway and its Service, then to gateway.ports."]],
    ["two ports that enter the gateway on one", { ...http, ports: [{ number: 80, protocol: "HTTP" }, { number: 8080, protocol: "HTTP" }] }, ["ports[1].number is 8080 and enters the gateway on 443, which the gateway's pods serve on 8443, as they do ports[0]: Istio silently drops the host's second server on one listener; give each port of the gateway its own targetPort."]],
    ["a wildcard over plain TCP", { ...direct, host: "*.partner.example", failover: undefined, pool: { membership: "rotating" }, ports: [{ number: 443, protocol: "TCP" }], addresses: ["192.0.2.1"] }, ['host is a wildcard, and TCP carries no name by which a sidecar tells hosts apart: declare each host by its exact name; the nearest supported row is route direct, protocol TCP (any port), exact host, any pool, Istio 1.22 or later.']],
    ["HTTPS for TLS", { ports: [{ number: 443, protocol: "HTTPS" }], route: "passthrough" }, ['ports[0].protocol is "HTTPS", and the application\'s own TLS is declared as TLS, the protocol that is routed by SNI without being opened; the nearest supported row is route passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later.']],
    ["a wildcard behind a gateway", { host: "*.partner.example" }, ['host is a wildcard, and a wildcard cannot be routed through an egress gateway: Istio resolves a wildcard only with endpoints given, NONE is an empty cluster at a gateway, and DYNAMIC_DNS does not pass one: declare each host by its exact name, or use route "direct"; the nearest supported row is route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later.']],
    ["a wildcard with two ports is one problem", { host: "*.partner.example", ports: [{ number: 443 }, { number: 8443 }] }, ['host is a wildcard, and a wildcard cannot be routed through an egress gateway: Istio resolves a wildcard only with endpoints given, NONE is an empty cluster at a gateway, and DYNAMIC_DNS does not pass one: declare each host by its exact name, or use route "direct"; the nearest supported row is route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later.']],
    ["an old Istio", { gateway: { ...GATEWAY, istioVersion: "1.21.4" } }, ['gateway.istioVersion is "1.21.4", and mtls-passthrough needs Istio 1.22 or later, the first to serve networking.istio.io/v1: upgrade the mesh; the nearest supported row is route mtls-passthrough, protocol TLS (any port), exact host, any pool, Istio 1.22 or later.']],
    ["no version", { gateway: { ...GATEWAY, istioVersion: "latest" } }, ['gateway.istioVersion is "latest", which is not an Istio version: write it as 1.31 or 1.31.0.']],
    ["no gateway", { gateway: undefined }, ["gateway is missing: route mtls-passthrough needs the reference of an egress gateway."]],
    ["a gateway that is not used", { route: "direct" }, ["gateway has no effect with route direct: remove it, or choose route mtls-passthrough."]],
    ...["istio-egressgateway", "istio-egressgateway.istio-egress.svc", "istio-egressgateway.istio-egress.svc.cluster.local.", "-.istio-egress.svc.cluster.local", "egress.example.com"].map((serviceHost): (typeof BAD)[number] => [
        `a Service named ${serviceHost}`, { gateway: { ...GATEWAY, serviceHost } }, [`gateway.serviceHost is ${JSON.stringify(serviceHost)}, which is not the full name of a Service: write it as NAME.NAMESPACE.svc.cluster.local.`],
    ]),
    ["a Service elsewhere", { gateway: { ...GATEWAY, serviceHost: "egress.other.svc.cluster.local" } }, ['gateway.serviceHost is "egress.other.svc.cluster.local", a Service of namespace other, but the gateway\'s pods run in istio-egress: a Service selects pods of its own namespace only, so name the Service there.']],
    ["a selector that no pod can carry", { gateway: { ...GATEWAY, selector: { "a b!": "c" } } }, ['gateway.selector["a b!"] is "c", and "a b!": "c" is not a label that Kubernetes accepts on a pod: copy it from the gateway\'s pods.']],
    ["two ports on one listener", { ports: [{ number: 443 }, { number: 8443 }], gateway: { ...GATEWAY, ports: [{ number: 443, targetPort: 8443 }, { number: 8443, targetPort: 8443 }] } }, ["ports[1].number is 8443, which the gateway's pods serve on 8443, as they do ports[0]: Istio silently drops the host's second server on one listener; give each port of the gateway its own targetPort."]],
    ["a health that undoes every ejection", { outlier: { minHealthPercent: 60 } }, ["outlier.minHealthPercent is 60, but with one of 2 addresses ejected the healthy share is below that, and Envoy then uses the ejected one again (panic routing): leave it unset (1), or take at most 50."]],
    ["a load balancer without a list", { pool: { membership: "rotating" }, loadBalancer: "LEAST_REQUEST" }, ['loadBalancer is "LEAST_REQUEST", but has no effect with resolution DNS_ROUND_ROBIN: LOGICAL_DNS has one host; remove it.']],
    ["a fixed pool behind a wildcard", { ...direct, host: "*.partner.example", failover: undefined }, ['pool.membership is "fixed", but a wildcard is many hosts, whose addresses the proxy does not resolve: declare it rotating, or each host by its exact name; the nearest supported row is route direct, protocol TLS (any port), wildcard host, rotating pool, Istio 1.22 or later.']],
    ["microseconds", { connectTimeout: "1500us" }, ['connectTimeout is "1500us", but Istio takes whole milliseconds only: round it.']],
    ["a time beyond Go's", { idleTimeout: "99999999999h" }, ['idleTimeout is "99999999999h", but the longest time that Istio\'s fields carry is 2562047h: lower it.']],
    ["an override of a part that is not there", { ...direct, manifestOverrides: { "Gateway/server": { spec: {} } } }, ['manifestOverrides["Gateway/server"] has no effect: route direct has no such object, only ServiceEntry/host, DestinationRule/host; remove it.']],
    ["an override that removes metadata", { manifestOverrides: { Gateway: { metadata: null, spec: "x" } } }, ["manifestOverrides.Gateway.metadata is null, but must be a map, which is merged into the object's metadata.", "manifestOverrides.Gateway.spec is \"x\", but must be a map, which is merged into the object's spec."]],
    ["a label that is no text", { manifestOverrides: { Gateway: { metadata: { labels: { tier: 5, gone: null } } } } }, ["manifestOverrides.Gateway.metadata.labels.tier is 5, but Kubernetes takes texts only as labels: quote it; null removes one."]],
    ["an override of the intent", { manifestOverrides: { ServiceEntry: { metadata: { annotations: { "istio-egress/membership": "rotating" } } } } }, ['manifestOverrides.ServiceEntry.metadata.annotations["istio-egress/membership"] carries the declaration\'s intent to the policies and cannot be overridden: change the declaration itself.']],
    ["a port that the gateway lacks", { ports: [{ number: 5671 }] }, ["ports[0].number is 5671, but the gateway's Service has 443, 8443 only: add the port to the gateway and its Service, then to gateway.ports."]],
    ["a port twice", { ports: [{ number: 443 }, { number: 443 }] }, ["ports[1].number is 443, which ports[0] declares already: remove one of them."]],
    ["no ports", { ports: [] }, ["ports is [], but must have at least one entry. The ports of the host. Default: 443, TLS."]],
    ["a consumer twice", { consumers: [{ namespace: "a" }, { namespace: "a" }] }, ['consumers[1].namespace is "a", which consumers[0] names already: remove one of them.']],
    ["all beside one", { ...direct, consumers: [{ namespace: "*" }, { namespace: "a" }] }, ['consumers[0].namespace is "*", beside other consumers: "*" is all of them, leave the others out.']],
    ["all with a declared gateway", { consumers: [{ namespace: "*" }] }, ['consumers[0].namespace is "*", but the gateway serves declared consumers: name the namespaces, or make the whole gateway one for all (gateway.consumers: all).']],
    ["one with a gateway for all", { gateway: { ...GATEWAY, consumers: GatewayConsumers.All } }, ['consumers[0].namespace is "payments", but the gateway serves all consumers: write "*". The two modes hide each other\'s subsets when mixed.']],
    ["the gateway's own namespace", { consumers: [{ namespace: "istio-egress" }] }, ['consumers[0].namespace is "istio-egress", the gateway\'s own namespace: the gateway would see the client\'s view of the host (resolution NONE) and have no endpoints; run the application in another namespace.']],
    ["a namespace that is none", { consumers: [{ namespace: "Pay_ments" }] }, ['consumers[0].namespace is "Pay_ments", which is not a namespace\'s name (RFC 1123 label): check the name.']],
    ["a guard that never ejects", { outlier: { maxEjectionPercent: 30 } }, ["outlier.maxEjectionPercent is 30, but a pool of 2 addresses ejects one only at 50..99: leave it unset (50) or raise it."]],
    ["a guard of 0", { outlier: { maxEjectionPercent: 0 } }, ["outlier.maxEjectionPercent is 0, which Istio does not send, so that Envoy's own 10 % acts and nothing is ejected in a pool of fewer than 10: leave it unset (50) or raise it."]],
    ["outlier detection of a rotating pool", { pool: { membership: "rotating" }, outlier: { interval: "5s" } }, ["outlier has no effect with resolution DNS_ROUND_ROBIN: LOGICAL_DNS has one host, so an ejection is inert below 100 % and total at 100 %; remove it."]],
    ["outlier detection of a forced LOGICAL", { resolution: "DNS_ROUND_ROBIN", outlier: {} }, ["outlier has no effect with resolution DNS_ROUND_ROBIN: LOGICAL_DNS has one host, so an ejection is inert below 100 % and total at 100 %; remove it."]],
    ["a resolution for a wildcard", { ...direct, host: "*.partner.example", resolution: "DNS", pool: { membership: "rotating" }, failover: undefined }, ['resolution is "DNS", but "*.partner.example" is a wildcard, which no DNS answer resolves: leave it out.']],
    ["a time that Istio rejects", { connectTimeout: "0s" }, ['connectTimeout is "0s", but Istio rejects a connect timeout below 1ms: raise it, or leave it out.']],
    ["a TTL of 0", { failover: { detectionTime: "10s", dnsTtl: "0s" } }, ['failover.dnsTtl is "0s", but a TTL of 0 makes Envoy ask at its dnsRefreshRate (60 s) instead: give the TTL that the resolver answers, or 60s.']],
    ["a day that is none", { ownership: { owner: "o", purpose: "p", expires: "2027-02-30" } }, ['ownership.expires is "2027-02-30", which is not a day of the calendar: write it as YYYY-MM-DD.']],
    ["inactive without a mesh leg", { ...direct, active: false }, ["active is false, but has no effect with route direct, which has no mesh leg to take away: remove the declaration instead."]],
    ["an override of nothing", { manifestOverrides: { Service: { spec: {} } } }, ["manifestOverrides.Service is not an object of a declaration: use a kind or one of ServiceEntry/host, ServiceEntry/client-view, DestinationRule/host, DestinationRule/subset, Gateway/server, AuthorizationPolicy/consumers, EnvoyFilter/gateway, EnvoyFilter/sidecar, VirtualService/gateway-leg, VirtualService/mesh-leg."]],
    ["an override of identity", { manifestOverrides: { Gateway: { metadata: { name: "x" } } } }, ['manifestOverrides.Gateway.metadata.name is "x", but an object\'s identity is the declaration\'s and cannot be overridden: remove it.']],
    ["several at once", { host: "localhost", pool: { membership: "fixed" }, consumers: [{ namespace: "*" }] }, [
        'host is "localhost", and it is this machine (RFC 6761), not an external host: remove the declaration.',
        "pool.addressesPerAnswer is missing: a fixed pool must say how many addresses one DNS answer holds (dig +short HOST | wc -l), since the ejection guard and the loss window depend on it.",
        'consumers[0].namespace is "*", but the gateway serves declared consumers: name the namespaces, or make the whole gateway one for all (gateway.consumers: all).',
    ]],
];

describe("checkDeclaration", () => {
    it("accepts the example, and fills in its defaults", () => {
        const result = checkDeclaration(input({ host: "API.Partner.Example." }));
        expect(result).to.deep.equal({
            ok: true,
            declaration: {
                ...input(), host: "api.partner.example", ports: [{ number: 443, protocol: "TLS" }],
                gateway: { ...GATEWAY, consumers: "declared", lockdown: "off", envoyFilters: "allowed" }, active: true, settleTime: "2s",
            },
        });
    });

    for (const [name, change, messages] of BAD) it(`refuses ${name}`, () => expect(problems({ ...input(), ...change })).to.deep.equal(messages));

    it("accepts what is unwise and has an effect", () => {
        for (const change of [{ resolution: "DNS_ROUND_ROBIN" }, { idleTimeout: "0s" }, { outlier: { minHealthPercent: 50 } }, { outlier: { maxEjectionPercent: 100, minHealthPercent: 0 } }, { pool: { membership: "fixed", addressesPerAnswer: 3 }, outlier: { maxEjectionPercent: 34 } }]) {
            expect(problems({ ...input(), ...change })).to.deep.equal([]);
        }
    });

    it("accepts one address with any guard: it works as soon as a second record appears", () => {
        expect(problems(input({ pool: { membership: "fixed", addressesPerAnswer: 1 }, outlier: { maxEjectionPercent: 20 } }))).to.deep.equal([]);
    });

    it("accepts every random valid declaration", () => {
        fc.assert(fc.property(declarations, (raw) => {
            expect(problems(raw)).to.deep.equal([]);
        }), { numRuns: 500 });
    });

    it("never throws, whatever it is given", () => {
        fc.assert(fc.property(fc.anything(), (raw) => {
            expect(checkDeclaration(raw).ok).to.equal(false);
        }));
        const keys = fc.constantFrom(...Object.keys(input()), "outlier", "manifestOverrides", "resolution", "active");
        fc.assert(fc.property(fc.dictionary(keys, fc.anything()), (change) => {
            expect(checkDeclaration({ ...input(), ...change })).to.have.property("ok");
        }));
    });

    it("leaves out what depends on a value that is not known", () => {
        const raw = input({ pool: { membership: "fixed", addressesPerAnswer: 2 }, outlier: { maxEjectionPercent: 30 }, consumers: [{ namespace: "*" }] });
        const consumer = 'consumers[0].namespace is "*", but the gateway serves declared consumers: name the namespaces, or make the whole gateway one for all (gateway.consumers: all).';
        expect(problems(raw)).to.have.lengthOf(2);
        expect(problems(raw, [["pool", "addressesPerAnswer"]])).to.deep.equal([consumer]);
        expect(problems(raw, [["pool"]])).to.deep.equal([consumer]);
        expect(problems(raw, [["gateway", "consumers"]])).to.have.lengthOf(1);
        expect(problems(raw, [["gateway"], ["pool"]])).to.deep.equal([]);
        expect(problems(raw, [["ownership", "owner"]])).to.have.lengthOf(2);
    });

    it("keeps an old Istio out of direct routes' way", () => {
        expect(problems({ ...input(), ...direct, host: "*.partner.example", pool: { membership: Route.Direct } })).to.have.lengthOf(1);
        expect(problems({ ...input(), ...direct, host: "*.partner.example", pool: { membership: "rotating" }, failover: undefined })).to.deep.equal([]);
    });
});
