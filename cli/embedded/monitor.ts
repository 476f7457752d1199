// The engine's side of a preview: Pulumi's mock monitor, which also records every registration as the real engine would see it.
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import { rootPulumiStackTypeName } from "@pulumi/pulumi/runtime/stack";
import { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import * as resproto from "@pulumi/pulumi/proto/resource_pb";
import { messageOf } from "../failure";
import { Callbacks } from "./callbacks";
import { callFunction } from "./functions";
import { serverDefaults } from "./kubernetes";
import { ordered } from "./order";
import { Registration } from "./registration";
import { fromStruct, toStruct } from "./sdk";
import type { JsonObject, Resource } from "./types";
import { maskedObject } from "./values";

type Reply<T> = (error: Error | null, response?: T) => void;

export class RecordingMonitor extends MockMonitor {
    private readonly registered = new Map<string, Registration>();
    private readonly outputs = new Map<string, JsonObject>();
    private readonly callbacks = new Callbacks();
    private pending = 0;

    constructor(private readonly project: string, private readonly stack: string) {
        super({ newResource: unreachable, call: unreachable });
    }

    /** Whether a call of the program still waits for its answer. */
    isBusy(): boolean {
        return this.pending > 0;
    }

    /** What has been registered, in one order for all runs. */
    recorded(): Resource[] {
        return ordered([...this.registered].map(([urn, registration]) => {
            const outputs = this.outputs.get(urn) ?? {};
            const wire = { inputs: registration.inputs, outputs };
            return { urn, ...registration.facts(), inputs: maskedObject(wire.inputs), outputs: maskedObject(outputs), wire };
        }));
    }

    override registerResource(request: resproto.RegisterResourceRequest, reply: Reply<Registered>): Promise<void> {
        return this.answer(reply, async () => {
            if (request.getRemote()) throw new Error(`${request.getType()} is a component that a provider builds, and the embedded engine runs no providers: use \`pulumi preview\` for this program.`);
            const registration = new Registration(request);
            await this.callbacks.transform(registration, (urn) => this.registered.get(urn)?.parent ?? "");
            const urn = this.record(registration);
            this.callbacks.keepTransforms(urn, request.getTransformsList());
            await this.callbacks.runHooks("beforeCreate", urn, registration);
            const outputs = registration.custom ? registration.inputs : {};
            this.outputs.set(urn, outputs);
            await this.callbacks.runHooks("afterCreate", urn, registration);
            // The id of a resource that does not exist yet is unknown; an imported one has its own.
            return new Registered(urn, registration.id, outputs);
        });
    }

    override readResource(request: resproto.ReadResourceRequest, reply: Reply<resproto.ReadResourceResponse>): Promise<void> {
        return this.answer(reply, () => {
            const registration = new Registration(request);
            const urn = this.record(registration);
            this.outputs.set(urn, registration.inputs);
            const response = new resproto.ReadResourceResponse();
            response.setUrn(urn);
            response.setProperties(toStruct(registration.inputs));
            return response;
        });
    }

    override registerResourceOutputs(request: resproto.RegisterResourceOutputsRequest, reply: Reply<object>): void {
        void this.answer(reply, () => {
            if (!this.registered.has(request.getUrn())) throw new Error(`registerOutputs was called for ${request.getUrn()}, which is not registered.`);
            this.outputs.set(request.getUrn(), fromStruct(request.getOutputs()));
            return {};
        });
    }

    override invoke(request: resproto.ResourceInvokeRequest, reply: Reply<InvokeResponse>): Promise<void> {
        return this.answer(reply, () => {
            const response = new InvokeResponse();
            response.setReturn(toStruct(callFunction(request.getTok(), fromStruct(request.getArgs()), this.outputs)));
            return response;
        });
    }

    /** A method of a component that a provider builds. */
    call(request: resproto.ResourceCallRequest, reply: Reply<never>): void {
        void this.answer(reply, () => { throw new Error(`The embedded engine runs no providers, so ${request.getTok()} cannot be called: use \`pulumi preview\` for this program.`); });
    }

    registerResourceHook(request: resproto.RegisterResourceHookRequest, reply: Reply<object>): void {
        this.callbacks.addHook(request);
        reply(null, {});
    }

    /** Error hooks act on failed deployments only. */
    registerErrorHook(_request: unknown, reply: Reply<object>): void {
        reply(null, {});
    }

    registerStackTransform(callback: Parameters<Callbacks["addStackTransform"]>[0], reply: Reply<object>): void {
        this.callbacks.addStackTransform(callback);
        reply(null, {});
    }

    signalAndWaitForShutdown(_request: unknown, reply: Reply<object>): void {
        reply(null, {});
    }

    close(): void {
        this.callbacks.close();
    }

    /** Gives a registration its URN and the defaults of an API server; refuses a second resource of the same URN. */
    private record(registration: Registration): string {
        const urn = this.urnOf(registration);
        if (this.registered.has(urn)) throw new Error(`Duplicate resource URN "${urn}": two resources of this type and parent have the name "${registration.name}"; give one of them another name.`);
        registration.inputs = serverDefaults(registration, urn);
        this.registered.set(urn, registration);
        return urn;
    }

    private urnOf({ parent, type, name }: Registration): string {
        const parentType = parent.split("::")[2] ?? "";
        const prefix = parentType === "" || parentType === rootPulumiStackTypeName ? "" : `${parentType}$`;
        return `urn:pulumi:${this.stack}::${this.project}::${prefix}${type}::${name}`;
    }

    private async answer<T>(reply: Reply<T>, work: () => T | Promise<T>): Promise<void> {
        this.pending += 1;
        try {
            reply(null, await work());
        } catch (error) {
            // The SDK takes the text of some failures from gRPC's own field.
            reply(Object.assign(error instanceof Error ? error : new Error(messageOf(error)), { details: messageOf(error) }));
        } finally {
            this.pending -= 1;
        }
    }
}

/** The answer to a registration, as the SDK reads it; a protobuf message would be converted and printed for every resource. */
class Registered {
    constructor(private readonly urn: string, private readonly id: string, private readonly outputs: JsonObject) {}

    getUrn = (): string => this.urn;
    getId = (): string => this.id;
    getObject = (): { toJavaScript(): JsonObject } => ({ toJavaScript: () => this.outputs });
    getPropertydependenciesMap = (): undefined => undefined;
    getResult = (): resproto.Result => resproto.Result.SUCCESS;
    toString = (): string => this.urn;
}

function unreachable(): never {
    throw new Error("The recording monitor answers by itself.");
}
