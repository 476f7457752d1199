// The resources of a run as text: each component with its Kubernetes objects, its plan and its child components.
import { kubernetesObject } from "../embedded/kubernetes";
import type { Resource } from "../embedded/types";
import type { Colours } from "./colours";
import { summaryOf } from "./plan";

const STACK = "pulumi:pulumi:Stack";

export function renderTree(resources: readonly Resource[], colours: Colours): string[] {
    const stack = resources.find(({ type }) => type === STACK);
    const roots = resources.filter(({ urn, parent }) => urn !== stack?.urn && (parent === undefined || parent === stack?.urn));
    const components = roots.filter(({ custom }) => !custom);
    const loose = roots.filter(({ custom }) => custom);
    const lines = components.flatMap((component) => [...renderComponent(component, resources, colours), ""]);
    if (loose.length === 0) return lines;
    return [...lines, colours.bold(components.length === 0 ? "Resources" : "Resources of no component"), ...branches(loose.map(label), colours), ""];
}

function renderComponent(component: Resource, all: readonly Resource[], colours: Colours): string[] {
    const children = all.filter(({ parent }) => parent === component.urn);
    const objects = children.filter(({ custom }) => custom);
    const components = children.filter(({ custom }) => !custom);
    const kind = component.type.split(":").at(-1) ?? component.type;
    return [
        `${colours.bold(component.name)} ${colours.dim(kind)}`,
        ...branches(objects.map(label), colours),
        ...summaryOf(component).map((line) => `   ${line}`),
        ...components.flatMap((child) => renderComponent(child, all, colours).map((line) => `  ${line}`)),
    ];
}

/** What a line says of a resource: kind, name, API version; for other resources their type and name. */
function label(resource: Resource): readonly string[] {
    const object = kubernetesObject(resource);
    if (object === undefined) return [resource.type, resource.name, resource.external ? "(read)" : ""];
    return [object.kind, object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`, object.apiVersion];
}

function branches(rows: readonly (readonly string[])[], colours: Colours): string[] {
    const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
    return rows.map(([first = "", second = "", third = ""], index) => {
        const branch = index === rows.length - 1 ? "└─" : "├─";
        return `${colours.dim(branch)} ${first.padEnd(widths[0] ?? 0)}  ${second.padEnd(widths[1] ?? 0)}  ${colours.dim(third)}`.trimEnd();
    });
}
