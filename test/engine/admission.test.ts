// The rules in CEL on the real API server: for random objects the same verdict, in the same words, as the rules in TypeScript.
import { expect } from "chai";
import fc from "fast-check";
import { ADMISSION_RULES, type AdmissionObject, admissionMessage, admissionObjects } from "../../policies/admission";
import { RESOURCES } from "../../policies/admission/rule";
import { Catalogues } from "../../policies/catalogues";
import { judgeObjects } from "../../policies/judge";
import { objectsIn } from "../../policies/objects";
import { RULES } from "../../policies/rules";
import { type IstioManifest, istioManifests } from "../support/istio-objects";
import { type Answer, type ApiServer, startApiServer } from "../support/api-server";

/** For a narrow run: ONLY=E114,E202. */
const CODES = process.env["ONLY"]?.split(",");
const JUDGED = CODES === undefined ? ADMISSION_RULES : ADMISSION_RULES.filter(({ rule }) => CODES.includes(rule.code));
const OBJECTS = 300, AT_ONCE = 8, SEED = Number(process.env["SEED"] ?? "20261130");
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const PLURALS = { ValidatingAdmissionPolicy: "validatingadmissionpolicies", ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings" } as const;

describe("the rules at admission", function () {
    this.timeout(600_000);
    let server: ApiServer;
    const policies = admissionObjects({ rules: JUDGED });
    const names = policies.filter(({ kind }) => kind === "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name);

    before(async () => {
        server = await startApiServer();
        for (const namespace of names) await must("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
        for (const object of policies) await must(`${ADMISSION}/${PLURALS[object.kind]}`, object.kind === "ValidatingAdmissionPolicy" ? object : alone(object));
        for (const { rule, findings } of JUDGED) for (const level of Object.keys(findings)) await inForce(rule.code, level, nameOf(rule.code, level));
    });
    after(() => server?.stop());

    const must = async (url: string, object: object): Promise<void> => {
        const { status, body } = await server.request("POST", url, object);
        if (status !== 201) throw new Error(`The API server refuses ${JSON.stringify(object).slice(0, 200)}: ${body.message ?? String(status)}`);
    };
    const submit = (object: IstioManifest): Promise<Answer> =>
        server.request("POST", `/apis/${object.apiVersion}/namespaces/${object.metadata.namespace}/${RESOURCES[object.kind]?.resource ?? ""}?dryRun=All`, object);

    /** A policy counts some moments after it is written: an object that it must refuse is sent until it does. */
    const inForce = async (code: string, level: string, name: string): Promise<void> => {
        const bad = samples(code, name).filter((object) => verdictOf(code, level, object) !== "");
        for (let attempt = 0; attempt < 300; attempt++) {
            const { status, body } = await submit(bad[attempt % bad.length] as IstioManifest);
            if (status !== 201 && body.message?.includes("ValidatingAdmissionPolicy") === true) return;
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
        throw new Error(`${name} refuses nothing.`);
    };

    for (const { rule, findings } of JUDGED) {
        for (const level of Object.keys(findings)) {
            const name = nameOf(rule.code, level);
            it(`${name}: the same verdict and message for ${OBJECTS} random objects`, async () => {
                const differences: string[] = [], counts = { judged: 0, refused: 0 };
                await inParallel(samples(rule.code, name), async (object) => {
                    if (counts.judged >= OBJECTS && counts.refused >= 30) return;
                    const { status, body } = await submit(object), message = body.message ?? "";
                    // What Istio's own schema refuses never reaches a policy.
                    if (status !== 201 && !message.includes("ValidatingAdmissionPolicy")) return;
                    counts.judged++;
                    const theirs = status === 201 ? "" : message.replace(/^.*? denied request: /, ""), ours = verdictOf(rule.code, level, object);
                    if (theirs !== "") counts.refused++;
                    if (theirs !== ours) differences.push(`ours:   ${ours}\ntheirs: ${theirs}\n${JSON.stringify(object)}`);
                });
                expect(differences.slice(0, 3).join("\n\n"), `${differences.length} of ${counts.judged} differ, SEED=${SEED}`).to.equal("");
                expect(counts.judged).to.be.at.least(OBJECTS);
                expect(counts.refused, "objects that the rule refuses").to.be.at.least(20);
            });
        }
    }
});

function nameOf(code: string, level: string): string {
    return `istio-egress-${code.toLowerCase()}${level === "own" ? "" : `-${level}`}`;
}

/** More than are judged: Istio's own schema refuses some, and a rule that finds little gets more of them. */
function samples(code: string, namespace: string): readonly IstioManifest[] {
    const [first = ""] = RULES.find((rule) => rule.code === code)?.kinds ?? [], kind = first === "*" ? "ServiceEntry" : first;
    return fc.sample(istioManifests(kind, code, namespace), { numRuns: OBJECTS * 15, seed: SEED });
}

/** What the rule in TypeScript says of an object, as the policy would write it; empty for nothing. */
function verdictOf(code: string, level: string, object: IstioManifest): string {
    const rules = RULES.filter((rule) => rule.code === code), own = rules[0]?.level;
    const { findings } = judgeObjects(objectsIn(object), { rules, catalogues: new Catalogues(() => ({ ok: true, pools: [] }), []), now: new Date() });
    const wanted = findings.filter((finding) => (level === "own" ? finding.level === own : finding.level !== own));
    return admissionMessage(wanted.map(({ message }) => message));
}

/** Bound to a namespace of its name only, and refusing whatever its level, so that each is seen by itself. */
function alone({ metadata, spec, ...object }: AdmissionObject): object {
    return { ...object, metadata, spec: { ...spec, validationActions: ["Deny"], matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": metadata.name } } } } };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const queue = items.values();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (const item of queue) await work(item);
    }));
}
