// Catalogues in memory, for the tests of catalogue/.
import { relative } from "node:path";
import { type Catalogue, type CatalogueResult, type ReadFile, parseCatalogue } from "../../../catalogue";

/** Files by their path relative to the working directory. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export function reader(files: Files): ReadFile {
    return (path) => {
        const content = files[relative(process.cwd(), path)];
        if (content === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
        return content;
    };
}

/** Parses the text as `c.yaml`. */
export function parse(text: string, files: Files = {}): CatalogueResult {
    return parseCatalogue(text, "c.yaml", reader(files));
}

/** The declarations of a text that must be good. */
export function good(text: string, files: Files = {}): Catalogue {
    const result = parse(text, files);
    if (!result.ok) throw new Error(`Not good:\n${lines(result).join("\n")}`);
    return result.catalogue;
}

/** The error lines of a result, none when it is good. */
export function lines(result: CatalogueResult): readonly string[] {
    return result.ok ? [] : result.errors.map(({ text }) => text);
}

/** A good host, as the lines below `hosts:`; everything that it needs is in it. */
export const HOST = `  partner-api:
    host: api.partner.example
    namespace: egress
    route: direct
    pool: { membership: fixed, addressesPerAnswer: 2 }
    consumers: [{ namespace: payments }]
    ownership: { owner: team-payments, purpose: card settlement }
`;

export const GATEWAY = `  platform:
    namespace: istio-egress
    selector: { istio: egressgateway }
    serviceHost: istio-egressgateway.istio-egress.svc.cluster.local
    ports: [{ number: 443, targetPort: 8443 }]
    istioVersion: 1.31.0
`;
