// EgressCatalog: every host of a catalogue file, each as an ExternalEgressHost.
import * as pulumi from "@pulumi/pulumi";
import { type Catalogue, formatErrors, isRegistered, loadCatalogue, readRegistry, registryConflicts } from "../catalogue";
import { formatPath, planOf, show } from "../model";
import { ExternalEgressHost } from "./external-egress-host";
import { resolveInputs } from "./inputs";
import type { HostSummary } from "./outputs";
import { publish } from "./publish";

/** Arguments of EgressCatalog. */
export interface EgressCatalogArgs {
    /** The catalogue file (YAML), relative to the working directory of the program, or absolute. */
    file: pulumi.Input<string>;
    /**
     * The registry in which several stacks write which hosts they declare (`istio-egress register` writes it): a conflict with
     * another stack is refused, and what of this stack it does not say is warned of.
     * @default none: the stacks' declarations are not compared
     */
    registry?: pulumi.Input<string>;
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
        if (!(inputs instanceof Promise)) read(filesOf(name, inputs.value));
        super("istio-egress:index:EgressCatalog", name, args, opts);
        const data = this.getData();
        publish(this, "hosts", () => pulumi.output(data.then(({ hosts }) => hosts)));
    }

    /** Registers the hosts; whoever depends on this component waits for them. @internal */
    protected override async initialize(args: pulumi.Inputs, _opts?: pulumi.ComponentResourceOptions, name = ""): Promise<CatalogData> {
        const { value, leaves } = await resolveInputs(args);
        const [unknown] = leaves.filter((leaf) => !leaf.known);
        if (unknown !== undefined) {
            await pulumi.log.warn(`EgressCatalog ${JSON.stringify(name)}: its hosts are left out of this preview, since ${formatPath(unknown.path)} is not known yet; those that exist are shown as deletions.`, this);
            return { hosts: unknown.output.apply(() => []) };
        }
        const { catalogue, unregistered } = read(filesOf(name, value));
        if (unregistered !== undefined) await pulumi.log.warn(`EgressCatalog ${JSON.stringify(name)}: ${unregistered}`, this);
        const hosts = register(this, name, catalogue);
        this.registerOutputs({ hosts });
        return { hosts };
    }
}

interface Files {
    readonly file: string;
    readonly registry?: string;
}

function filesOf(name: string, args: unknown): Files {
    const { file, registry } = args as { readonly file?: unknown; readonly registry?: unknown };
    const refuse = (field: string, value: unknown, what: string): never => {
        throw new pulumi.RunError(`EgressCatalog ${JSON.stringify(name)}: ${field} is ${show(value)}, but must be the path of a ${what} file.`);
    };
    if (typeof file !== "string" || file === "") return refuse("file", file, "catalogue");
    if (registry === undefined) return { file };
    return typeof registry === "string" && registry !== "" ? { file, registry } : refuse("registry", registry, "registry");
}

interface ReadCatalogue {
    readonly catalogue: Catalogue;
    /** What the registry does not say of this stack. */
    readonly unregistered?: string;
}

function read({ file, registry }: Files): ReadCatalogue {
    const result = loadCatalogue(file);
    // A RunError is shown without a stack: the positions in the file are what helps.
    if (!result.ok) throw new pulumi.RunError(formatErrors(result.errors));
    const { catalogue } = result;
    if (registry === undefined) return { catalogue };
    const others = readRegistry(registry), stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
    if (!others.ok) throw new pulumi.RunError(others.errors.join("\n"));
    const conflicts = registryConflicts(catalogue.entries, others.registry, stack, registry);
    if (conflicts.length > 0) throw new pulumi.RunError(conflicts.join("\n"));
    if (isRegistered(others.registry, stack, catalogue.entries)) return { catalogue };
    return { catalogue, unregistered: `${registry} does not say what stack ${stack} declares, so that other stacks do not know: run \`istio-egress register --env ${pulumi.getStack()}\`, and commit the file.` };
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
