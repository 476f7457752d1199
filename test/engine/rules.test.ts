// Every rule through a real preview: the Pulumi CLI, the compiled pack in its own process, resource and stack policies together.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "chai";
import { RULES } from "../../policies/rules";
import { repository } from "../../tools/support/places";
import { type ExpectedFinding, NOW, fixtures, inOrder, propertiesFor } from "../policies/support";
import { COMMAND_MS, type Project, fixtureProject } from "./harness";
import { type Together, gather } from "./worlds";

const BAD = fixtures("invalid"), ALL = [...BAD, ...fixtures("valid")];
/** What the CLI writes of a violation to its log of events, where `--event-log` is one of its debugging commands. */
interface PolicyEvent { readonly resourceUrn: string; readonly message: string; readonly policyName: string; readonly enforcementLevel: string }

describe("every rule in a real preview", function () {
    this.timeout(6 * COMMAND_MS);
    let project: Project;
    /** What was found in each fixture. */
    const found = new Map<string, ExpectedFinding[]>();

    before(async () => {
        project = await fixtureProject("rules");
        for (const environment of new Set(ALL.map((fixture) => fixture.environment))) await project.must(["stack", "init", environment]);
        const gathered = gather(ALL);
        expect(gathered.length, "previews").to.be.at.most(10);
        for (const [index, group] of gathered.entries()) await preview(group, String(index));
    });
    after(() => project?.remove());

    const preview = async ({ environment, configuration, worlds }: Together, name: string): Promise<void> => {
        const file = (what: string): string => path.join(project.folder, `${name}-${what}.json`), nameOf = (world: number, object: number): string => `world-${world}-object-${String(object).padStart(2, "0")}`;
        await writeFile(file("manifests"), JSON.stringify(worlds.flatMap(({ manifests }, world) => manifests.map((manifest, object) => ({ name: nameOf(world, object), manifest })))));
        await writeFile(file("policies"), JSON.stringify(Object.fromEntries(RULES.map((rule) => [rule.name, propertiesFor(rule, configuration)]))));
        const result = await project.run([
            "preview", "--stack", environment, "-c", `rules:manifests=${file("manifests")}`, "--event-log", file("events"),
            "--policy-pack", path.join(repository, "dist/policies"), "--policy-pack-config", file("policies"),
        ], { env: { PULUMI_DEBUG_COMMANDS: "true", SOURCE_DATE_EPOCH: String(NOW.getTime() / 1000) } });
        const events = (await readFile(file("events"), "utf8")).split("\n").filter((line) => line !== "").map((line) => (JSON.parse(line) as { policyEvent?: PolicyEvent }).policyEvent).filter((event) => event !== undefined);
        for (const [at, world] of worlds.entries()) {
            const own = events.filter(({ resourceUrn }) => resourceUrn.includes(`::world-${at}-`));
            found.set(world.fixture.file, inOrder(own.map(({ policyName, enforcementLevel, message }) => ({ policy: policyName, level: enforcementLevel, message: world.asWritten(message.trimEnd()) }))));
            for (const { resourceUrn, message } of own) expect(message, "the resource that it is told of").to.match(new RegExp(`^E\\d+ ${/:(\w+)::world/.exec(resourceUrn)?.[1] ?? ""} `));
        }
        expect(events.length, result.stdout + result.stderr).to.equal(worlds.reduce((sum, { fixture }) => sum + fixture.findings.length, 0));
        expect(result.code !== 0, result.stdout + result.stderr).to.equal(worlds.some(({ fixture }) => fixture.findings.some(({ level }) => level === "mandatory")));
    };

    for (const fixture of ALL) {
        it(`finds in ${fixture.file} what is expected`, () => expect(found.get(fixture.file)).to.deep.equal(fixture.findings));
    }

    it("tells of each rule's bad examples, and fails where a finding is mandatory", () => {
        for (const { code, name } of RULES) {
            for (const { file } of BAD.filter((fixture) => fixture.file.startsWith(`${code}-`))) expect(found.get(file)?.map(({ policy }) => policy), file).to.include(name);
        }
    });
});
