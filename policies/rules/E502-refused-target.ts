// E502: egress to where none may lead: metadata services, the cluster itself, this machine, IP literals.
import { isMetadata, refusedTarget } from "../../model/host";
import { noConfiguration } from "../configuration";
import type { MeshObject } from "../objects";
import type { Finding, ObjectRule } from "../rule";
import { UNKNOWN } from "../plain";
import { isExternal } from "../views/service-entries";

export const refusedEgressTarget: ObjectRule = {
    code: "E502",
    name: "refused-target",
    level: "mandatory",
    severity: "critical",
    description: "An external ServiceEntry must not stand for a metadata service, a name of the cluster, this machine or an IP literal.",
    remediation: "Remove the host; declare an external server by its DNS name, and a workload of the mesh with location MESH_INTERNAL.",
    remediates: false,
    kinds: ["ServiceEntry"],
    configuration: noConfiguration,
    check(object) {
        // Entries for workloads of the mesh have names of the cluster by right.
        if (object.at(["spec", "location"]) === UNKNOWN || !isExternal(object)) return [];
        const hosts = textsAt(object, ["spec", "hosts"]).flatMap(({ path, text }): Finding[] => {
            const reason = refusedTarget(text);
            return reason === undefined ? [] : [{ path, text: `is ${object.show(path, text)}, and ${reason}. Remove it from the object.` }];
        });
        const places = [
            ...textsAt(object, ["spec", "addresses"]),
            ...object.indexes(["spec", "endpoints"]).flatMap((index) => textAt(object, ["spec", "endpoints", index, "address"])),
        ];
        return [...hosts, ...places.filter(({ text }) => isMetadata(text.replace(/\/(32|128)$/, ""))).map(({ path, text }) => ({
            path, text: `is ${object.show(path, text)}, and it is a cloud metadata address, which hands out credentials of the node: under another name it is the same server. Remove it from the object.`,
        }))];
    },
};

interface Text {
    readonly path: readonly (string | number)[];
    readonly text: string;
}

function textsAt(object: MeshObject, list: readonly string[]): readonly Text[] {
    return object.indexes(list).flatMap((index) => textAt(object, [...list, index]));
}

function textAt(object: MeshObject, path: Text["path"]): readonly Text[] {
    const text = object.text(path);
    return typeof text === "string" ? [{ path, text }] : [];
}
