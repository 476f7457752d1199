// npm run setup: gets the real tools of the engine and mesh tests, at pinned versions, into a per-user cache.
import { Command } from "commander";
import { UserError, duration, main, say } from "./support/report";
import { install, removePartial, toolsFolder } from "./setup/install";
import { withLock } from "./setup/lock";
import { systemPackages } from "./setup/system";
import { tools } from "./setup/table";
import type { Tool } from "./setup/table";

interface Options { readonly system?: boolean; readonly bench?: boolean; readonly all?: boolean; readonly only?: string }

const command = new Command("npm run setup --")
    .description("Gets the real tools (Pulumi, its Kubernetes provider, an API server, Istio, Envoy) into a per-user cache, or reuses those on PATH.")
    .option("--system", "install missing system packages too (Debian, as root)")
    .option("--bench", "build optimised tools, for benchmarks (takes twice as long)")
    .option("--all", "also istioctl, to compare findings with")
    .option("--only <names>", `just these, separated by commas: ${tools.map(({ name }) => name).join(", ")}`)
    .addHelpText("after", "\nThe cache is $ISTIO_EGRESS_CACHE, else istio-egress in $XDG_CACHE_HOME or ~/.cache.");

function chosen(options: Options): readonly Tool[] {
    if (options.only === undefined) return tools.filter(({ isDefault }) => isDefault || options.all === true);
    return options.only.split(",").map((name) => {
        const tool = tools.find((one) => one.name === name.trim());
        if (tool === undefined) throw new UserError(`setup: --only names "${name}", which is no tool. Choose from ${tools.map((one) => one.name).join(", ")}.`);
        return tool;
    });
}

main(async () => {
    const options = command.parse().opts<Options>();
    const begin = Date.now();
    const wanted = chosen(options);
    await systemPackages(options.system === true);
    await withLock(toolsFolder(), async () => {
        await removePartial();
        for (const tool of wanted) await install(tool, { bench: options.bench === true });
    });
    say(`Ready in ${duration(Date.now() - begin)}: ${toolsFolder()}`);
    return 0;
});
