// npm run test:mesh: the scenarios on a real mesh; the quick set asserts every claim, the full set measures what docs/measurements/ shows.
import { existsSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { build } from "./build";
import { repository } from "./support/places";
import { run } from "./support/process";
import { UserError, main } from "./support/report";

interface Options { readonly full?: boolean; readonly again?: boolean; readonly lab?: string; readonly grep?: string }

const command = new Command("npm run test:mesh --")
    .description("Runs scenarios on a lab of their own: istiod, Envoy, an egress gateway, a GSLB and VIPs in network namespaces. Linux, as root.")
    .argument("[scenarios...]", "names of test/mesh/scenarios/; all by default")
    .option("--full", "every cell in its full size, with its result in test/mesh/results/; a cell that has one is not run again")
    .option("--again", "with --full: also the cells that have a result")
    .option("--grep <text>", "only tests whose name has this text")
    .option("--lab <name>", "on the lab that npm run lab -- up --name NAME has left running");

main(async () => {
    const names = command.parse().args, { full, again, lab, grep } = command.opts<Options>();
    if (again === true && full !== true) throw new UserError("test:mesh: --again belongs to --full; the quick set always runs.");
    const files = names.map((name) => {
        const file = path.join(repository, "test/mesh/scenarios", `${name}.test.ts`);
        if (!existsSync(file)) throw new UserError(`test:mesh: there is no scenario ${name}: ${file} is not there.`);
        return file;
    });
    await build();
    const { code } = await run(process.execPath, [
        path.join(repository, "node_modules/mocha/bin/mocha.js"), "--reporter", "spec", ...(grep === undefined ? [] : ["--fgrep", grep]), ...(files.length > 0 ? files : ["test/mesh/**/*.test.ts"]),
    ], { cwd: repository, output: "show", env: { ...process.env, ...(full === true ? { FULL: "1" } : {}), ...(again === true ? { AGAIN: "1" } : {}), ...(lab === undefined ? {} : { LAB: lab }) } });
    return code;
});
