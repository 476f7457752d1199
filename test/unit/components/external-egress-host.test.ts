// ExternalEgressHost over Pulumi's mocks: what is registered, from plain, delayed, unknown and secret values. Mocks do not
// show dependsOn, aliases or hooks: the engine tests do.
import * as pulumi from "@pulumi/pulumi";
import { expect } from "chai";
import { ExternalEgressHost, EgressGateway, type ExternalEgressHostArgs } from "../../../components";
import { SAMPLES } from "../../../components/samples";
import { manifestsOf, writtenBy } from "../../../manifests";
import { type DeclarationInput, declarationSchema } from "../../../model";
import { z } from "zod";
import { takeRejections } from "../../hooks";
import { GATEWAY, declaration, input } from "../../support/declarations";
import { type Registration, captureLog, delayed, settled, startRuntime, unknown, valueOf } from "./mocks";

/** Every property of the example, and then some. */
const FULL = input({
    ports: [{ number: 443, protocol: "TLS" }, { number: 8443, protocol: "TLS" }], consumers: [{ namespace: "payments" }, { namespace: "orders" }],
    failover: { detectionTime: "10s", dnsTtl: "5s", envoyRefresh: "6s", longestConnection: "15m" }, connectTimeout: "2s", idleTimeout: "1h",
    outlier: { maxEjectionPercent: 60, minHealthPercent: 2, interval: "4s", baseEjectionTime: "20s", consecutiveLocalOriginFailures: 5 },
    resolution: "DNS", loadBalancer: "RANDOM", active: true, settleTime: "3s", gateway: { ...GATEWAY, consumers: "declared" },
    manifestOverrides: { Gateway: { metadata: { annotations: { note: "x" } } } },
});

const args = (raw: DeclarationInput): ExternalEgressHostArgs => raw;
const objects = (list: readonly Registration[]): readonly Registration[] =>
    list.filter(({ type }) => type.startsWith("kubernetes:")).sort((a, b) => (a.name < b.name ? -1 : 1));
const expected = (raw: DeclarationInput, name = "partner-api"): readonly Registration[] =>
    manifestsOf(name, declaration(raw)).map((manifest) => writtenBy(`urn:pulumi:stack::project::istio-egress:index:ExternalEgressHost::${name}`, manifest)).map(({ key, object }) => ({
        type: `kubernetes:${object.apiVersion}:${object.kind}`, name: `${name}-${key}`, inputs: { ...object },
    })).sort((a, b) => (a.name < b.name ? -1 : 1));

