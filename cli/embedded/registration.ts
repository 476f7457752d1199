// One request to register or read a resource, as plain data that transforms may change before it is recorded.
import type * as aliasproto from "@pulumi/pulumi/proto/alias_pb";
import type { ReadResourceRequest, RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import { fromStruct } from "./sdk";
import type { JsonObject, Resource } from "./types";

type Facts = Omit<Resource, "urn" | "inputs" | "outputs" | "wire">;

export class Registration {
    readonly type: string;
    readonly name: string;
    readonly parent: string;
    readonly custom: boolean;
    readonly external: boolean;
    readonly id: string;
    readonly additionalSecretOutputs: readonly string[];
    readonly hooks: { readonly beforeCreate: readonly string[]; readonly afterCreate: readonly string[] };
    readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
    inputs: JsonObject;
    provider: string;
    dependencies: readonly string[];
    aliases: readonly aliasproto.Alias[];
    protect: boolean;
    ignoreChanges: readonly string[];

    constructor(readonly request: RegisterResourceRequest | ReadResourceRequest) {
        this.type = request.getType();
        this.name = request.getName();
        this.parent = request.getParent();
        this.provider = request.getProvider();
        this.dependencies = request.getDependenciesList();
        this.additionalSecretOutputs = request.getAdditionalsecretoutputsList();
        if (isRead(request)) {
            this.custom = true;
            this.external = true;
            this.id = request.getId();
            this.inputs = fromStruct(request.getProperties());
            this.aliases = [];
            this.protect = false;
            this.ignoreChanges = [];
            this.propertyDependencies = {};
            this.hooks = { beforeCreate: [], afterCreate: [] };
            return;
        }
        this.custom = request.getCustom();
        this.external = false;
        this.id = request.getImportid();
        this.inputs = fromStruct(request.getObject());
        this.aliases = request.getAliasesList();
        this.protect = request.getProtect() ?? false;
        this.ignoreChanges = request.getIgnorechangesList();
        this.propertyDependencies = Object.fromEntries([...request.getPropertydependenciesMap().entries()].map(([key, value]) => [key, value.getUrnsList()]));
        const hooks = request.getHooks();
        this.hooks = { beforeCreate: hooks?.getBeforeCreateList() ?? [], afterCreate: hooks?.getAfterCreateList() ?? [] };
    }

    facts(): Facts {
        const { type, name, custom, external, dependencies, protect, ignoreChanges, propertyDependencies } = this;
        return {
            type, name, custom, external, protect, ignoreChanges, propertyDependencies,
            dependencies: [...dependencies].sort(),
            aliases: this.aliases.map((alias) => this.aliasText(alias)),
            ...(this.parent === "" ? {} : { parent: this.parent }),
            ...(this.provider === "" ? {} : { provider: this.provider }),
        };
    }

    /** The URN of an alias where it is given, else the parts that differ: `type=…, name=…`. */
    private aliasText(alias: aliasproto.Alias): string {
        const spec = alias.getSpec();
        if (spec === undefined) return alias.getUrn();
        const parts: [string, string][] = [
            ["type", spec.getType()], ["name", spec.getName()], ["stack", spec.getStack()], ["project", spec.getProject()],
            ["parent", spec.getNoparent() ? "none" : spec.getParenturn() === this.parent ? "" : spec.getParenturn()],
        ];
        return parts.filter(([, value]) => value !== "").map((part) => part.join("=")).join(", ");
    }
}

function isRead(request: RegisterResourceRequest | ReadResourceRequest): request is ReadResourceRequest {
    return "getId" in request;
}
