// What the lifecycle tests share: hosts on a real API server through the real CLI, what should be there, and what is.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { manifestsOf } from "../../manifests";
import type { Manifest } from "../../manifests";
import { ANNOTATIONS, API_VERSIONS, AUTHORIZATION_POLICY, SECURITY_VERSION } from "../../model";
import type { DeclarationInput, IstioKind } from "../../model";
import type { RunOptions, RunResult } from "../../tools/support/process";
import { accept } from "../support/declarations";
import type { ApiServer, KubernetesObject } from "../support/api-server";
import { COMMAND_MS, fixtureProject, stateResources } from "./harness";
import type { Project } from "./harness";
import { objectKey } from "./stack-harness";

export { objectKey } from "./stack-harness";

/** How often what depends on chance is tried. */
export const REPEATS = Number(process.env["LIFECYCLE_REPEATS"] ?? 1);
/** A test of a few commands, while other work is going on. */
export const LIFECYCLE_MS = 4 * COMMAND_MS;

export const URLS: Readonly<Record<IstioKind, string>> = {
    ServiceEntry: "serviceentries", DestinationRule: "destinationrules", Gateway: "gateways", VirtualService: "virtualservices", EnvoyFilter: "envoyfilters",
};
/** Where the tests' objects live; the API server refuses an object whose Namespace does not exist. */
const NAMESPACES = ["egress", "egress-new", "istio-egress", "istio-egress-new", "payments", "orders", "trading"];

/** What a test tells the program of fixtures/lifecycle. */
export interface Plan {
    readonly hosts: readonly PlannedHost[];
    /** Whether the file catalogue.yaml beside the program is registered too, as the catalogue `egress`. */
    readonly hasCatalogue?: boolean;
}

export interface PlannedHost {
    /** The component's name. */
    readonly name: string;
    readonly input: DeclarationInput;
    /** Former names, of a component by itself or in the catalogue. */
    readonly aliases?: readonly { readonly name: string; readonly inCatalogue?: boolean }[];
    /** "v1beta1": registered as by a release that emitted this version. */
    readonly formerVersion?: string;
}

export type Objects = ReadonlyMap<string, KubernetesObject>;

export interface Life extends Project {
    readonly server: ApiServer;
    /** Makes the plan the program's, and runs `pulumi up`; a failure is in the result. */
    readonly up: (plan: Plan, args?: readonly string[], options?: RunOptions) => Promise<RunResult>;
    /** As `up`, for one that must succeed. */
    readonly mustUp: (plan: Plan, ...args: string[]) => Promise<RunResult>;
    /** All that the API server holds of Istio's kinds. */
    readonly held: () => Promise<Map<string, KubernetesObject>>;
}

export async function startLife(server: ApiServer): Promise<Life> {
    for (const name of NAMESPACES) await server.request("POST", "/api/v1/namespaces", { metadata: { name } });
    const project = await fixtureProject("lifecycle");
    // Once, and not with each `up`: each `-c` rewrites the stack's file, which another `up` may be reading.
    await project.must(["config", "set", "kubeconfig", await readFile(server.kubeconfig, "utf8")]);
    const up = ["up", "--yes", "--skip-preview"];
    const arrange = (plan: Plan): Promise<void> => writeFile(path.join(project.folder, "program/hosts.json"), JSON.stringify(plan));
    return {
        ...project, server,
        up: async (plan, args = [], options) => {
            await arrange(plan);
            return project.run([...up, ...args], options);
        },
        mustUp: async (plan, ...args) => {
            await arrange(plan);
            return project.must([...up, ...args]);
        },
        held: () => heldBy(server),
    };
}

async function heldBy(server: ApiServer): Promise<Map<string, KubernetesObject>> {
    const found = new Map<string, KubernetesObject>();
    const lists = Object.entries(URLS).map(([kind, url]): [kind: string, url: string] => [kind, `${API_VERSIONS[kind as IstioKind]}/${url}`]);
    for (const [kind, url] of [...lists, [AUTHORIZATION_POLICY, `${SECURITY_VERSION}/authorizationpolicies`] as const]) {
        const { body } = await server.request("GET", `/apis/${url}`);
        for (const item of body.items ?? []) found.set(objectKey({ ...item, kind }), item);
    }
    return found;
}

export function manifests({ name, input }: PlannedHost): readonly Manifest[] {
    return manifestsOf(name, accept(input));
}

/** The objects that hosts consist of. */
export function declared(hosts: readonly PlannedHost[]): Objects {
    return new Map(hosts.flatMap(manifests).map(({ object }) => [objectKey(object as unknown as KubernetesObject), object as unknown as KubernetesObject]));
}

/** The mesh leg of a host, which moves the traffic; none when it is not active, or goes direct. */
export function meshLegOf(host: PlannedHost): string | undefined {
    const leg = manifests(host).find(({ movesTraffic }) => movesTraffic);
    return leg === undefined ? undefined : objectKey(leg.object);
}

/** One object as it was declared: what it asks for, and the metadata that are ours. */
export function expectObject(held: KubernetesObject | undefined, wanted: KubernetesObject): void {
    const key = objectKey(wanted);
    expect(held?.spec, key).to.deep.equal(wanted.spec);
    expect(held?.metadata?.["labels"], key).to.deep.equal(wanted.metadata?.["labels"]);
    const { [ANNOTATIONS.resource]: resource, ...annotations } = held?.metadata?.["annotations"] as Record<string, string>;
    expect(annotations, key).to.deep.equal(wanted.metadata?.["annotations"]);
    // The component's URN ends in the name of its declaration, wherever in the program it stands.
    expect(resource, key).to.match(new RegExp(`^urn:pulumi:test::[\\w-]+::[\\w:$-]*ExternalEgressHost::${annotations[ANNOTATIONS.declaration]}$`));
    expect(held?.metadata?.["deletionTimestamp"], key).to.equal(undefined);
}

/** The API server holds these hosts, as declared, and nothing else. */
export async function expectExactly(life: Life, hosts: readonly PlannedHost[]): Promise<void> {
    const held = await life.held(), wanted = declared(hosts);
    expect([...held.keys()].sort()).to.deep.equal([...wanted.keys()].sort());
    for (const [key, object] of wanted) expectObject(held.get(key), object);
}

/** The state names the objects that the API server holds, each once. */
export async function expectStateOf(life: Life): Promise<void> {
    const outputs = (await stateResources(life.must)).filter(({ type }) => type.includes(".istio.io/")).map((one) => one.outputs as KubernetesObject | undefined);
    expect(outputs.map((output) => output?.metadata?.["uid"])).to.have.members(Object.values(uids(await life.held())));
}

/** The ids by which the API server tells an object from another one of the same name. */
export function uids(objects: Objects): Record<string, unknown> {
    return Object.fromEntries([...objects].map(([key, { metadata }]) => [key, metadata?.["uid"]]));
}
