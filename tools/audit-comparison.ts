// `npm run compare`: writes docs/audit-comparison.md, what `istioctl analyze` and the audit find in each manifest of the corpus; with --check it
// only says whether the page is current.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CORPUS, aboutOf, auditCorpus, corpusFiles } from "../test/support/corpus";
import { locate } from "./setup/install";
import { repository } from "./support/places";
import { run } from "./support/process";
import { main, say } from "./support/report";

export const PAGE = path.join(repository, "docs/audit-comparison.md");

interface Message { readonly code: string; readonly level: string; readonly message: string }

export async function comparison(): Promise<string> {
    const istioctl = await locate("istioctl"), version = (await run(istioctl, ["version", "--remote=false", "--short"])).stdout.trim().split("\n").at(-1) ?? "";
    const rows: { readonly file: string; readonly theirs: readonly Message[]; readonly ours: readonly string[] }[] = [];
    for (const file of corpusFiles()) rows.push({ file, theirs: await analyze(istioctl, file), ours: (await auditCorpus(file)).findings });
    const bad = rows.filter(({ file }) => file.startsWith("bad-")), good = rows.filter(({ file }) => file.startsWith("good-"));
    const count = (list: typeof rows, side: "theirs" | "ours"): string => `${list.filter((row) => row[side].length > 0).length} of ${list.length}`;
    return [
        "# The audit and `istioctl analyze`, side by side", "",
        `Written by \`npm run compare\`; a test says when it is not current. Both judge each manifest of [test/fixtures/corpus](../test/fixtures/corpus) by itself, without a cluster: \`istioctl analyze --use-kube=false\` (${version}) and \`istio-egress audit\`.`,
        "They look for different things, and neither replaces the other: istioctl checks Istio's configuration in general, with a cluster at hand also what is missing there; the audit checks what an egress can break.", "",
        "| | with findings by istioctl analyze | with findings by the audit |", "| --- | --- | --- |",
        `| manifests with a mistake | ${count(bad, "theirs")} | ${count(bad, "ours")} |`, `| manifests without | ${count(good, "theirs")} | ${count(good, "ours")} |`, "",
        "## With a mistake", "", ...table(bad), "", "## Without a mistake", "",
        "Findings here are false alarms. Among these are the documented recipes that tools are known to warn of: a subset without labels, TLS origination that trusts the system's own roots, a host that is no Service.", "", ...table(good), "",
    ].join("\n");
}

function table(rows: readonly { readonly file: string; readonly theirs: readonly Message[]; readonly ours: readonly string[] }[]): readonly string[] {
    const cell = (lines: readonly string[]): string => (lines.length === 0 ? "–" : lines.map((line) => line.replaceAll("|", "\\|")).join("<br>"));
    return [
        "| manifest | istioctl analyze | audit |", "| --- | --- | --- |",
        ...rows.map(({ file, theirs, ours }) => `| [${file.replace(/\.(yaml|json)$/, "")}](../test/fixtures/corpus/${file}): ${aboutOf(file)} | ${cell(theirs.map(({ code, level, message }) => `${code} ${level}: ${message}`))} | ${cell(ours.map((finding) => finding.replace(/^(E\d+) (\w+) (.*): (.*)$/, "[$1](rules/$1.md) $2: $3, `$4`")))} |`),
    ];
}

async function analyze(istioctl: string, file: string): Promise<readonly Message[]> {
    const { stdout, stderr } = await run(istioctl, ["analyze", "--all-namespaces", "--use-kube=false", "--output", "json", path.join(CORPUS, file)]);
    const begin = stdout.indexOf("[");
    if (begin < 0) throw new Error(`istioctl analyze says nothing of ${file}: ${stderr}`);
    return JSON.parse(stdout.slice(begin)) as readonly Message[];
}

if (require.main === module) main(async () => {
    const text = await comparison(), isCurrent = readFileSync(PAGE, { encoding: "utf8", flag: "a+" }) === text;
    if (process.argv.includes("--check")) {
        say(isCurrent ? "docs/audit-comparison.md is current" : "docs/audit-comparison.md is not current: run npm run compare");
        return isCurrent ? 0 : 1;
    }
    writeFileSync(PAGE, text);
    say("docs/audit-comparison.md is written");
    return 0;
});
