// EgressAdmission over Pulumi's mocks: the policies that it registers, and the arguments that it refuses.
import * as pulumi from "@pulumi/pulumi";
import { expect } from "chai";
import { EgressAdmission, type EgressAdmissionArgs } from "../../../components";
import { ADMISSION_RULES, admissionObjects, whyNotAdmitted } from "../../../policies/admission";
import { isSetRule } from "../../../policies/rule";
import { RULES } from "../../../policies/rules";
import { captureLog, delayed, settled, startRuntime, unknown, valueOf } from "./mocks";

const POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy", BINDING = `${POLICY}Binding`;

describe("EgressAdmission", () => {
    it("registers the policies and bindings of admissionObjects, unchanged, and publishes their names", async () => {
        const list = await startRuntime(), admission = new EgressAdmission("egress");
        await settled();
        const registered = list.filter(({ type }) => type === POLICY || type === BINDING);
        const wanted = admissionObjects();
        expect(registered.map(({ inputs: { apiVersion, kind, metadata, spec } }) => ({ apiVersion, kind, metadata, spec }))).to.have.deep.members(wanted.map((object) => ({ ...object })));
        expect(registered.map(({ name }) => name)).to.include.members(["egress-e101", "egress-e101-binding", "egress-e101-advisory", "egress-e101-advisory-binding"]);
        expect(await valueOf(admission.policies)).to.deep.equal(wanted.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name));
    });

    for (const [how, wrap] of [["plain", <T>(value: T): pulumi.Input<T> => value], ["delayed", delayed]] as const) {
        it(`takes levels, namespaces and the failure policy, ${how}`, async () => {
            const list = await startRuntime();
            new EgressAdmission("egress", { levels: { all: wrap("advisory"), "shared-mutual-server": wrap("mandatory"), "ejection-never": "disabled" }, excludedNamespaces: [wrap("legacy")], failurePolicy: wrap("Ignore") });
            await settled();
            const of = (type: string, name: string): Record<string, unknown> | undefined => list.find((one) => one.type === type && one.name === name)?.inputs["spec"] as Record<string, unknown> | undefined;
            expect(of(BINDING, "egress-e410-binding")?.["validationActions"]).to.deep.equal(["Deny", "Audit"]);
            expect(of(BINDING, "egress-e102-binding")?.["validationActions"]).to.deep.equal(["Warn", "Audit"]);
            expect(of(POLICY, "egress-e102")).to.deep.include({ failurePolicy: "Ignore" });
            expect(of(POLICY, "egress-e102")).to.have.nested.property("matchConstraints.namespaceSelector.matchExpressions").that.deep.equals([{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["legacy"] }]);
            expect(list.some(({ name }) => name.startsWith("egress-e101"))).to.equal(false);
        });
    }

    it("refuses what it does not know, all at once, and registers nothing", async () => {
        const list = await startRuntime();
        const args = { levels: { "ejection-nevr": "advisory", all: "error" }, excludedNamespaces: ["Legacy"], failurePolicy: "Maybe" } as unknown as EgressAdmissionArgs;
        expect(() => new EgressAdmission("egress", args)).to.throw(pulumi.RunError, [
            'EgressAdmission "egress": levels.ejection-nevr is no rule (did you mean ejection-never?): give a rule\'s name, or all.',
            'EgressAdmission "egress": levels.all is "error", but must be one of "mandatory", "advisory", "disabled".',
            'EgressAdmission "egress": excludedNamespaces[0] is "Legacy", which is not a namespace\'s name.',
            'EgressAdmission "egress": failurePolicy is "Maybe", but must be one of "Fail", "Ignore".',
        ].join("\n"));
        await settled();
        expect(list).to.deep.equal([]);
    });

    it("leaves its policies out of a preview that does not know an argument yet, and says so", async () => {
        const list = await startRuntime(true), log = captureLog(), admission = new EgressAdmission("egress", { excludedNamespaces: unknown<string[]>() });
        await settled();
        expect(log.stop().join("\n")).to.contain('EgressAdmission "egress": its policies are left out of this preview, since excludedNamespaces is not known yet');
        expect(list.filter(({ type }) => type === POLICY)).to.deep.equal([]);
        expect(await valueOf(admission.policies)).to.equal(undefined);
    });
});

describe("the objects of admission", () => {
    it("are there for every rule about one object, or it is said why not", () => {
        for (const rule of RULES) {
            const why = whyNotAdmitted(rule), isThere = ADMISSION_RULES.some((one) => one.rule.code === rule.code);
            if (isThere) expect([why, isSetRule(rule)], rule.code).to.deep.equal([undefined, false]);
            else expect(why, rule.code).to.be.a("string").and.to.not.equal("it has no form in CEL yet");
        }
        expect(ADMISSION_RULES.map(({ rule }) => rule.code)).to.deep.equal([...ADMISSION_RULES].map(({ rule }) => rule.code).sort());
    });

    it("have a policy and a binding of the same name for every rule and level", () => {
        const objects = admissionObjects(), names = ADMISSION_RULES.flatMap(({ rule: { code }, findings }) => Object.keys(findings).map((level) => `istio-egress-${code.toLowerCase()}${level === "own" ? "" : `-${level}`}`));
        expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.deep.equal(names.flatMap((name) => [`ValidatingAdmissionPolicy ${name}`, `ValidatingAdmissionPolicyBinding ${name}`]));
    });
});
