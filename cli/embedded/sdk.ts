// Everything that the embedded engine takes from below the documented API of Pulumi's Node SDK, typed, in one place.
import { createRequire } from "node:module";
import type * as GrpcModule from "@grpc/grpc-js";
import type * as EmptyModule from "google-protobuf/google/protobuf/empty_pb";
import type * as StructModule from "google-protobuf/google/protobuf/struct_pb";
import type { JsonObject } from "./types";

// gRPC and protobuf are dependencies of the SDK, not of this package: they are found from there.
const sdkRequire = createRequire(createRequire(__filename).resolve("@pulumi/pulumi/package.json"));

export const grpc = sdkRequire("@grpc/grpc-js") as typeof GrpcModule;
export const { Empty } = sdkRequire("google-protobuf/google/protobuf/empty_pb") as typeof EmptyModule;
const { Struct } = sdkRequire("google-protobuf/google/protobuf/struct_pb") as typeof StructModule;

/** The settings of one run. A program that runs inside `withStore` sees its own, also from a second copy of the SDK. */
interface Store {
    readonly settings: {
        readonly options: { rootDirectory?: string };
        engine?: Engine;
        rpcDone: Promise<unknown>;
    };
    terminated: boolean;
}

/** The part of the engine's service that a program calls besides the monitor. */
export interface Engine {
    log(request: { getSeverity(): number; getMessage(): string; getUrn(): string }, done: () => void): void;
    setRootResource(request: unknown, done: (error: null, response: unknown) => void): void;
    requirePulumiVersion(request: unknown, done: (error: null, response: unknown) => void): void;
    close(): void;
}

const state = sdkRequire("./runtime/state") as {
    withLocalStorage: <T>(callback: () => T) => T;
    getStore: () => Store;
};

export const withStore = state.withLocalStorage;
export const currentStore = state.getStore;

export function toStruct(value: JsonObject): StructModule.Struct {
    return Struct.fromJavaScript(value);
}

export function fromStruct(value: StructModule.Struct | undefined): JsonObject {
    return value === undefined ? {} : value.toJavaScript();
}
