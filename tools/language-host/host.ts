// A stand-in for the vendor's `pulumi-language-nodejs`: the gRPC service through which the Pulumi CLI runs Node programs and policy packs.
// The CLI starts it with the engine's address as last argument and reads the port of this server from the first line of its output.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import type { ServerWritableStream } from "@grpc/grpc-js";
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import type { ILanguageRuntimeServer } from "@pulumi/pulumi/proto/language_grpc_pb";
import { AboutResponse, GetRequiredPackagesResponse, RunPluginResponse, RunResponse } from "@pulumi/pulumi/proto/language_pb";
import type { ProgramInfo } from "@pulumi/pulumi/proto/language_pb";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { packagesWithPlugins } from "./packages";

/** Exit code of the SDK's entry points for "the user has been told what went wrong". */
const ALREADY_REPORTED = 32;
/** State of a large stack in one message; gRPC's own limit is 4 MB. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

const args = process.argv.slice(2);
const engineAddress = args.at(-1) ?? "";
const tracing = args.includes("--tracing") ? args[args.indexOf("--tracing") + 1] : undefined;
const children = new Set<ChildProcess>();

/** The path of a module of the SDK, as the program sees it: its own copy, or ours where it has none. */
function sdkModule(directory: string, module: string): string {
    for (const base of [path.join(directory, "index.js"), __filename]) {
        try {
            return createRequire(base).resolve(`@pulumi/pulumi/${module}`);
        } catch {
            continue;
        }
    }
    throw new Error(`@pulumi/pulumi is not installed for ${directory}: run npm install there.`);
}

function start(command: string, commandArgs: string[], cwd: string, env: NodeJS.ProcessEnv, output: "inherit" | "pipe"): ChildProcess {
    const child = spawn(command, commandArgs, { cwd, env, stdio: ["ignore", output, output] });
    children.add(child);
    child.once("close", () => children.delete(child));
    return child;
}

/** What `runtime.options` of Pulumi.yaml or PulumiPolicy.yaml asks of Node. */
function nodeOptions(info: ProgramInfo | undefined): { env: NodeJS.ProcessEnv; nodeArgs: string[] } {
    const options = info?.getOptions()?.toJavaScript() ?? {};
    const { typescript = true, tsconfig, nodeargs } = options as { typescript?: boolean | string; tsconfig?: string; nodeargs?: string };
    return {
        env: { PULUMI_NODEJS_TYPESCRIPT: String(typescript), ...(tsconfig === undefined ? {} : { PULUMI_NODEJS_TSCONFIG_PATH: tsconfig }) },
        nodeArgs: (nodeargs ?? "").split(/\s+/).filter((word) => word !== ""),
    };
}

/** Sends what a child prints to the CLI while it runs, and its exit code at the end. */
function stream(call: ServerWritableStream<unknown, RunPluginResponse>, child: ChildProcess): void {
    child.stdout?.on("data", (data: Uint8Array) => call.write(new RunPluginResponse().setStdout(data)));
    child.stderr?.on("data", (data: Uint8Array) => call.write(new RunPluginResponse().setStderr(data)));
    child.once("error", (error) => call.emit("error", failure(grpc.status.INTERNAL, error)));
    child.once("close", (code) => {
        call.write(new RunPluginResponse().setExitcode(code ?? 1));
        call.end();
    });
    call.once("cancelled", () => child.kill("SIGTERM"));
}

function failure(code: grpc.status, error: Error): Partial<grpc.StatusObject> {
    return { code, details: error.message };
}

const about: ILanguageRuntimeServer["about"] = (_call, done) => {
    done(null, new AboutResponse().setExecutable(process.execPath).setVersion(process.version));
};

const getPluginInfo: ILanguageRuntimeServer["getPluginInfo"] = (_call, done) => {
    const { version } = createRequire(__filename)("@pulumi/pulumi/package.json") as { version: string };
    const info = new PluginInfo();
    info.setVersion(version);
    done(null, info);
};

