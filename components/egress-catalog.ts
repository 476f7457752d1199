// EgressCatalog: every host of a catalogue file, each as an ExternalEgressHost.
import * as pulumi from "@pulumi/pulumi";
import { type Catalogue, formatErrors, loadCatalogue } from "../catalogue";
import { ExternalEgressHost } from "./external-egress-host";
import type { HostSummary } from "./outputs";

/** Arguments of EgressCatalog. */
export interface EgressCatalogArgs {
    /** The catalogue file (YAML), relative to the working directory of the program, or absolute. */
    file: pulumi.Input<string>;
}

interface CatalogData {
    readonly hosts: pulumi.Input<pulumi.Input<HostSummary>[]>;
}

/**
 * Every host of a catalogue file. All errors of the file, with line and column, are one error that is thrown before
 * anything is registered; conflicts between its declarations are among them.
 *
 * A host's component is named after the catalogue and its entry, `egress-partner-api`, and keeps that name when entries
 * around it come and go. To move a host out of the file into a program of its own, give the new ExternalEgressHost the
 * alias `{ name: "egress-partner-api", parent: catalog }`.
 *
 * @example
 * const catalog = new EgressCatalog("egress", { file: "catalogue/prod.yaml" });
 * export const inventory = catalog.hosts;
 */
export class EgressCatalog extends pulumi.ComponentResource<CatalogData> {
    /** The inventory: one row per host with its plan and objects, in the order of the file. */
    public readonly hosts: pulumi.Output<HostSummary[]>;

    constructor(name: string, args: EgressCatalogArgs, opts?: pulumi.ComponentResourceOptions) {
        if (typeof args.file === "string") read(args.file);
        super("istio-egress:index:EgressCatalog", name, args, opts);
        this.hosts = pulumi.output(this.getData().then(({ hosts }) => hosts));
    }

    /** Registers the hosts; whoever depends on this component waits for them. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<CatalogData> {
        const file = args["file"] as pulumi.Input<string>;
        const path = typeof file === "string" ? file : await new Promise<string>((resolve) => pulumi.output(file).apply(resolve));
        const hosts = register(this, name, read(path));
        this.registerOutputs({ hosts });
        return { hosts };
    }
}

function read(file: string): Catalogue {
    const result = loadCatalogue(file);
    // A RunError is shown without a stack: the positions in the file are what helps.
    if (!result.ok) throw new pulumi.RunError(formatErrors(result.errors));
    return result.catalogue;
}

function register(parent: EgressCatalog, name: string, catalogue: Catalogue): pulumi.Input<HostSummary>[] {
    return catalogue.entries.map(({ name: entry, declaration, input }) => {
        const host = new ExternalEgressHost(`${name}-${entry}`, input, { parent });
        const { route, ownership } = declaration;
        return pulumi.all([host.host, host.plan, host.objects]).apply(([hostName, plan, objects]) => (
            { name: entry, host: hostName, route, owner: ownership.owner, purpose: ownership.purpose, plan, objects }));
    });
}
