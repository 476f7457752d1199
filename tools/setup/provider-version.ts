// Asks a Pulumi plugin for its version: it has no flag for that, only its gRPC service.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { credentials } from "@grpc/grpc-js";
import { LanguageRuntimeClient } from "@pulumi/pulumi/proto/language_grpc_pb";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

const TIMEOUT_MS = 20_000;

interface Client {
    getPluginInfo(argument: Empty, done: (error: Error | null, info: PluginInfo) => void): unknown;
    close(): void;
}

export function providerVersion(file: string): Promise<string | undefined> {
    return pluginVersion(file, [], (address) => new ResourceProviderClient(address, credentials.createInsecure()));
}

/** A language host wants the address of an engine, which it does not call before it is asked to. */
export function languageHostVersion(file: string): Promise<string | undefined> {
    return pluginVersion(file, ["127.0.0.1:1"], (address) => new LanguageRuntimeClient(address, credentials.createInsecure()));
}

/** Starts the plugin without an engine, reads its port from the first line of its output, asks, and ends it. */
async function pluginVersion(file: string, args: readonly string[], connect: (address: string) => Client): Promise<string | undefined> {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    try {
        const port = await new Promise<string>((resolve, reject) => {
            child.once("error", reject);
            child.once("exit", () => reject(new Error(`${file} ended before it said its port.`)));
            createInterface(child.stdout).once("line", resolve);
        });
        const client = connect(`127.0.0.1:${port}`);
        try {
            return await new Promise<string>((resolve, reject) => {
                client.getPluginInfo(new Empty(), (error, info) => error === null ? resolve(info.getVersion()) : reject(error));
            });
        } finally {
            client.close();
        }
    } finally {
        clearTimeout(timer);
        child.kill("SIGKILL");
    }
}
