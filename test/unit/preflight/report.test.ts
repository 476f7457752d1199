// The report as text, and the command's own refusals.
import { expect } from "chai";
import { preflight } from "../../../cli/commands/preflight";
import { Failure } from "../../../cli/failure";
import { countResults, renderPreflight } from "../../../cli/preflight/render";
import { Group, type Result, Results } from "../../../cli/preflight/result";
import { coloursFor } from "../../../cli/render/colours";

function some(): readonly Result[] {
    const server = new Results("api-server", Group.Server), gateway = new Results("gateway-port", Group.Gateways), mesh = new Results("dns-refresh-rate", Group.Mesh);
    server.ok("API server", "answers.");
    gateway.ok("Service a/b", "exists.");
    gateway.missing("Service a/b port 443", "does not exist.", "Add it.");
    gateway.warning("Pods a", "are ready, 1 of 2.");
    mesh.report("ConfigMap a/istio", "sets nothing.");
    return [...server.list, ...gateway.list, ...mesh.list];
}

describe("the preflight's report", () => {
    const render = (verbose: boolean): string[] => renderPreflight({ catalogue: [], cluster: {}, results: some(), passed: false }, { colours: coloursFor({}, {}), verbose });

    it("counts what is well, and shows facts and what is to be done", () => {
        expect(render(false)).to.deep.equal([
            "API server  1 ok",
            "Gateways  1 ok",
            "  missing  Service a/b port 443 does not exist.",
            "           → Add it.",
            "  warning  Pods a are ready, 1 of 2.",
            "Mesh configuration",
            "  ok       ConfigMap a/istio sets nothing.",
        ]);
    });

    it("shows all with --verbose", () => {
        expect(render(true).slice(0, 4)).to.deep.equal(["API server", "  ok       API server answers.", "Gateways", "  ok       Service a/b exists."]);
    });

    it("ends in counts", () => {
        expect(countResults(some())).to.equal("1 missing, 1 warning, 3 ok");
        expect(countResults([])).to.equal("0 missing");
    });

    it("colours a terminal only", () => {
        const [line = ""] = renderPreflight({ catalogue: [], cluster: {}, results: some(), passed: false }, { colours: coloursFor({ isTTY: true }, {}), verbose: false });
        // eslint-disable-next-line no-control-regex
        expect(line).to.match(/\x1b\[/);
    });
});

describe("the preflight command", () => {
    const run = async (options: object): Promise<string> => {
        try {
            return `exit ${await preflight({ project: ".", verbose: false, json: false, ...options })}`;
        } catch (error) {
            if (!(error instanceof Failure)) throw error;
            return `${error.exitCode}: ${error.message}`;
        }
    };

    it("refuses a call that it cannot work with, by exit code 2", async () => {
        expect(await run({})).to.equal("2: Which environment? Name it with --env, or a catalogue with --catalogue.");
        expect(await run({ catalogue: "none.yaml" })).to.equal("2: The catalogue none.yaml does not exist: correct --catalogue.");
        expect(await run({ env: "none" })).to.match(/^2: There is no environment "none": there are dev, prod, staging\./);
    });

    it("tells the errors of a catalogue, by exit code 1", async () => {
        expect(await run({ catalogue: "package.json" })).to.match(/^1: package\.json:\d+:\d+: /);
    });
});
