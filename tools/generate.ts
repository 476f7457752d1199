// `npm run generate`: writes the files that follow from the code; with --check it only says which are not current.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { catalogueSchemaText } from "../catalogue";
import { measurementFiles } from "./measurements/pages";
import { repository } from "./support/places";

const GENERATED: readonly (readonly [file: string, text: () => string])[] = [
    ["catalogue/catalogue.schema.json", catalogueSchemaText],
    ...measurementFiles().map(([file, text]) => [file, () => text] as const),
];

const check = process.argv.includes("--check");
for (const [file, text] of GENERATED) {
    const target = path.join(repository, file), wanted = text();
    if (existsSync(target) && readFileSync(target, "utf8") === wanted) {
        console.log(`${file} is current.`);
    } else if (check) {
        console.error(`${file} is not current: run npm run generate.`);
        process.exitCode = 1;
    } else {
        mkdirSync(path.dirname(target), { recursive: true });
        writeFileSync(target, wanted);
        console.log(`${file} is written.`);
    }
}
