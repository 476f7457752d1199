// A policy pack in a process of its own, spoken to as Pulumi's engine does: over gRPC, on the port that it prints first.
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { AnalyzerClient } from "@pulumi/pulumi/proto/analyzer_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/analyzer_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import ts from "typescript";

const ROOT = path.join(__dirname, "../..");
const START_MS = 60_000;

export interface Request {
    readonly type: string;
    readonly properties: unknown;
    readonly name?: string;
    readonly stack?: string;
}

export interface Diagnostic {
    readonly policy: string;
    readonly level: string;
    readonly severity: string;
    readonly message: string;
}

type Method = "analyze" | "analyzeStack" | "remediate" | "configure" | "configureStack" | "getAnalyzerInfo";
type Call<I, O> = (input: I, done: (error: Error | null, output: O) => void) => unknown;

const nameIn = (values: object, value: number): string => Object.entries(values).find(([, known]) => known === value)?.[0].toLowerCase().replace("policy_severity_", "") ?? "";

export class AnalyzerProcess {
    private constructor(private readonly child: ChildProcess, private readonly client: AnalyzerClient) {}

    /** @param args what Node runs; the working directory is the pack's folder, as the Pulumi CLI has it */
    static async start(args: readonly string[], folder: string): Promise<AnalyzerProcess> {
        const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
        let printed = "", failed = "";
        child.stderr.on("data", (data: Buffer) => { failed += data.toString(); });
        const port = await new Promise<string>((resolve, reject) => {
            const timer = setTimeout(() => { child.kill(); reject(new Error(`The pack printed no port within ${START_MS} ms.\n${failed}`)); }, START_MS);
            child.once("close", (code) => { clearTimeout(timer); reject(new Error(`The pack ended with exit code ${String(code)}.\n${failed}`)); });
            child.stdout.on("data", (data: Buffer) => {
                printed += data.toString();
                const line = /^(.*)\n/.exec(printed)?.[1];
                if (line === undefined) return;
                clearTimeout(timer);
                resolve(line);
            });
        });
        return new AnalyzerProcess(child, new AnalyzerClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure()));
    }

    get pid(): number | undefined {
        return this.child.pid;
    }

    async stop(): Promise<void> {
        this.client.close();
        const ended = new Promise((resolve) => this.child.once("close", resolve));
        this.child.kill();
        await ended;
    }

    info(): Promise<proto.AnalyzerInfo> {
        return this.call("getAnalyzerInfo", new Empty());
    }

    async analyze(request: Request): Promise<Diagnostic[]> {
        return diagnosticsIn(await this.call<proto.AnalyzeResponse>("analyze", message(request)));
    }

    /** Why policies did not judge a resource, by policy. */
    async notApplicable(request: Request): Promise<Record<string, string>> {
        return reasonsIn(await this.call<proto.AnalyzeResponse>("analyze", message(request)));
    }

    /** The policies of the whole stack, as the engine asks them at the end of a preview; `urn` is that of the resource at fault. */
    async analyzeStack(requests: readonly Request[]): Promise<(Diagnostic & { readonly urn: string })[]> {
        const response = await this.call<proto.AnalyzeResponse>("analyzeStack", stackMessage(requests));
        return diagnosticsIn(response).map((diagnostic, index) => ({ ...diagnostic, urn: response.getDiagnosticsList()[index]?.getUrn() ?? "" }));
    }

    async notApplicableToStack(requests: readonly Request[]): Promise<Record<string, string>> {
        return reasonsIn(await this.call<proto.AnalyzeResponse>("analyzeStack", stackMessage(requests)));
    }

    /** The properties that each remediating policy answers with, by policy. */
    async remediate(request: Request): Promise<Record<string, unknown>> {
        const response = await this.call<proto.RemediateResponse>("remediate", message(request));
        return Object.fromEntries(response.getRemediationsList().map((each) => [each.getPolicyname(), each.getDiagnostic() === "" ? each.getProperties()?.toJavaScript() : each.getDiagnostic()]));
    }

    /** As the engine does, for every policy: the given level or the policy's own, and the given properties. */
    async configure(given: Readonly<Record<string, { level?: keyof typeof proto.EnforcementLevel; properties?: unknown }>>, tags: Readonly<Record<string, string>> = {}): Promise<void> {
        const request = new proto.ConfigureAnalyzerRequest();
        for (const policy of (await this.info()).getPoliciesList()) {
            const { level, properties = {} } = given[policy.getName()] ?? {};
            const config = new proto.PolicyConfig();
            config.setEnforcementlevel(level === undefined ? policy.getEnforcementlevel() : proto.EnforcementLevel[level]);
            config.setProperties(Struct.fromJavaScript(properties as Record<string, JavaScriptValue>));
            request.getPolicyconfigMap().set(policy.getName(), config);
        }
        await this.call("configure", request);
        const stack = new proto.AnalyzerStackConfigureRequest();
        stack.setStack("dev");
        for (const [tag, value] of Object.entries(tags)) stack.getTagsMap().set(tag, value);
        await this.call("configureStack", stack);
    }

    private call<O>(method: Method, input: object): Promise<O> {
        const send = (this.client[method] as unknown as Call<object, O>).bind(this.client);
        return new Promise((resolve, reject) => send(input, (error, output) => (error === null ? resolve(output) : reject(error))));
    }
}

