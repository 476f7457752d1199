// The hosts that the benchmarks declare, and their objects for the plain twin.
import { manifestsOf, writtenBy } from "../manifests";
import { type DeclarationInput, checkDeclaration } from "../model";

export interface BenchHosts {
    readonly declarations: readonly { readonly name: string; readonly input: DeclarationInput }[];
    readonly hosts: readonly { readonly name: string; readonly objects: readonly { readonly key: string; readonly last: boolean; readonly object: object }[] }[];
}

export function benchHosts(count: number): BenchHosts {
    const declarations = Array.from({ length: count }, (_, index) => ({ name: `host-${index}`, input: declarationOf(index) }));
    const hosts = declarations.map(({ name, input }) => {
        const result = checkDeclaration(input);
        if (!result.ok) throw new Error(JSON.stringify(result.problems));
        const objects = manifestsOf(name, result.declaration).map((manifest) => writtenBy(`urn:pulumi:bench::bench::bench:index:Host::${name}`, manifest)).map(({ key, movesTraffic, object }) => ({ key, last: movesTraffic, object }));
        return { name, objects };
    });
    return { declarations, hosts };
}

export function declarationOf(index: number): DeclarationInput {
    return {
        host: `h${index}.partner.example`, namespace: "egress",
        pool: { membership: index % 3 === 2 ? "rotating" : "fixed", addressesPerAnswer: 1 + (index % 4) },
        failover: { detectionTime: "10s", dnsTtl: "5s", longestConnection: "15m" },
        route: "mtls-passthrough",
        gateway: {
            namespace: "istio-egress", selector: { istio: "egressgateway" }, serviceHost: "istio-egressgateway.istio-egress.svc.cluster.local",
            ports: [{ number: 443, targetPort: 8443 }], istioVersion: "1.31.0",
        },
        consumers: [{ namespace: `team-${index % 10}` }],
        ownership: { owner: `team-${index % 10}`, purpose: "benchmark", expires: "2027-06-30" },
    };
}