const getRequiredPackages: ILanguageRuntimeServer["getRequiredPackages"] = (call, done) => {
    const directory = call.request.getInfo()?.getProgramDirectory() ?? process.cwd();
    done(null, new GetRequiredPackagesResponse().setPackagesList(packagesWithPlugins(directory)));
};

/** Runs the program once, for a preview or an update. */
const run: ILanguageRuntimeServer["run"] = (call, done) => {
    const request = call.request;
    const info = request.getInfo();
    const { env, nodeArgs } = nodeOptions(info);
    const flags: Record<string, string | undefined> = {
        monitor: request.getMonitorAddress(), engine: engineAddress, organization: request.getOrganization(), project: request.getProject(),
        stack: request.getStack(), "root-directory": info?.getRootDirectory(), pwd: request.getPwd(), parallel: String(request.getParallel()), tracing,
    };
    const programArgs = Object.entries(flags).flatMap(([flag, value]) => value === undefined || value === "" ? [] : [`--${flag}=${value}`]);
    if (request.getDryrun()) programArgs.push("--dry-run");
    const entry = sdkModule(info?.getProgramDirectory() ?? request.getPwd(), "cmd/run");
    const child = start(process.execPath, [...nodeArgs, entry, ...programArgs, info?.getEntryPoint() ?? ".", ...request.getArgsList()], request.getPwd(), {
        ...process.env, ...env,
        PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().toArray())),
        PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    }, "inherit");
    child.once("error", (error) => done(failure(grpc.status.INTERNAL, error)));
    child.once("close", (code, signal) => {
        const response = new RunResponse();
        if (code === ALREADY_REPORTED) response.setBail(true);
        else if (signal !== null) response.setError(`The program was ended by ${signal}.`);
        else if (code !== 0) response.setError(`The program ended with exit code ${String(code)}.`);
        done(null, response);
    });
};

/** Runs a policy pack ("analyzer") or a component provider ("resource") until the CLI hangs up. */
const runPlugin: ILanguageRuntimeServer["runPlugin"] = (call) => {
    const request = call.request;
    const info = request.getInfo();
    const directory = info?.getProgramDirectory() ?? request.getProgram();
    const isPack = request.getKind() === "analyzer";
    const { env, nodeArgs } = nodeOptions(info);
    const given = Object.fromEntries(request.getEnvList().map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
    const entry = sdkModule(directory, isPack ? "cmd/run-policy-pack" : "cmd/run-plugin");
    const pluginArgs = isPack ? [...request.getArgsList(), directory] : [directory, ...request.getArgsList()];
    // As the vendor's host has it: `nodeargs` come after the entry point here, where Node does not see them.
    // The SDK reads a pack's tsconfig.json from the working directory, so a pack runs in its own folder.
    const child = start(process.execPath, [entry, ...nodeArgs, ...pluginArgs], isPack ? directory : request.getPwd(), { ...given, ...env }, "pipe");
    stream(call, child);
};

const cancel: ILanguageRuntimeServer["cancel"] = (_call, done) => {
    stopChildren();
    done(null, new Empty());
};

function stopChildren(): void {
    for (const child of children) child.kill("SIGTERM");
}

function leave(): void {
    stopChildren();
    process.exit(0);
}

const server = new grpc.Server({ "grpc.max_receive_message_length": MAX_MESSAGE_BYTES });
// What is missing here gRPC answers with UNIMPLEMENTED, which the CLI takes as "not supported by this host".
server.addService(LanguageRuntimeService, { about, getPluginInfo, getRequiredPackages, run, runPlugin, cancel });
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    process.stdout.write(`${String(port)}\n`);
});

// Leave when interrupted, and when the CLI is gone: it holds the other end of the input.
process.on("SIGINT", leave).on("SIGTERM", leave);
process.stdin.on("end", leave).resume();
