// Golden lists: what a run is known to make, one line each. `ACCEPT=1 npm run test:engine` writes them anew, for review in the diff.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";

export async function expectGolden(name: string, lines: readonly string[]): Promise<void> {
    const file = path.join(__dirname, "golden", `${name}.txt`);
    if (process.env["ACCEPT"] === "1") {
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, `${lines.join("\n")}\n`);
        return;
    }
    const golden = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
    expect(lines, `what test/engine/golden/${name}.txt lists; ACCEPT=1 npm run test:engine accepts a change`).to.deep.equal(golden);
}
