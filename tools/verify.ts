// npm run verify: npm test, then the tiers that run the real tools; the last line is "N passed, N failed" over all of them.
import { Command } from "commander";
import { main } from "./support/report";
import { close, kept, sum } from "./support/steps";
import { engineTier, meshTier, testTier } from "./support/tiers";

const command = new Command("npm run verify --")
    .description("Runs every tier of tests. The deeper ones need the tools of npm run setup.")
    .option("--after-test", "npm test has just run: take its numbers instead of running it again");

main(async () => {
    const { afterTest } = command.parse().opts<{ readonly afterTest?: boolean }>();
    return close(sum([afterTest === true ? kept("test") : await testTier(), await engineTier(), await meshTier()]));
});
