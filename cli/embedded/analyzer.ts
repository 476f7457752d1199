// Judges resources by a running policy pack over Pulumi's analyzer protocol, with the requests that the real engine sends.
import { AnalyzerClient } from "@pulumi/pulumi/proto/analyzer_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/analyzer_pb";
import { Failure, messageOf } from "../failure";
import { shownPath } from "../paths";
import { codeOf, findingOf, toLevel } from "./finding";
import { type Pack, startPack } from "./pack";
import { type PolicyConfig, type PolicySettings, reconcile } from "./policy-config";
import { forPoliciesObject } from "./values";
import { Empty, fromStruct, grpc, toStruct } from "./sdk";
import type { Finding, JsonObject, Remediation, Resource } from "./types";

/** One call judges one resource, or at the end the whole stack. */
const CALL_TIMEOUT_MS = 60_000;
/** Calls under way at the same time. The pack has one thread; more only fill its queue. */
const PARALLEL_CALLS = 8;

export interface AnalysisOptions {
    readonly project: string;
    readonly stack: string;
    /** Absolute path of the environment's catalogue; it goes to every policy whose configuration has a property `catalogue`. */
    readonly catalogue?: string;
    /** Levels and properties per policy, in the format of `pulumi preview --policy-pack-config`. */
    readonly policies?: PolicyConfig;
}

export interface Analysis {
    readonly pack: { readonly name: string; readonly version: string; readonly policies: number };
    readonly findings: readonly Finding[];
    readonly remediations: readonly Remediation[];
}

/** Starts the pack of a folder, judges the resources, and ends the pack. */
export async function analyze(resources: readonly Resource[], packDir: string, options: AnalysisOptions): Promise<Analysis> {
    const pack = startPack(packDir);
    try {
        return await analyzeWith(pack, packDir, resources, options);
    } finally {
        await pack.stop();
    }
}

/** Judges the resources by a pack that has been started before. */
export async function analyzeWith(pack: Pack, packDir: string, resources: readonly Resource[], options: AnalysisOptions): Promise<Analysis> {
    const client = new AnalyzerClient(await pack.address, grpc.credentials.createInsecure(), { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
    try {
        return await new Session(client, shownPath(packDir), pack).run(resources, options);
    } finally {
        client.close();
    }
}

type Unary<Request, Response> = (request: Request, metadata: InstanceType<typeof grpc.Metadata>, options: { deadline: number }, done: (error: Error & { details?: string } | null, response: Response) => void) => unknown;

class Session {
    private inputs = new Map<string, JsonObject>();

    constructor(private readonly client: AnalyzerClient, private readonly where: string, private readonly pack: Pack) {}

    async run(resources: readonly Resource[], options: AnalysisOptions): Promise<Analysis> {
        const info = await this.call<object, proto.AnalyzerInfo>("getAnalyzerInfo", new Empty(), "tell its policies");
        const settings = reconcile(info, options, this.where);
        await this.call("configure", configureRequest(settings), "be configured");
        await this.call("configureStack", stackRequest(options), "be configured for the stack");

        const policies = info.getPoliciesList();
        const codes = new Map(policies.map((policy) => [policy.getName(), codeOf(policy)]));
        const remediations: Remediation[][] = [];
        const diagnostics: proto.AnalyzeDiagnostic[][] = [];
        const remediates = [...settings.values()].some(({ level }) => level === "remediate");
        const managed = resources.filter(({ external }) => !external);
        const queue = managed.entries();
        const worker = async (): Promise<void> => {
            for (const [index, resource] of queue) {
                if (remediates) remediations[index] = await this.remediate(resource, resources);
                const response = await this.call<proto.AnalyzeRequest, proto.AnalyzeResponse>("analyze", this.analyzeRequest(resource, resources), `judge ${resource.urn}`);
                diagnostics[index] = response.getDiagnosticsList().map((diagnostic) => withUrn(diagnostic, resource.urn));
            }
        };
        await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker));

        const ofStack = policies.some((policy) => policy.getPolicyType() !== proto.PolicyType.POLICY_TYPE_RESOURCE) ? await this.analyzeStack(resources) : [];
        const findings = [...diagnostics.flat(), ...ofStack].map((diagnostic) => findingOf(diagnostic, codes));
        return { pack: { name: info.getName(), version: info.getVersion(), policies: policies.length }, findings, remediations: remediations.flat() };
    }

    /** Later policies and the analysis see the inputs that a remediation has given. */
    private async remediate(resource: Resource, all: readonly Resource[]): Promise<Remediation[]> {
        const response = await this.call<proto.AnalyzeRequest, proto.RemediateResponse>("remediate", this.analyzeRequest(resource, all), `remediate ${resource.urn}`);
        return response.getRemediationsList().flatMap((remediation) => {
            if (!remediation.hasProperties()) return [];
            const inputs = fromStruct(remediation.getProperties());
            this.inputs.set(resource.urn, inputs);
            return [{ policy: remediation.getPolicyname(), urn: resource.urn, inputs }];
        });
    }

    private analyzeRequest(resource: Resource, all: readonly Resource[]): proto.AnalyzeRequest {
        const request = new proto.AnalyzeRequest();
        fill(request, resource, all, this.inputs.get(resource.urn) ?? resource.wire.inputs);
        return request;
    }

    /** The stack is judged by outputs; in a preview those of a managed resource are its inputs. */
    private async analyzeStack(resources: readonly Resource[]): Promise<proto.AnalyzeDiagnostic[]> {
        const request = new proto.AnalyzeStackRequest();
        request.setResourcesList(resources.map((resource) => {
            const message = new proto.AnalyzerResource();
            fill(message, resource, resources, this.inputs.get(resource.urn) ?? resource.wire.outputs);
            message.setParent(resource.parent ?? "");
            message.setDependenciesList([...resource.dependencies]);
            for (const [key, urns] of Object.entries(resource.propertyDependencies)) {
                const dependencies = new proto.AnalyzerPropertyDependencies();
                dependencies.setUrnsList([...urns]);
                message.getPropertydependenciesMap().set(key, dependencies);
            }
            return message;
        }));
        return (await this.call<proto.AnalyzeStackRequest, proto.AnalyzeResponse>("analyzeStack", request, "judge the stack")).getDiagnosticsList();
    }

    private call<Request, Response>(method: keyof AnalyzerClient, request: Request, purpose: string): Promise<Response> {
        const send = (this.client[method] as unknown as Unary<Request, Response>).bind(this.client);
        return new Promise((resolve, reject) => {
            send(request, new grpc.Metadata(), { deadline: Date.now() + CALL_TIMEOUT_MS }, (error, response) => {
                if (error === null) return resolve(response);
                const printed = this.pack.output().trim();
                reject(new Failure(`The policy pack ${this.where} failed to ${purpose}: ${error.details ?? messageOf(error)}${printed === "" ? "" : `\nIt printed:\n${printed}`}`));
            });
        });
    }
}

