// Lint rules, and the import directions between the top-level folders (AGENTS.md, layout).
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import { importX } from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

const root = dirname(fileURLToPath(import.meta.url));

/** What each folder may import besides itself and packages; `test` and `tools` are leaves that nothing imports. */
const mayImport = {
    model: [],
    catalogue: ["model"],
    manifests: ["model"],
    components: ["model", "manifests", "catalogue", "policies"],
    policies: ["model", "catalogue"],
    provider: ["components"],
    stacks: ["components", "index.ts"],
    cli: ["model", "catalogue", "manifests", "components", "policies"],
};
const code = [...Object.keys(mayImport), "index.ts", "test", "tools", "bench"];
const zones = Object.entries(mayImport).map(([folder, allowed]) => ({
    target: `./${folder}`,
    from: code.filter((other) => other !== folder && !allowed.includes(other)).map((other) => `./${other}`),
    message: `${folder}/ may import ${allowed.length === 0 ? "nothing of this repository" : allowed.join(", ")} only (AGENTS.md, layout).`,
}));

export default tseslint.config(
    { ignores: ["dist", "out", "node_modules", "examples"] },
    js.configs.recommended,
    ...tseslint.configs.recommendedTypeChecked,
    {
        plugins: { "import-x": importX },
        settings: { "import-x/resolver": { node: { extensions: [".ts", ".js"] } } },
        languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["eslint.config.mjs"] }, tsconfigRootDir: root } },
        rules: {
            "@typescript-eslint/no-explicit-any": "error",
            "@typescript-eslint/prefer-nullish-coalescing": "error",
            "@typescript-eslint/consistent-type-imports": "error",
            "@typescript-eslint/explicit-module-boundary-types": "error",
            "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
            "import-x/no-restricted-paths": ["error", { basePath: root, zones }],
        },
    },
    { files: ["**/*.mjs", "**/*.cjs", "bench/**/*.js"], ...tseslint.configs.disableTypeChecked },
    {
        files: ["**/*.cjs", "bench/**/*.js"],
        languageOptions: { sourceType: "commonjs", globals: { require: "readonly", process: "readonly" } },
        rules: { "@typescript-eslint/no-require-imports": "off" },
    },
    { files: ["model/**/*.ts"], rules: { "no-restricted-imports": ["error", { patterns: ["@pulumi/*", "node:*"] }] } },
    { files: ["manifests/**/*.ts"], rules: { "no-restricted-imports": ["error", { patterns: ["@pulumi/*"] }] } },
    { files: ["test/**/*.ts"], rules: { "@typescript-eslint/no-unused-expressions": "off" } },
);
