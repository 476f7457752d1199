// The pages of docs/rules/: what a rule's own data says, the prose beside the rule, and its fixtures as examples.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { configSchema } from "../policies/configuration";
import { type Rule, isSetRule } from "../policies/rule";
import { RULES } from "../policies/rules";
import { repository } from "./support/places";

const read = (file: string): string => readFileSync(path.join(repository, file), "utf8");

/** Where the table of the overview begins and ends. */
const BEGIN = "<!-- rules: written by npm run generate -->", END = "<!-- end of rules -->";
const OVERVIEW = "docs/rules/README.md";

/** Every file of docs/rules/ with its text. */
export function rulePages(): readonly (readonly [file: string, text: () => string])[] {
    return [...RULES.map((rule) => [`docs/rules/${rule.code}.md`, () => pageOf(rule)] as const), [OVERVIEW, overview]];
}

/** The pages of no rule: a code that has gone. */
export function strayPages(): readonly string[] {
    return readdirSync(path.join(repository, "docs/rules")).filter((name) => name !== "README.md" && RULES.every(({ code }) => name !== `${code}.md`));
}

const kindsOf = ({ kinds }: Rule): string => (kinds.includes("*") ? "every kind that is read" : kinds.join(", "));

function pageOf(rule: Rule): string {
    const { code, name, level, severity, description, remediates } = rule;
    return [
        `# ${code} ${name}`,
        `<!-- Written by npm run generate from policies/rules/${code}-${name}.ts, .md and the fixtures. -->`,
        description,
        ["| | |", "| --- | --- |", `| level | ${level} |`, `| severity | ${severity} |`, `| kinds | ${kindsOf(rule)} |`,
            `| judged | ${isSetRule(rule) ? "over all objects together" : "object by object"} |`, `| remediation | ${remediates ? "yes" : "no"} |`].join("\n"),
        read(`policies/rules/${code}-${name}.md`).trimEnd(),
        `## Configuration\n\n${configurationOf(rule)}`,
        `## Example\n\n${exampleOf(rule)}`,
    ].join("\n\n") + "\n";
}

interface Property {
    readonly description?: string;
    readonly default?: unknown;
    readonly enum?: readonly unknown[];
}

function configurationOf(rule: Rule): string {
    const properties = Object.entries(configSchema(rule.configuration).properties) as [string, Property][];
    if (properties.length === 0) return "None.";
    const rows = properties.map(([name, { description = "", default: byDefault, enum: values }]) => {
        const isList = Array.isArray(byDefault) && byDefault.length === 0;
        const more = [...(values === undefined ? [] : [`One of ${values.map((value) => `\`${String(value)}\``).join(", ")}.`]), ...(byDefault === undefined || isList ? [] : [`Default \`${typeof byDefault === "string" ? byDefault : JSON.stringify(byDefault)}\`.`])];
        return `| \`${name}\` | ${[description, ...more].join(" ").replaceAll("|", "\\|")} |`;
    });
    return ["| property | meaning |", "| --- | --- |", ...rows].join("\n") + (properties.some(([name]) => name === "catalogue") ? "\n\nHow pools are known: [overview](README.md)." : "");
}

/** The first fixture of each side, with what the rule says of the bad one. */
function exampleOf({ code }: Rule): string {
    const [bad, good] = (["invalid", "valid"] as const).map((side) => {
        const folder = `test/fixtures/${side}`, name = readdirSync(path.join(repository, folder)).filter((file) => file.startsWith(`${code}-`) && !file.endsWith(".expected.yaml")).sort()[0];
        if (name === undefined) throw new Error(`${code} has no fixture in ${folder}.`);
        return { text: read(`${folder}/${name}`).trimEnd(), expected: parse(read(`${folder}/${name.replace(/\.yaml$/, ".expected.yaml")}`)) as Expected | null };
    });
    const { configuration, environment, findings = [] } = bad?.expected ?? {};
    const given = [...(configuration === undefined ? [] : [`the configuration \`${JSON.stringify(configuration)}\``]), ...(environment === undefined ? [] : [`the environment \`${environment}\``])];
    const said = findings.filter(({ message }) => message.startsWith(`${code} `)).map(({ level, message }) => `- ${level}: ${message.replace(/ See docs\/rules\/\w+\.md$/, "")}`);
    return [
        `Bad${given.length === 0 ? "" : `, with ${given.join(" and ")}`}:`, `\`\`\`yaml\n${bad?.text ?? ""}\n\`\`\``,
        "What the rule says of it:", said.join("\n"),
        "Good:", `\`\`\`yaml\n${good?.text ?? ""}\n\`\`\``,
    ].join("\n\n");
}

interface Expected {
    readonly configuration?: unknown;
    readonly environment?: string;
    readonly findings?: readonly { readonly level: string; readonly message: string }[];
}

function overview(): string {
    const [before = "", rest = ""] = read(OVERVIEW).split(BEGIN), after = rest.slice(rest.indexOf(END) + END.length);
    const rows = RULES.map((rule) => `| [${rule.code}](${rule.code}.md) | ${rule.name} | ${rule.level} | ${isSetRule(rule) ? "stack" : "object"} | ${rule.description} |`);
    return `${before}${BEGIN}\n${["| code | name | level | judged by | demands |", "| --- | --- | --- | --- | --- |", ...rows].join("\n")}\n${END}${after}`;
}