function fill(message: proto.AnalyzeRequest | proto.AnalyzerResource, resource: Resource, all: readonly Resource[], properties: JsonObject): void {
    message.setUrn(resource.urn);
    message.setName(resource.name);
    message.setType(resource.type);
    message.setProperties(toStruct(forPoliciesObject(properties)));
    const options = new proto.AnalyzerResourceOptions();
    options.setProtect(resource.protect);
    options.setIgnorechangesList([...resource.ignoreChanges]);
    options.setAliasesList([...resource.aliases]);
    options.setParent(resource.parent ?? "");
    message.setOptions(options);
    const provider = all.find(({ urn }) => resource.provider?.startsWith(`${urn}::`));
    if (provider === undefined) return;
    const providerMessage = new proto.AnalyzerProviderResource();
    providerMessage.setUrn(provider.urn);
    providerMessage.setName(provider.name);
    providerMessage.setType(provider.type);
    providerMessage.setProperties(toStruct(forPoliciesObject(provider.wire.inputs)));
    message.setProvider(providerMessage);
}

function configureRequest(settings: ReadonlyMap<string, PolicySettings>): proto.ConfigureAnalyzerRequest {
    const request = new proto.ConfigureAnalyzerRequest();
    for (const [name, { level, properties }] of settings) {
        const config = new proto.PolicyConfig();
        config.setEnforcementlevel(toLevel(level));
        config.setProperties(toStruct(properties));
        request.getPolicyconfigMap().set(name, config);
    }
    return request;
}

function stackRequest({ project, stack }: AnalysisOptions): proto.AnalyzerStackConfigureRequest {
    const request = new proto.AnalyzerStackConfigureRequest();
    request.setProject(project);
    request.setStack(stack);
    request.setOrganization("organization");
    request.setDryRun(true);
    return request;
}

function withUrn(diagnostic: proto.AnalyzeDiagnostic, urn: string): proto.AnalyzeDiagnostic {
    if (diagnostic.getUrn() === "") diagnostic.setUrn(urn);
    return diagnostic;
}
