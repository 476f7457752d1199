// What we emit, judged by the real API server (schema and CEL) and by istiod's real validating webhook; and what they refuse,
// refused by us first.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { type KubernetesObject, manifestsOf } from "../../manifests";
import { type DeclarationInput, checkDeclaration } from "../../model";
import { accept, declarations, input } from "../support/declarations";
import { type Answer, type ApiServer, startApiServer } from "../support/api-server";
import { type Istiod, startIstiod } from "../support/istiod";

const DECLARATIONS = 1000, AT_ONCE = 12, NAMESPACES = Array.from({ length: 8 }, (_, index) => `namespace-${index}`);

describe("the API server and istiod's webhook", function () {
    this.timeout(600_000);
    let server: ApiServer, istiod: Istiod;

    before(async () => {
        server = await startApiServer();
        istiod = await startIstiod(server);
        for (const name of NAMESPACES) await server.request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    });
    after(async () => {
        await istiod?.stop();
        await server?.stop();
    });

    const submit = (object: KubernetesObject): Promise<Answer> =>
        server.request("POST", `/apis/${object.apiVersion}/namespaces/${object.metadata.namespace}/${PLURALS[object.kind] ?? ""}?dryRun=All&fieldValidation=Strict`, object);

    it(`accept every object of ${DECLARATIONS} random declarations, all routes`, async () => {
        const seed = Number(process.env["SEED"] ?? "20261130");
        const objects = fc.sample(declarations, { numRuns: DECLARATIONS, seed }).map(settle).flatMap((raw) => manifestsOf("host", accept(raw)).map(({ object }) => object));
        const refused: string[] = [];
        await inParallel(objects, async (object) => {
            const { status, body } = await submit(object);
            if (status !== 201) refused.push(`${status} ${object.kind} ${body.message ?? ""}: ${JSON.stringify(object)}`);
        });
        expect(objects.length).to.be.greaterThan(DECLARATIONS * 2);
        expect(refused.slice(0, 5), `${refused.length} of ${objects.length} refused, SEED=${seed}`).to.deep.equal([]);
    });

    /** What Istio refuses in an object, as the declaration that would lead there. */
    const refusedByBoth: readonly (readonly [name: string, change: Partial<DeclarationInput>, ours: RegExp, theirs: (object: Record<string, unknown>) => void, kind: string])[] = [
        ["a time below 1 ms", { connectTimeout: "0s" }, /connectTimeout is "0s"/, (spec) => set(spec, ["trafficPolicy", "connectionPool", "tcp", "connectTimeout"], "0s"), "DestinationRule/host"],
        ["a wildcard with DNS", { host: "*.partner.example" }, /host is a wildcard/, (spec) => set(spec, ["hosts"], ["*.partner.example"]), "ServiceEntry/host"],
        ["a bare wildcard", { host: "*" }, /host is "\*"/, (spec) => set(spec, ["hosts"], ["*"]), "ServiceEntry/host"],
        ["a port above 65535", { ports: [{ number: 65536 }] }, /ports\[0\]\.number is 65536/, (spec) => set(spec, ["ports"], [{ number: 65536, name: "tls", protocol: "TLS" }]), "ServiceEntry/host"],
        ["a port twice", { ports: [{ number: 443 }, { number: 443 }] }, /ports\[1\]\.number is 443, which ports\[0\] declares already/, (spec) => set(spec, ["ports"], [{ number: 443, name: "a", protocol: "TLS" }, { number: 443, name: "b", protocol: "TLS" }]), "ServiceEntry/host"],
        ["a label of 64 characters", { host: `${"a".repeat(64)}.example` }, /DNS carries 63/, (spec) => set(spec, ["hosts"], [`${"a".repeat(64)}.example`]), "ServiceEntry/host"],
        ["an underscore", { host: "a_b.example" }, /RFC 1123/, (spec) => set(spec, ["hosts"], ["a_b.example"]), "ServiceEntry/host"],
        ["a numeric top level", { host: "partner.1" }, /all digits/, (spec) => set(spec, ["hosts"], ["partner.1"]), "ServiceEntry/host"],
        ["a percent above 100", { outlier: { maxEjectionPercent: 101 } }, /maxEjectionPercent is 101/, (spec) => set(spec, ["trafficPolicy", "outlierDetection", "maxEjectionPercent"], 101), "DestinationRule/host"],
        ["an unknown resolution", { resolution: "STATIC" as never }, /resolution is "STATIC"/, (spec) => set(spec, ["resolution"], "SOMEHOW"), "ServiceEntry/host"],
        ["a namespace that is none", { consumers: [{ namespace: "Payments!" }] }, /not a namespace's name/, (spec) => set(spec, ["exportTo"], ["Payments!"]), "VirtualService/mesh-leg"],
    ];
    for (const [name, change, ours, theirs, role] of refusedByBoth) {
        it(`refuse ${name}, and we refuse it first`, async () => {
            const good = manifestsOf("host", accept(settle(input()))).find((manifest) => manifest.role === role)?.object as KubernetesObject;
            expect((await submit(good)).status).to.equal(201);
            const bad = structuredClone(good);
            theirs(bad.spec);
            const { status, body } = await submit(bad);
            expect(status, body.message).to.be.oneOf([400, 422]);
            const result = checkDeclaration(input(change));
            expect(result.ok ? "" : result.problems.map(({ path: at, text }) => `${at.reduce<string>((left, key) => left + (typeof key === "number" ? `[${key}]` : left === "" ? key : `.${key}`), "")} ${text}`).join("\n")).to.match(ours);
        });
    }

    it("accept nearly everything that the pack refuses: it stands where they do not look", async () => {
        const folder = path.join(__dirname, "../fixtures/invalid"), verdicts: string[] = [];
        for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml") && !name.endsWith(".expected.yaml"))) {
            for (const document of parseAllDocuments(readFileSync(path.join(folder, file), "utf8"))) {
                const object = document.toJS() as KubernetesObject | null;
                if (object === null || PLURALS[object.kind] === undefined) continue;
                const { status, body } = await submit({ ...object, metadata: { ...object.metadata, namespace: NAMESPACES[0] ?? "" } });
                if (status !== 201) verdicts.push(`${file} ${object.kind}: ${body.message ?? ""}`);
            }
        }
        expect(verdicts.map((verdict) => verdict.slice(0, 4)), verdicts.join("\n")).to.deep.equal(REFUSED_BY_ISTIO);
    });
});

