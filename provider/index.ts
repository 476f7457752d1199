// The component provider: the Pulumi CLI runs it for programs in other languages. It serves the schema that a test keeps
// equal to what Pulumi's analyzer makes of the components, so that neither their sources nor a compiler is needed.
import { readFileSync } from "node:fs";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import * as components from "../components";
import schema from "./schema.json";

type Component = new (name: string, args: pulumi.Inputs, options: pulumi.ComponentResourceOptions) => pulumi.ComponentResource;

/** The properties of a component that other languages see, by its type. */
const PROPERTIES: Readonly<Record<string, { readonly properties: object } | undefined>> = schema.resources;

class EgressProvider implements pulumi.provider.Provider {
    constructor(readonly version: string) {}

    getSchema(): Promise<string> {
        return Promise.resolve(JSON.stringify({ ...schema, version: this.version }));
    }

    construct(name: string, type: string, inputs: pulumi.Inputs, options: pulumi.ComponentResourceOptions): Promise<pulumi.provider.ConstructResult> {
        const described = PROPERTIES[type], constructors = components as unknown as Readonly<Record<string, Component | undefined>>;
        const Constructor = constructors[type.slice(type.lastIndexOf(":") + 1)];
        if (described === undefined || Constructor === undefined) {
            return Promise.reject(new Error(`${type} "${name}": istio-egress ${this.version} has no such component: it has ${Object.keys(PROPERTIES).join(", ")}.`));
        }
        const component = new Constructor(name, inputs, options) as pulumi.ComponentResource & Readonly<Record<string, unknown>>;
        const state = Object.fromEntries(Object.keys(described.properties).map((property) => [property, component[property]]));
        return Promise.resolve({ urn: component.urn, state });
    }
}

/** Called by the SDK's entry point for plugins, so that importing this module starts nothing. */
export = (): Promise<void> => {
    const { version } = JSON.parse(readFileSync(path.join(__dirname, "package.json"), "utf8")) as { version: string };
    return pulumi.provider.main(new EgressProvider(version), process.argv.slice(2));
};
