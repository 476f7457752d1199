// E208: one host in two spellings, which are two hosts to Istio.
import { normaliseHost } from "../../model/host";
import type { Path } from "../../model/problem";
import { noConfiguration } from "../configuration";
import type { Mesh } from "../mesh";
import type { MeshObject } from "../objects";
import type { SetRule, SetVerdict } from "../rule";

export const hostSpelledDifferently: SetRule = {
    code: "E208",
    name: "host-spelled-differently",
    level: "mandatory",
    severity: "high",
    description: "A host must be written alike in all objects: in lower case, without a trailing dot.",
    remediation: "Write the host in lower case, without a trailing dot, in every object.",
    remediates: false,
    kinds: ["ServiceEntry", "VirtualService", "DestinationRule", "Gateway"],
    configuration: noConfiguration,
    checkSet(mesh) {
        const byName = new Map<string, Spelling[]>();
        for (const spelling of spellings(mesh)) {
            const name = normaliseHost(spelling.written), known = byName.get(name);
            if (known === undefined) byName.set(name, [spelling]);
            else known.push(spelling);
        }
        return [...byName].flatMap(([name, all]) => (new Set(all.map(({ written }) => written)).size < 2 ? [] : findings(name, all)));
    },
};

interface Spelling {
    readonly object: MeshObject;
    readonly path: Path;
    readonly written: string;
}

function findings(name: string, all: readonly Spelling[]): readonly SetVerdict[] {
    return all.filter(({ written }) => written !== name).map(({ object, path, written }) => {
        const other = all.find((spelling) => spelling.written !== written) ?? all[0];
        const theirs = other === undefined ? "" : other.object.show(other.path, other.written);
        return {
            object, path,
            text: `is ${object.show(path, written)}, and ${other?.object.label ?? "another object"} writes ${theirs}: Istio compares hosts letter by letter (read in its sources), so that the two never meet: a rule or a route of one does nothing for the other. `
                + `Write ${object.show(path, name)} in both.`,
        };
    });
}

/** Every place where an object names a host. */
function spellings(mesh: Mesh): readonly Spelling[] {
    const at = (object: MeshObject, path: Path): Spelling[] => {
        const written = object.text(path);
        // Names with a namespace in front (Gateway) are compared without it; short names are Services.
        return typeof written === "string" && written.includes(".") ? [{ object, path, written: written.slice(written.indexOf("/") + 1) }] : [];
    };
    const list = (object: MeshObject, path: Path): Spelling[] => object.indexes(path).flatMap((index) => at(object, [...path, index]));
    const each = (object: MeshObject, path: Path): Path[] => object.indexes(path).map((index) => [...path, index]);
    return [
        ...mesh.of("ServiceEntry").flatMap((object) => list(object, ["spec", "hosts"])),
        ...mesh.of("DestinationRule").flatMap((object) => at(object, ["spec", "host"])),
        ...mesh.of("Gateway").flatMap((object) => each(object, ["spec", "servers"]).flatMap((server) => list(object, [...server, "hosts"]))),
        ...mesh.of("VirtualService").flatMap((object) => [
            ...list(object, ["spec", "hosts"]),
            ...(["http", "tls", "tcp"] as const).flatMap((kind) => each(object, ["spec", kind]).flatMap((route) => [
                ...each(object, [...route, "match"]).flatMap((match) => list(object, [...match, "sniHosts"])),
                ...each(object, [...route, "route"]).flatMap((leg) => at(object, [...leg, "destination", "host"])),
            ])),
        ]),
    ];
}