/** Every path of plain data: containers and leaves. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
    if (typeof value !== "object" || value === null) return [path];
    const below = Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]));
    return path.length === 0 ? below : [path, ...below];
}

function replaced(value: unknown, path: readonly (string | number)[], replace: (old: unknown) => unknown): unknown {
    const [key, ...rest] = path;
    if (key === undefined) return replace(value);
    if (Array.isArray(value)) return value.map((item: unknown, index) => (index === key ? replaced(item, rest, replace) : item));
    return { ...(value as object), [key]: replaced((value as Record<string, unknown>)[key], rest, replace) };
}

describe("ExternalEgressHost", () => {
    it("registers the manifests of its declaration, under stable names", async () => {
        const list = await startRuntime();
        const host = new ExternalEgressHost("partner-api", args(FULL));
        await settled();
        expect(objects(list)).to.deep.equal(expected(FULL));
        expect(list.filter(({ type }) => type.startsWith("istio-egress:")).map(({ type, name }) => `${type} ${name}`)).to.deep.equal(["istio-egress:index:ExternalEgressHost partner-api"]);
        expect(await valueOf(host.host)).to.equal("api.partner.example");
        expect((await valueOf(host.objects))?.map(({ role, namespace }) => `${role} ${namespace}`)).to.deep.equal([
            "ServiceEntry/host egress", "ServiceEntry/client-view payments", "ServiceEntry/client-view orders", "DestinationRule/host egress",
            "DestinationRule/subset payments", "DestinationRule/subset orders", "Gateway/server istio-egress", "EnvoyFilter/gateway istio-egress", "EnvoyFilter/sidecar payments", "EnvoyFilter/sidecar orders",
            "VirtualService/gateway-leg istio-egress", "VirtualService/mesh-leg egress",
        ]);
        expect(await valueOf(host.plan)).to.have.property("resolution", "DNS");
    });

    it("registers the same from a gateway's reference", async () => {
        const list = await startRuntime();
        const gateway = new EgressGateway("platform", GATEWAY);
        new ExternalEgressHost("partner-api", { ...args(input()), gateway: gateway.reference });
        await settled();
        expect(objects(list)).to.deep.equal(expected(input()));
    });

    it("registers the same when every property is a delayed Output, one by one and all together", async () => {
        for (const path of pathsOf(FULL)) {
            const list = await startRuntime();
            new ExternalEgressHost("partner-api", args(replaced(FULL, path, delayed) as DeclarationInput));
            await settled();
            expect(objects(list), path.join(".")).to.deep.equal(expected(FULL));
        }
        const list = await startRuntime();
        const leaves = pathsOf(FULL).filter((path, _, all) => !all.some((other) => other.length > path.length && path.every((key, index) => key === other[index])));
        new ExternalEgressHost("partner-api", args(leaves.reduce<unknown>((value, path) => replaced(value, path, delayed), FULL) as DeclarationInput));
        await settled();
        expect(objects(list)).to.deep.equal(expected(FULL));
    });

    it("shows in a preview all that does not depend on an unknown value", async () => {
        const list = await startRuntime(true);
        new ExternalEgressHost("partner-api", args(replaced(input(), ["host"], () => unknown()) as DeclarationInput));
        await settled();
        const entry = objects(list).find(({ name }) => name === "partner-api-service-entry");
        expect(pulumi.isUnknown((entry?.inputs["metadata"] as { name: unknown }).name)).to.equal(true);
        expect(entry?.inputs["metadata"]).to.have.property("namespace", "egress");
        expect(entry?.inputs["spec"]).to.deep.include({ location: "MESH_EXTERNAL", resolution: "DNS", exportTo: ["istio-egress"] });
        expect(pulumi.isUnknown((entry?.inputs["spec"] as { hosts: unknown[] }).hosts[0])).to.equal(true);
    });

    it("takes any single unknown property, and registers nothing that contradicts the rest", async () => {
        for (const path of pathsOf(FULL)) {
            const list = await startRuntime(true), log = captureLog();
            new ExternalEgressHost("partner-api", args(replaced(FULL, path, () => unknown()) as DeclarationInput));
            await settled();
            log.stop();
            const full = new Map(expected(FULL).map(({ name, inputs }) => [name, inputs]));
            for (const { name, inputs } of objects(list)) expectKnownPartsEqual(inputs, full.get(name), `${path.join(".")}: ${name}`);
            if (path[0] !== "consumers" && path[0] !== "route" && path[0] !== "active" && path[0] !== "gateway") expect(objects(list).length, path.join(".")).to.equal(full.size);
        }
    });

    it("leaves out of a preview what it cannot name yet, and says so", async () => {
        const list = await startRuntime(true), log = captureLog();
        new ExternalEgressHost("partner-api", args(replaced(input(), ["consumers", 0, "namespace"], () => unknown()) as DeclarationInput));
        await settled();
        const warnings = log.stop();
        expect(objects(list).map(({ name }) => name)).to.deep.equal(["partner-api-destination-rule", "partner-api-gateway", "partner-api-gateway-filter", "partner-api-gateway-leg", "partner-api-mesh-leg", "partner-api-service-entry"]);
        expect(warnings.join("\n")).to.contain('ExternalEgressHost "partner-api": ServiceEntry/client-view is left out of this preview, since it depends on consumers[0].namespace, which is not known yet; an object that exists is shown as a deletion.');
    });

    it("shows no way of waiting in a preview that does not know the gateway's Istio yet", async () => {
        const list = await startRuntime(true), log = captureLog(), requests: Partial<DeclarationInput> = { route: "tls-origination", ports: [{ number: 80, protocol: "HTTP" }] };
        new ExternalEgressHost("partner-api", args(replaced(input(requests), ["gateway", "istioVersion"], () => unknown()) as DeclarationInput));
        await settled();
        expect(log.stop()).to.deep.equal([]);
        expect(objects(list).map(({ name }) => name)).to.include("partner-api-gateway-filter"); // The last known address needs no version.
        for (const leg of ["gateway-leg", "mesh-leg"]) {
            const { http: [route] = [] } = objects(list).find(({ name }) => name === `partner-api-${leg}`)?.inputs["spec"] as { http?: { retries: unknown; match: unknown }[] };
            expect([route?.retries, route?.match].map((value) => pulumi.isUnknown(value)), leg).to.deep.equal([true, false]);
        }
    });

    it("refuses plain values at once, with every problem, and registers nothing", async () => {
        const list = await startRuntime();
        const bad = { ...args(input()), pool: { membership: "fixed" as const }, outlier: { maxEjectionPercent: 0 } };
        expect(() => new ExternalEgressHost("partner-api", bad)).to.throw(pulumi.RunError, [
            'ExternalEgressHost "partner-api": pool.addressesPerAnswer is missing: a fixed pool must say how many addresses one DNS answer holds (dig +short HOST | wc -l), since the ejection guard and the loss window depend on it.',
            'ExternalEgressHost "partner-api": outlier.maxEjectionPercent is 0, which Istio does not send, so that Envoy\'s own 10 % acts and nothing is ejected in a pool of fewer than 10: leave it unset (50) or raise it.',
        ].join("\n"));
        await settled();
        expect(list).to.deep.equal([]);
    });

    it("names the reference when the gateway itself is passed, and refuses an Output for the whole of its arguments", async () => {
        await startRuntime();
        const gateway = new EgressGateway("platform", GATEWAY);
        expect(() => new ExternalEgressHost("partner-api", { ...args(input()), gateway: gateway as never })).to.throw(pulumi.RunError, "gateway is a resource, and its value is what is needed: pass what it publishes, such as the reference of an EgressGateway.");
        expect(() => new ExternalEgressHost("partner-api", pulumi.output(args(input())) as never)).to.throw(pulumi.RunError, "The arguments must be an object; its properties may be Outputs, but not the whole of it.");
        await settled();
    });

    it("says of a guard without effect what it is, why, and the way out", () => {
        expect(() => new ExternalEgressHost("partner-api", { ...args(input()), outlier: { maxEjectionPercent: 30 } }))
            .to.throw('ExternalEgressHost "partner-api": outlier.maxEjectionPercent is 30, but a pool of 2 addresses ejects one only at 50..99: leave it unset (50) or raise it.');
    });

    it("refuses Outputs once they are known, and registers no object", async () => {
        const list = await startRuntime();
        new ExternalEgressHost("partner-api", { ...args(input()), outlier: { maxEjectionPercent: delayed(30) } });
        await settled();
        expect(await takeRejections()).to.deep.equal(['ExternalEgressHost "partner-api": outlier.maxEjectionPercent is 30, but a pool of 2 addresses ejects one only at 50..99: leave it unset (50) or raise it.']);
        expect(objects(list)).to.deep.equal([]);
    });

    it("checks what is known beside an unknown value", async () => {
        const list = await startRuntime(true);
        new ExternalEgressHost("partner-api", { ...args(input()), host: unknown<string>(), connectTimeout: "0s" });
        await settled();
        expect(await takeRejections()).to.deep.equal(['ExternalEgressHost "partner-api": connectTimeout is "0s", but Istio rejects a connect timeout below 1ms: raise it, or leave it out.']);
        expect(objects(list)).to.deep.equal([]);
    });

    it("never shows a secret value in an error", async () => {
        await startRuntime();
        new ExternalEgressHost("partner-api", { ...args(input()), host: pulumi.secret("10.1.2.3") });
        await settled();
        const [message, ...others] = await takeRejections();
        expect(others).to.deep.equal([]);
        expect(message).to.contain('ExternalEgressHost "partner-api": host is refused, and the reason would show a secret value: make the same value plain for one preview to read it. The external host');
        expect(message).to.not.contain("10.1.2.3");
    });

    it("keeps a secret where it goes, and only there", async () => {
        const secrets = await secretPaths({ ...args(input()), ownership: { owner: pulumi.secret("hidden"), purpose: "shown" } });
        expect(secrets.length).to.be.greaterThan(0);
        for (const path of secrets) expect(path).to.match(/metadata\.annotations\.istio-egress\/owner$/);
    });
});

describe("samples", () => {
    it("stand ready for every property of a declaration, and are valid", () => {
        const missing: string[] = [];
        const visit = (schema: z.core.$ZodType, path: string[]): void => {
            let inner = schema;
            while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap();
            const samples = SAMPLES[path.join(".")];
            if (path.length > 0) {
                if (samples === undefined) missing.push(path.join("."));
                for (const sample of samples ?? []) if (sample !== "*") expect(z.safeParse(inner, sample).success, `${path.join(".")} ${JSON.stringify(sample)}`).to.equal(true);
                expect(new Set(samples?.map((sample) => JSON.stringify(sample))).size, path.join(".")).to.be.at.least(2);
            }
            if (inner instanceof z.ZodObject) for (const [key, field] of Object.entries(inner.shape)) visit(field as z.core.$ZodType, [...path, key]);
            if (inner instanceof z.ZodArray) visit(inner.element, [...path, "*"]);
        };
        visit(declarationSchema, []);
        expect(missing).to.deep.equal([]);
    });
});

function expectKnownPartsEqual(actual: unknown, full: unknown, where: string): void {
    if (pulumi.isUnknown(actual)) return;
    if (typeof actual !== "object" || actual === null) return void expect(actual, where).to.equal(full);
    expect(full, where).to.be.an(Array.isArray(actual) ? "array" : "object");
    // What may be there and may not is unknown; what is known is in the full objects.
    for (const [key, value] of Object.entries(actual)) if (!pulumi.isUnknown(value) && !Object.hasOwn(full as object, key)) expect.fail(`${where}.${key} is nowhere in the full objects`);
    for (const [key, value] of Object.entries(actual)) expectKnownPartsEqual(value, (full as Record<string, unknown>)[key], `${where}.${key}`);
}

/** Where secrets go: the paths under which resource arguments are secret Outputs. */
async function secretPaths(hostArgs: ExternalEgressHostArgs): Promise<readonly string[]> {
    await startRuntime();
    const found: string[] = [];
    const walk = async (value: unknown, path: string): Promise<void> => {
        if (pulumi.Output.isInstance(value)) {
            if (await pulumi.isSecret(value)) found.push(path);
            return;
        }
        if (typeof value === "object" && value !== null) await Promise.all(Object.entries(value).map(([key, item]) => walk(item, `${path}.${key}`)));
    };
    const pending: Promise<void>[] = [];
    new ExternalEgressHost("partner-api", hostArgs, {
        transformations: [({ props, type, name }) => {
            if (type.startsWith("kubernetes:")) pending.push(walk(props, name));
            return undefined;
        }],
    });
    await settled();
    await Promise.all(pending);
    return found;
}
