// Fixtures of rules that can be judged together: each gets hosts, namespaces and labels of its own, so that nothing of one meets the other's.
import { type Fixture, type Manifest, findingsOf, inOrder } from "../policies/support";

/** A fixture under names of its own. */
export interface World {
    readonly fixture: Fixture;
    readonly manifests: readonly Manifest[];
    readonly configuration: Readonly<Record<string, unknown>>;
    /** A text about its objects with the names that the fixture has. */
    readonly asWritten: (text: string) => string;
}

/** Worlds of one environment that one run judges together, with one configuration. */
export interface Together {
    readonly environment: string;
    readonly configuration: Readonly<Record<string, unknown>>;
    readonly worlds: readonly World[];
}

/** Words of Istio, and the namespace whose objects count for the whole mesh. */
const SHARED = new Set([".", "*", "~", "istio-system"]);

export function worldOf(fixture: Fixture, index: number): World {
    const mark = `w${index}`, names = [...namesOf(fixture.manifests)].filter((name) => !SHARED.has(name)).sort((one, other) => other.length - one.length);
    const name = new RegExp(`(?<![\\w-])(${names.join("|")})(?![\\w-])`, "g");
    const renamed = (value: unknown): unknown => {
        if (typeof value === "string") return (names.length === 0 ? value : value.replace(name, `$1-${mark}`)).replace(/\.example\b/gi, (domain) => `.${mark}${domain}`);
        if (Array.isArray(value)) return value.map(renamed);
        return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item)])) : value;
    };
    return {
        fixture,
        manifests: fixture.manifests.map(({ apiVersion, kind, ...rest }) => ({ apiVersion, kind, ...renamed(rest) as object })),
        configuration: renamed(fixture.configuration) as World["configuration"],
        asWritten: (text) => text.replaceAll(`-${mark}`, "").replaceAll(`.${mark}.`, "."),
    };
}

/** The namespaces that manifests name, and the values of the labels by which they select pods. */
function namesOf(manifests: readonly Manifest[]): ReadonlySet<string> {
    const names = manifests.flatMap(({ metadata, spec }) => [metadata?.["namespace"], ...listOf(spec?.["exportTo"]), ...valuesOf(spec?.["selector"])]);
    return new Set(names.filter((name) => typeof name === "string"));
}

function valuesOf(value: unknown): readonly unknown[] {
    return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
    return Array.isArray(value) ? value : [];
}

/** As few as a simple search finds: a fixture joins the first ones among which the rules still find in each what they find in it alone. */
export function gather(fixtures: readonly Fixture[]): readonly Together[] {
    const gathered: Together[] = [];
    for (const [index, fixture] of fixtures.entries()) {
        const world = worldOf(fixture, index), at = gathered.findIndex((group) => isHarmless(joined(group, world)));
        const group = at === -1 ? { environment: fixture.environment, configuration: world.configuration, worlds: [world] } : joined(gathered[at] as Together, world);
        if (group === undefined) continue;
        if (at === -1) gathered.push(group);
        else gathered[at] = group;
    }
    return gathered;
}

function joined({ environment, configuration, worlds }: Together, world: World): Together | undefined {
    const merged = merge(configuration, world.configuration);
    return environment !== world.fixture.environment || merged === undefined ? undefined : { environment, configuration: merged, worlds: [...worlds, world] };
}

/** Lists are put together; undefined where the two contradict each other. */
function merge(one: Together["configuration"], other: Together["configuration"]): Together["configuration"] | undefined {
    const merged: Record<string, unknown> = { ...one };
    for (const [key, value] of Object.entries(other)) {
        const known = merged[key];
        if (known === undefined) merged[key] = value;
        else if (Array.isArray(known) && Array.isArray(value)) merged[key] = [...known as unknown[], ...value as unknown[]];
        else if (known !== value) return undefined;
    }
    return merged;
}

function isHarmless(group: Together | undefined): boolean {
    if (group === undefined) return false;
    const { worlds, configuration, environment } = group;
    const found = findingsOf(worlds.flatMap(({ manifests }) => manifests), { configuration, environment });
    const asWritten = found.map((finding) => ({ ...finding, message: worlds.reduce((text, world) => world.asWritten(text), finding.message) }));
    return JSON.stringify(inOrder(asWritten)) === JSON.stringify(inOrder(worlds.flatMap(({ fixture }) => fixture.findings)));
}
