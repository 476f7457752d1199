// E601: objects that others manage may be overwritten in an environment where that must not happen silently.
import { z } from "zod";
import type { Finding, ObjectRule, Unjudged } from "../rule";
import type { MeshObject } from "../objects";
import { PROVIDER } from "../objects";

const configuration = z.strictObject({
    protected: z.array(z.string().min(1)).default(["prod", "production"])
        .describe("The environments that are protected: the stack's tag environment, or the stack's name."),
});

/** The settings of Pulumi's Kubernetes provider (4.29+), and its annotation. */
const OF_PROVIDER = [
    ["upsertExistingObjects", "an object that exists is taken over instead of reported, and a later delete of either owner removes it for both"],
    ["enablePatchForce", "fields that another controller manages are overwritten at every update"],
] as const;
const PATCH_FORCE = "pulumi.com/patchForce";

export const forcedOverwrite: ObjectRule<z.output<typeof configuration>> = {
    code: "E601",
    name: "forced-overwrite",
    level: "mandatory",
    severity: "high",
    description: "In a protected environment no object of another owner may be taken over or overwritten by force.",
    remediation: "Remove the setting; import the object into the stack, or change one field of it by a Patch resource without force.",
    remediates: false,
    kinds: ["*"],
    configuration,
    check(object, { settings, environment }) {
        return settingsOf(object).map(({ path, text }): Finding | Unjudged => {
            if (environment === undefined) return { path, unjudged: "is true, and nobody says which environment this is: whether it is a protected one is not judged." };
            return { path, text: `is true, and ${environment} is a protected environment: ${text}. Remove it; import the object into the stack, or use a Patch resource without force.` };
        }).filter(() => environment === undefined || settings.protected.includes(environment));
    },
};

function settingsOf(object: MeshObject): readonly { readonly path: readonly string[]; readonly text: string }[] {
    if (object.kind === PROVIDER) return OF_PROVIDER.filter(([name]) => isTrue(object, [name])).map(([name, text]) => ({ path: [name], text }));
    const path = ["metadata", "annotations", PATCH_FORCE];
    return isTrue(object, path) ? [{ path, text: "fields that another controller manages are overwritten" }] : [];
}

/** The engine hands provider settings over as texts. */
function isTrue(object: MeshObject, path: readonly string[]): boolean {
    const value = object.stated(path);
    return value === true || value === "true";
}
