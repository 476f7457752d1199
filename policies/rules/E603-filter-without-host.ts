// E603: an EnvoyFilter of a declaration that has outlived its host.
import { ANNOTATIONS } from "../../model/annotations";
import { normaliseHost } from "../../model/host";
import { type WholeConfiguration, wholeConfiguration } from "../configuration";
import type { SetRule, SetVerdict } from "../rule";
import { entriesOf } from "../views/service-entries";

export const filterWithoutHost: SetRule<WholeConfiguration> = {
    code: "E603",
    name: "filter-without-host",
    level: "mandatory",
    severity: "medium",
    description: "An EnvoyFilter that was written for an external host must go with it.",
    remediation: "Delete the EnvoyFilter, or declare the host again.",
    remediates: false,
    kinds: ["EnvoyFilter"],
    configuration: wholeConfiguration,
    checkSet(mesh, { settings }) {
        return mesh.of("EnvoyFilter").flatMap((object): SetVerdict[] => {
            const host = object.annotation(ANNOTATIONS.host);
            // Filters without the annotation are none of ours.
            if (typeof host !== "string" || entriesOf(mesh, host).length > 0) return [];
            const path = ["metadata", "annotations", ANNOTATIONS.host], shown = object.show(path, normaliseHost(host));
            if (!mesh.isComplete("ServiceEntry") && !(settings.objects === "all" && mesh.isSure("ServiceEntry"))) return [{ object, path, unjudged: `is ${shown}, of which no ServiceEntry is at hand. It may be in another stack: whether the filter has outlived its host is not judged.` }];
            return [{ object, path, text: `is ${shown}, but no ServiceEntry declares that host any more: the filter patches a listener that it no longer belongs to, and will patch whatever comes to stand there. Delete it, or declare the host again.` }];
        });
    },
};
