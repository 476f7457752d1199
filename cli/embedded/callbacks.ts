// Calls back into the program where it has registered functions with the engine: transforms, and resource hooks that run in previews.
import { CallbacksClient } from "@pulumi/pulumi/proto/callback_grpc_pb";
import { type Callback, CallbackInvokeRequest } from "@pulumi/pulumi/proto/callback_pb";
import * as resproto from "@pulumi/pulumi/proto/resource_pb";
import type { Registration } from "./registration";
import { fromStruct, grpc, toStruct } from "./sdk";

interface Hook {
    readonly callback: Callback;
    readonly onDryRun: boolean;
}

export class Callbacks {
    private readonly clients = new Map<string, CallbacksClient>();
    private readonly hooks = new Map<string, Hook>();
    private readonly transforms = new Map<string, readonly Callback[]>();
    private readonly stackTransforms: Callback[] = [];

    addHook(request: resproto.RegisterResourceHookRequest): void {
        const callback = request.getCallback();
        if (callback !== undefined) this.hooks.set(request.getName(), { callback, onDryRun: request.getOnDryRun() });
    }

    addStackTransform(callback: Callback): void {
        this.stackTransforms.push(callback);
    }

    /** Children of this resource are transformed by its transforms too. */
    keepTransforms(urn: string, transforms: readonly Callback[]): void {
        if (transforms.length > 0) this.transforms.set(urn, transforms);
    }

    /** The engine's order: the resource's own transforms, then those of its ancestors from the nearest on, then the stack's. */
    async transform(registration: Registration, parentOf: (urn: string) => string): Promise<void> {
        const own = "getTransformsList" in registration.request ? registration.request.getTransformsList() : [];
        const inherited: Callback[] = [];
        for (let urn = registration.parent; urn !== ""; urn = parentOf(urn)) inherited.push(...(this.transforms.get(urn) ?? []));
        for (const callback of [...own, ...inherited, ...this.stackTransforms]) {
            const bytes = await this.call(callback, transformRequest(registration).serializeBinary());
            applyTransform(registration, resproto.TransformResponse.deserializeBinary(bytes));
        }
    }

    /** Hooks run in a preview only when they ask for it; one that fails refuses the resource. */
    async runHooks(moment: "beforeCreate" | "afterCreate", urn: string, registration: Registration): Promise<void> {
        for (const name of registration.hooks[moment]) {
            const hook = this.hooks.get(name);
            if (hook?.onDryRun !== true) continue;
            const request = new resproto.ResourceHookRequest();
            request.setUrn(urn);
            request.setName(registration.name);
            request.setType(registration.type);
            request.setNewInputs(toStruct(registration.inputs));
            const response = resproto.ResourceHookResponse.deserializeBinary(await this.call(hook.callback, request.serializeBinary()));
            if (response.getError() !== "") throw new Error(`${moment} hook "${name}" failed: ${response.getError()}`);
        }
    }

    close(): void {
        for (const client of this.clients.values()) client.close();
        this.clients.clear();
    }

    private async call(callback: Callback, bytes: Uint8Array): Promise<Uint8Array> {
        const target = callback.getTarget();
        const client = this.clients.get(target) ?? new CallbacksClient(target, grpc.credentials.createInsecure());
        this.clients.set(target, client);
        const request = new CallbackInvokeRequest();
        request.setToken(callback.getToken());
        request.setRequest(bytes);
        return new Promise((resolve, reject) => {
            client.invoke(request, (error, response) => {
                if (error === null) resolve(response.getResponse_asU8());
                else reject(new Error(error.details));
            });
        });
    }
}

function transformRequest(registration: Registration): resproto.TransformRequest {
    const options = new resproto.TransformResourceOptions();
    options.setDependsOnList([...registration.dependencies]);
    options.setProtect(registration.protect);
    options.setIgnoreChangesList([...registration.ignoreChanges]);
    options.setAliasesList([...registration.aliases]);
    options.setProvider(registration.provider);
    options.setAdditionalSecretOutputsList([...registration.additionalSecretOutputs]);
    const request = new resproto.TransformRequest();
    request.setType(registration.type);
    request.setName(registration.name);
    request.setCustom(registration.custom);
    request.setParent(registration.parent);
    request.setProperties(toStruct(registration.inputs));
    request.setOptions(options);
    return request;
}

function applyTransform(registration: Registration, response: resproto.TransformResponse): void {
    if (response.hasProperties()) registration.inputs = fromStruct(response.getProperties());
    const options = response.getOptions();
    if (options === undefined) return;
    registration.dependencies = options.getDependsOnList();
    registration.protect = options.getProtect() ?? false;
    registration.ignoreChanges = options.getIgnoreChangesList();
    registration.aliases = options.getAliasesList();
    registration.provider = options.getProvider();
}
