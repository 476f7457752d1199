// `npm run generate`: writes the files that follow from the code; with --check it only says which are not current.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { catalogueSchemaText } from "../catalogue";
import { rulePages, strayPages } from "./rule-pages";
import { repository } from "./support/places";

const GENERATED: readonly (readonly [file: string, text: () => string])[] = [
    ["catalogue/catalogue.schema.json", catalogueSchemaText],
    ...rulePages(),
];

let current = 0;
const check = process.argv.includes("--check");
for (const [file, text] of GENERATED) {
    const target = path.join(repository, file), wanted = text();
    if (existsSync(target) && readFileSync(target, "utf8") === wanted) {
        current += 1;
    } else if (check) {
        console.error(`${file} is not current: run npm run generate.`);
        process.exitCode = 1;
    } else {
        writeFileSync(target, wanted);
        console.log(`${file} is written.`);
    }
}
for (const page of strayPages()) {
    console.error(`docs/rules/${page} is the page of no rule: remove it.`);
    process.exitCode = 1;
}
console.log(`${current} of ${GENERATED.length} files were current.`);