function diagnosticsIn(response: proto.AnalyzeResponse): Diagnostic[] {
    return response.getDiagnosticsList().map((diagnostic) => ({
        policy: diagnostic.getPolicyname(), level: nameIn(proto.EnforcementLevel, diagnostic.getEnforcementlevel()),
        severity: nameIn(proto.PolicySeverity, diagnostic.getSeverity()), message: diagnostic.getMessage(),
    }));
}

function reasonsIn(response: proto.AnalyzeResponse): Record<string, string> {
    return Object.fromEntries(response.getNotApplicableList().map((each) => [each.getPolicyName(), each.getReason()]));
}

function stackMessage(requests: readonly Request[]): proto.AnalyzeStackRequest {
    const request = new proto.AnalyzeStackRequest();
    request.setResourcesList(requests.map((each, index) => {
        const single = message({ ...each, name: each.name ?? `resource-${index}` }), resource = new proto.AnalyzerResource();
        resource.setType(single.getType());
        resource.setName(single.getName());
        resource.setUrn(single.getUrn());
        resource.setProperties(single.getProperties());
        resource.setOptions(single.getOptions());
        return resource;
    }));
    return request;
}

function message({ type, properties, name = "resource", stack = "dev" }: Request): proto.AnalyzeRequest {
    const request = new proto.AnalyzeRequest();
    request.setType(type);
    request.setName(name);
    request.setUrn(`urn:pulumi:${stack}::project::${type}::${name}`);
    request.setProperties(Struct.fromJavaScript(properties as Record<string, JavaScriptValue>));
    request.setOptions(new proto.AnalyzerResourceOptions());
    return request;
}

/** The pack as `npm run build` makes it, without its type check: that is another gate. The caller removes the folder. */
export function compilePack(): { readonly folder: string; readonly remove: () => void } {
    mkdirSync(path.join(ROOT, "out"), { recursive: true });
    const target = mkdtempSync(path.join(ROOT, "out/pack-"));
    for (const folder of ["model", "model/timeline", "catalogue", "policies", "policies/rules", "policies/views"]) {
        mkdirSync(path.join(target, folder), { recursive: true });
        for (const file of readdirSync(path.join(ROOT, folder)).filter((name) => name.endsWith(".ts"))) {
            const { outputText } = ts.transpileModule(readFileSync(path.join(ROOT, folder, file), "utf8"), {
                compilerOptions: { target: ts.ScriptTarget.ES2020, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
            });
            writeFileSync(path.join(target, folder, file.replace(/\.ts$/, ".js")), outputText);
        }
    }
    for (const file of ["PulumiPolicy.yaml", "package.json"]) copyFileSync(path.join(ROOT, "policies", file), path.join(target, "policies", file));
    return { folder: path.join(target, "policies"), remove: () => rmSync(target, { recursive: true }) };
}
