// EgressCatalog: every host of a catalogue file, each as an ExternalEgressHost.
import * as pulumi from "@pulumi/pulumi";
import { type Catalogue, formatErrors, loadCatalogue } from "../catalogue";
import { planOf, show } from "../model";
import { ExternalEgressHost } from "./external-egress-host";
import { resolveInputs } from "./inputs";
import type { HostSummary } from "./outputs";
import { publish } from "./publish";

/** Arguments of EgressCatalog. */
export interface EgressCatalogArgs {
    /** The catalogue file (YAML), relative to the working directory of the program, or absolute. */
    file: pulumi.Input<string>;
}

interface CatalogData {
    readonly hosts: pulumi.Input<HostSummary[]>;
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
    /** The inventory: one row per host, in the order of the files. */
    public readonly hosts!: pulumi.Output<HostSummary[]>;

    constructor(name: string, args: EgressCatalogArgs, opts?: pulumi.ComponentResourceOptions) {
        const inputs = resolveInputs(args);
        if (!(inputs instanceof Promise)) read(fileOf(name, inputs.value));
        super("istio-egress:index:EgressCatalog", name, args, opts);
        const data = this.getData();
        publish(this, "hosts", () => pulumi.output(data.then(({ hosts }) => hosts)));
    }

    /** Registers the hosts; whoever depends on this component waits for them. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<CatalogData> {
        const { value, leaves } = await resolveInputs(args);
        const [unknown] = leaves.filter((leaf) => !leaf.known);
        if (unknown !== undefined) {
            await pulumi.log.warn(`EgressCatalog ${JSON.stringify(name)}: its hosts are left out of this preview, since file is not known yet; those that exist are shown as deletions.`, this);
            return { hosts: unknown.output.apply(() => []) };
        }
        const hosts = register(this, name, read(fileOf(name, value)));
        this.registerOutputs({ hosts });
        return { hosts };
    }
}

function fileOf(name: string, args: unknown): string {
    const { file } = args as { readonly file?: unknown };
    if (typeof file === "string" && file !== "") return file;
    throw new pulumi.RunError(`EgressCatalog ${JSON.stringify(name)}: file is ${show(file)}, but must be the path of a catalogue file.`);
}

function read(file: string): Catalogue {
    const result = loadCatalogue(file);
    // A RunError is shown without a stack: the positions in the file are what helps.
    if (!result.ok) throw new pulumi.RunError(formatErrors(result.errors));
    return result.catalogue;
}

function register(parent: EgressCatalog, name: string, catalogue: Catalogue): HostSummary[] {
    return catalogue.entries.map(({ name: entry, declaration, input }) => {
        new ExternalEgressHost(`${name}-${entry}`, input, { parent });
        const { host, route, consumers, ownership } = declaration;
        return {
            name: entry, host, route, consumers: consumers.map(({ namespace }) => namespace), owner: ownership.owner, purpose: ownership.purpose,
            ...(ownership.expires === undefined ? {} : { expires: ownership.expires }), plan: [...planOf(declaration).summary],
        };
    });
}
