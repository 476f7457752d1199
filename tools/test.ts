// npm test: types, lint and every test that needs npm only; the last line is "N passed, N failed".
import { main } from "./support/report";
import { close, keep } from "./support/steps";
import { testTier } from "./support/tiers";

main(async () => {
    const counts = await testTier();
    await keep("test", counts);
    return close(counts);
});
