// What the policies do to requests on the real API server, as they are printed: refused or warned of by level, on creation and on change, and exemptions.
import { expect } from "chai";
import { type AdmissionObject, admissionObjects } from "../../policies/admission";
import { type Answer, type ApiServer, startApiServer } from "../support/api-server";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const PLURALS = { ValidatingAdmissionPolicy: "validatingadmissionpolicies", ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings" } as const;
const NAMESPACES = ["egress", "legacy", "levels"];
const POOL = { "istio-egress/membership": "fixed", "istio-egress/addresses-per-answer": "2" };

type Annotations = Readonly<Record<string, string>>;
const rule = (name: string, maxEjectionPercent: number, annotations: Annotations = {}, version = "v1", namespace = "egress"): { readonly apiVersion: string; readonly metadata: Record<string, unknown> } & Record<string, unknown> => ({
    apiVersion: `networking.istio.io/${version}`, kind: "DestinationRule", metadata: { name, namespace, annotations: { ...POOL, ...annotations } },
    spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent, minHealthPercent: 1 } } },
});
const INERT = 30, WORKS = 50;
const exempt = (text: string): Annotations => ({ "istio-egress/exempt-E101": text });
const never = (name: string): string => `E101 DestinationRule egress/${name}: spec.trafficPolicy.outlierDetection.maxEjectionPercent is 30, but `;

