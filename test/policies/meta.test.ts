// What holds of every rule: names, codes, order, documentation, configuration.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { policyPackArgs } from "../../policies/pack";
import { configSchema } from "../../policies/configuration";
import { isSetRule } from "../../policies/rule";
import { RULES } from "../../policies/rules";
import { rulePages, strayPages } from "../../tools/rule-pages";

const root = path.join(__dirname, "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const PROPERTIES = ["code", "name", "level", "severity", "description", "remediation", "remediates", "kinds", "configuration"];

describe("every rule", () => {
    it("stands in the list once, by code, and nothing else stands in the folder", () => {
        const codes = RULES.map(({ code }) => code);
        expect(codes).to.deep.equal([...new Set(codes)].sort());
        const files = readdirSync(path.join(root, "policies/rules")).filter((name) => name !== "index.ts").sort();
        expect(files).to.deep.equal(RULES.flatMap(({ code, name }) => [`${code}-${name}.md`, `${code}-${name}.ts`]));
    });

    for (const rule of RULES) {
        describe(`${rule.code} ${rule.name}`, () => {
            it("has the properties of a rule in their order", () => {
                expect(Object.keys(rule)).to.deep.equal([...PROPERTIES, isSetRule(rule) ? "checkSet" : "check", "page"]);
            });

            it("has a code, a name and whole sentences", () => {
                expect(rule.code).to.match(/^E[1-6]\d\d$/);
                expect(rule.name).to.match(/^[a-z]+(-[a-z0-9]+)*$/);
                for (const sentence of [rule.description, rule.remediation]) expect(sentence).to.match(/^[A-Z].*\.$/);
            });

            it("has a file that begins by saying what it is for", () => {
                expect(read(`policies/rules/${rule.code}-${rule.name}.ts`)).to.match(new RegExp(`^// ${rule.code}: `));
            });

            it("has its prose beside it, in the sections that every page has", () => {
                const prose = read(`policies/rules/${rule.code}-${rule.name}.md`);
                expect(prose.match(/^## .*$/gm)).to.deep.equal(["## What", "## Why", "## How to fix"]);
            });

            it("has a page that names it, its level and its configuration", () => {
                const file = `docs/rules/${rule.code}.md`;
                expect(existsSync(path.join(root, file)), file).to.equal(true);
                const page = read(file);
                expect(page).to.match(new RegExp(`^# ${rule.code} ${rule.name}\n`));
                expect(page).to.include(`| level | ${rule.level} |`).and.include(`| severity | ${rule.severity} |`)
                    .and.include(`| kinds | ${rule.kinds.includes("*") ? "every kind that is read" : rule.kinds.join(", ")} |`).and.include(`| remediation | ${rule.remediates ? "yes" : "no"} |`);
                for (const heading of ["What", "Why", "How to fix", "Configuration", "Example"]) expect(page, heading).to.include(`\n## ${heading}\n`);
                for (const property of Object.keys(configSchema(rule.configuration).properties)) expect(page, property).to.include(`\`${property}\``);
            });

            it("has a page that is current: npm run generate writes it anew", () => {
                const page = rulePages().find(([file]) => file === `docs/rules/${rule.code}.md`);
                expect(read(`docs/rules/${rule.code}.md`)).to.equal(page?.[1]());
            });

            it("stands in the table of the overview", () => {
                expect(read("docs/rules/README.md")).to.include(`| [${rule.code}](${rule.code}.md) | ${rule.name} | ${rule.level} |`);
            });

            it("has a configuration that may be left out and that converts for Pulumi's engine", () => {
                expect(rule.configuration.safeParse({}).success).to.equal(true);
                expect(rule.configuration.safeParse({ surprise: 1 }).success).to.equal(false);
                const { properties, required } = configSchema(rule.configuration);
                expect(required ?? []).to.deep.equal([]);
                expect(properties).to.not.have.property("enforcementLevel");
                for (const [name, schema] of Object.entries(properties)) expect(schema.description, name).to.be.a("string");
                expect(JSON.stringify(properties)).to.not.include("$ref");
            });
        });
    }

    it("has the one page of its code, and no page is left of a rule that has gone", () => {
        expect(strayPages()).to.deep.equal([]);
        const overview = rulePages().find(([file]) => file === "docs/rules/README.md");
        expect(read("docs/rules/README.md")).to.equal(overview?.[1]());
    });

    it("is one policy of the pack, with what Pulumi shows of it", () => {
        const policies = policyPackArgs().policies;
        expect(policies.map(({ name, displayName, enforcementLevel, severity }) => [name, displayName, enforcementLevel, severity]))
            .to.deep.equal(RULES.map(({ name, code, level, severity }) => [name, `${code} ${name}`, level, severity]));
        for (const [index, policy] of policies.entries()) expect("remediateResource" in policy).to.equal(RULES[index]?.remediates);
    });
});

describe("the pack's folder", () => {
    it("has the version of the package, which the SDK reads from beside PulumiPolicy.yaml", () => {
        const { version } = JSON.parse(read("package.json")) as { version: string };
        expect(JSON.parse(read("policies/package.json"))).to.include({ version });
    });

    it("holds one entry point that constructs the pack, one class for packs of others, and no other module starts one", () => {
        const sources = readdirSync(path.join(root, "policies"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
        expect(sources.filter((name) => read(`policies/${name}`).includes("new PolicyPack("))).to.deep.equal(["egress-policies.ts", "index.ts"]);
    });
});
