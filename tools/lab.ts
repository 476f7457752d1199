// npm run lab -- up|down|status: the mesh of the mesh tests, left running, to look at.
import { Command } from "commander";
import { labs, sweep } from "../test/mesh/lab/folder";
import { keepLab, openLab, removeLab, startLab } from "../test/mesh/lab";
import { duration, main, say } from "./support/report";

const DEFAULT_NAME = "lab";

const program = new Command("npm run lab --").description("A mesh on this machine: API server, istiod, egress gateway, applications with sidecars, a GSLB and VIPs, in network namespaces.");
const named = (command: Command): Command => command.option("--name <name>", "which lab, 1 to 16 lower-case letters and digits", DEFAULT_NAME);

named(program.command("up").description("starts a lab and leaves it running")).action(({ name }: { name: string }) => main(async () => {
    const begin = Date.now();
    const lab = await startLab(name);
    keepLab(lab);
    say(`The lab ${name} is up (${duration(Date.now() - begin)}).\n`);
    say(openLab(name).describe());
    return 0;
}));
named(program.command("status").description("tells what runs, where, and how to get at it")).action(({ name }: { name: string }) => main(() => {
    say(openLab(name).describe());
    return Promise.resolve(0);
}));
named(program.command("down").description("removes a lab, and what labs that were killed have left")).action(({ name }: { name: string }) => main(() => {
    const swept = sweep();
    const isThere = labs().includes(name);
    if (isThere) removeLab(name);
    say([isThere ? `The lab ${name} is removed.` : `There is no lab called ${name}.`, ...swept.map((one) => `What was left of the lab ${one} is removed.`)].join("\n"));
    return Promise.resolve(0);
}));

program.parse();