describe("the policies of admission as they are printed", function () {
    this.timeout(300_000);
    let server: ApiServer;

    before(async () => {
        server = await startApiServer();
        for (const namespace of NAMESPACES) await must(server.request("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }));
        // It was there before any policy.
        await must(create(rule("former", INERT)));
        await install(admissionObjects({ excludedNamespaces: ["legacy", "levels"] }));
        await until(async () => (await create(rule("probe", INERT), true)).status !== 201 && (await create(rule("probe", WORKS, {}, "v1beta1"), true)).warnings.length > 0);
    });
    after(() => server?.stop());

    const collection = (version: unknown, namespace: unknown): string => `/apis/${String(version)}/namespaces/${String(namespace)}/destinationrules`;
    const create = (object: ReturnType<typeof rule>, dry = false): Promise<Answer> => server.request("POST", `${collection(object.apiVersion, object.metadata["namespace"])}${dry ? "?dryRun=All" : ""}`, object);
    const at = (name: string, namespace = "egress"): string => `${collection("networking.istio.io/v1", namespace)}/${name}`;
    /** As `kubectl apply` does: the whole object, over the one that is there. */
    const update = async (object: ReturnType<typeof rule>): Promise<Answer> => {
        const { name, namespace } = object.metadata as { name: string; namespace: string }, { body } = await server.request("GET", at(name, namespace));
        return server.request("PUT", at(name, namespace), { ...object, metadata: { ...object.metadata, resourceVersion: body.metadata?.["resourceVersion"] } });
    };
    const must = async (answer: Promise<Answer>): Promise<Answer> => {
        const { status, body, warnings } = await answer;
        if (status >= 300) throw new Error(body.message ?? String(status));
        return { status, body, warnings };
    };
    const install = async (objects: readonly AdmissionObject[]): Promise<void> => {
        for (const object of objects) await must(server.request("POST", `${ADMISSION}/${PLURALS[object.kind]}`, object));
    };
    const until = async (isSo: () => Promise<boolean>): Promise<void> => {
        for (let attempt = 0; attempt < 300; attempt++) {
            if (await isSo()) return;
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        throw new Error("The policies do not count.");
    };
    const refused = ({ status, body }: Answer, name: string): void => {
        expect(status, body.message).to.equal(422);
        expect(body.message).to.include(`ValidatingAdmissionPolicy 'istio-egress-e101' with binding 'istio-egress-e101' denied request: ${never(name)}`).and.include("See docs/rules/E101.md");
    };
    const accepted = ({ status, body, warnings }: Answer): void => {
        expect(status, body.message).to.be.oneOf([200, 201]);
        expect(warnings).to.deep.equal([]);
    };

    it("refuse what a mandatory rule finds, when it is created and when it is changed", async () => {
        refused(await create(rule("inert", INERT)), "inert");
        accepted(await create(rule("changed", WORKS)));
        refused(await update(rule("changed", INERT)), "changed");
        refused(await server.request("PATCH", at("changed"), { spec: { trafficPolicy: { outlierDetection: { maxEjectionPercent: INERT } } } }), "changed");
        refused(await server.request("PATCH", `${at("changed")}?fieldManager=test&force=true`, rule("changed", INERT)), "changed");
        accepted(await update(rule("changed", 60)));
    });

    it("warn of what an advisory rule finds, in the words of the rule", async () => {
        const words = (name: string): string => `E602 DestinationRule egress/${name}: apiVersion is networking.istio.io/v1beta1, but networking.istio.io/v1 is served of DestinationRule: `;
        const { status, warnings } = await create(rule("old", WORKS, {}, "v1beta1"));
        expect(status).to.equal(201);
        expect(warnings).to.have.lengthOf(1);
        expect(warnings[0]).to.include(words("old"));
        const changed = await server.request("PATCH", `/apis/networking.istio.io/v1beta1/namespaces/egress/destinationrules/old`, { spec: { exportTo: ["."] } });
        expect(changed.status).to.equal(200);
        expect(changed.warnings.join()).to.include(words("old"));
    });

    it("leave alone what is there, until its spec or its annotations change", async () => {
        accepted(await server.request("PATCH", at("former"), { metadata: { labels: { team: "payments" } } }));
        refused(await server.request("PATCH", at("former"), { metadata: { annotations: { note: "touched" } } }), "former");
        refused(await server.request("PATCH", at("former"), { spec: { exportTo: ["."] } }), "former");
        accepted(await server.request("PATCH", at("former"), { spec: { trafficPolicy: { outlierDetection: { maxEjectionPercent: WORKS } } } }));
    });

    it("let exempt objects pass to the last day, and no others", async () => {
        const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
        accepted(await create(rule("exempt", INERT, exempt(`until ${day(30)}: the list grows, CHG-1`))));
        // A test that runs at midnight would see yesterday as today.
        for (const text of [`until ${day(-2)}: too late`, "until 2999-02-30: no such day", `until ${day(30)}:`, `until ${day(30)}`, "for ever", ""]) refused(await create(rule("not-exempt", INERT, exempt(text))), "not-exempt");
        refused(await create(rule("other-rule", INERT, { "istio-egress/exempt-E102": `until ${day(30)}: of another rule` })), "other-rule");
    });

    it("judge exemptions by the day of the change", async () => {
        const later = "until 2999-12-31: the list grows, CHG-1";
        accepted(await create(rule("lapsing", INERT, exempt(later))));
        accepted(await update({ ...rule("lapsing", INERT, exempt(later)), spec: { ...rule("", INERT)["spec"] as object, exportTo: ["."] } }));
        refused(await update(rule("lapsing", INERT, exempt("until 2020-01-01: long ago"))), "lapsing");
        refused(await update(rule("lapsing", INERT)), "lapsing");
        accepted(await create(rule("mended", WORKS)));
        accepted(await update(rule("mended", INERT, exempt(later))));
    });

    it("let everything be deleted", async () => {
        await must(create(rule("doomed", INERT, exempt("until 2999-12-31: for now"))));
        for (const name of ["doomed", "exempt", "lapsing"]) expect((await server.request("DELETE", at(name))).status, name).to.equal(200);
    });

    it("judge nothing in namespaces that are left out", async () => {
        accepted(await create(rule("inert", INERT, {}, "v1", "legacy")));
        accepted(await create(rule("old", WORKS, {}, "v1beta1", "legacy")));
    });

    it("follow configured levels: advisory warns, mandatory refuses, disabled is not there", async () => {
        const objects = admissionObjects({ levels: { all: "disabled", "ejection-never": "advisory", "outdated-api-version": "mandatory" }, excludedNamespaces: ["egress", "legacy"] });
        expect(objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name)).to.deep.equal(["istio-egress-e101", "istio-egress-e101-advisory", "istio-egress-e602"]);
        // Beside the others, which leave this namespace out, under names of their own.
        await install(objects.map(({ metadata, spec, ...object }): AdmissionObject => ({ ...object, metadata: { ...metadata, name: `levels-${metadata.name}` }, spec: object.kind === "ValidatingAdmissionPolicy" ? spec : { ...spec, policyName: `levels-${metadata.name}` } })));
        await until(async () => (await create(rule("probe", INERT, {}, "v1", "levels"), true)).warnings.length > 0 && (await create(rule("probe", WORKS, {}, "v1beta1", "levels"), true)).status !== 201);
        const warned = await create(rule("inert", INERT, {}, "v1", "levels"));
        expect(warned.status).to.equal(201);
        expect(warned.warnings).to.have.lengthOf(1);
        expect(warned.warnings[0]).to.include("E101 DestinationRule levels/inert: ");
        const old = await create(rule("old", WORKS, {}, "v1beta1", "levels"));
        expect(old.status, old.body.message).to.equal(422);
        expect(old.body.message).to.include("E602 DestinationRule levels/old: ");
        // E102 is disabled.
        accepted(await create({ ...rule("emptied", WORKS, {}, "v1", "levels"), spec: { host: "api.partner.example", trafficPolicy: { outlierDetection: { maxEjectionPercent: 100 } } } }));
    });
});