/** The rules whose bad example Istio itself refuses: files that never met a cluster are told before they do. */
const REFUSED_BY_ISTIO = ["E107", "E205", "E206", "E306", "E402"];

const PLURALS: Readonly<Record<string, string>> = { ServiceEntry: "serviceentries", DestinationRule: "destinationrules", Gateway: "gateways", VirtualService: "virtualservices", AuthorizationPolicy: "authorizationpolicies", EnvoyFilter: "envoyfilters" };

/** The same declaration in namespaces that exist, distinct ones kept distinct. */
function settle(raw: DeclarationInput): DeclarationInput {
    const names = [...new Set([raw.gateway?.namespace ?? raw.namespace, raw.namespace, ...raw.consumers.map(({ namespace }) => namespace).filter((name) => name !== "*")])];
    const renamed = (name: string): string => (name === "*" ? name : NAMESPACES[names.indexOf(name)] ?? name);
    const gateway = raw.gateway;
    return {
        ...raw, namespace: renamed(raw.namespace), consumers: raw.consumers.map((consumer) => ({ ...consumer, namespace: renamed(consumer.namespace) })),
        gateway: gateway === undefined ? undefined : { ...gateway, namespace: renamed(gateway.namespace), serviceHost: `egress.${renamed(gateway.namespace)}.svc.cluster.local` },
    };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const queue = items.values();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (const item of queue) await work(item);
    }));
}

function set(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
    const last = keys.at(-1) ?? "";
    const owner = keys.slice(0, -1).reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, target);
    owner[last] = value;
}
