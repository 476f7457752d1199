// The stack of a lab: what a scenario declares with our components, brought into the lab's API server by the real Pulumi CLI.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { z } from "zod";
import type { DeclarationInput, gatewaySchema, lockdownSchema } from "../../../model";
import { preparePulumi } from "../../../tools/pulumi";
import type { Pulumi } from "../../../tools/pulumi";
import { repository } from "../../../tools/support/places";
import { UserError } from "../../../tools/support/report";
import { kubeconfigOf } from "./control-plane";
import { folderOf } from "./folder";
import { inNamespace } from "./network";

/** Hosts by the component's name. */
export type Hosts = Readonly<Record<string, DeclarationInput>>;

/** What is declared beside the hosts. */
export interface Around {
    /** An EgressGateway, which the hosts then take in place of their own. */
    readonly gateway?: z.input<typeof gatewaySchema>;
    /** An EgressLockdown of that gateway, or of the one given; the hosts take the locked one. */
    readonly lockdown?: Omit<z.input<typeof lockdownSchema>, "gateway"> & { readonly gateway?: z.input<typeof lockdownSchema>["gateway"] };
}

const DECLARED = "declared.json", NOTHING = JSON.stringify({ hosts: {} });
const COMMAND_MS = 180_000;

export class Stack {
    private pulumi: Promise<Pulumi> | undefined;

    constructor(private readonly lab: string) {}

    /** `pulumi up` with exactly these hosts, and what is around them. Returns what the CLI printed. */
    async up(hosts: Hosts, around: Around = {}): Promise<string> {
        const pulumi = await this.prepare();
        this.declare(hosts, around);
        return (await pulumi.must(["up", "--yes", "--skip-preview", "--stack", "lab"], this.options())).stdout;
    }

    /** `pulumi destroy`; nothing when nothing was brought up. */
    async destroy(): Promise<void> {
        if (!this.isUsed()) return;
        const pulumi = await this.prepare();
        await pulumi.must(["destroy", "--yes", "--skip-preview", "--stack", "lab"], this.options());
        this.declare({});
    }

    /**
     * For who deletes all of Istio's objects itself: forgets the hosts, which is sooner done than `destroy`; what was brought up around them,
     * with objects of other kinds, is destroyed.
     */
    async forget(): Promise<void> {
        if (!this.isUsed()) return;
        if (Object.keys(JSON.parse(this.declared()) as object).some((key) => key !== "hosts")) return this.destroy();
        const pulumi = await this.prepare(), file = path.join(this.program, "../empty.json");
        writeFileSync(file, JSON.stringify({ version: 3, deployment: {} }));
        await pulumi.must(["stack", "import", "--stack", "lab", "--file", file], this.options());
        this.declare({});
    }

    private isUsed(): boolean {
        return existsSync(path.join(this.program, DECLARED)) && this.declared() !== NOTHING;
    }

    private declared(): string {
        return readFileSync(path.join(this.program, DECLARED), "utf8");
    }

    private declare(hosts: Hosts, around: Around = {}): void {
        writeFileSync(path.join(this.program, DECLARED), JSON.stringify({ hosts, ...around }));
    }

    private get program(): string {
        return path.join(folderOf(this.lab), "stack/program");
    }

    private get state(): string {
        return path.join(folderOf(this.lab), "stack/state");
    }

    private options(): { readonly cwd: string; readonly timeout: number } {
        return { cwd: this.program, timeout: COMMAND_MS };
    }

    private prepare(): Promise<Pulumi> {
        this.pulumi ??= this.make();
        return this.pulumi;
    }

    private async make(): Promise<Pulumi> {
        if (!existsSync(path.join(repository, "dist/index.js"))) throw new UserError("The lab's stack runs the compiled library, and there is no dist/: run npm run build.");
        const isNew = !existsSync(this.program);
        if (isNew) {
            mkdirSync(path.dirname(this.program), { recursive: true });
            cpSync(path.join(__dirname, "../fixtures/program"), this.program, { recursive: true });
            // The program finds the SDK where the library does: two copies of it would not know each other's resources.
            symlinkSync(path.join(repository, "node_modules"), path.join(folderOf(this.lab), "stack/node_modules"));
        }
        const temporary = path.join(folderOf(this.lab), "stack/tmp"); // The provider leaves a kubeconfig in it.
        mkdirSync(temporary, { recursive: true });
        const pulumi = await preparePulumi({
            backend: this.state, prefix: inNamespace(this.lab, "control"), skipCheckpoints: true, env: { LAB_LIBRARY: path.join(repository, "dist"), TMPDIR: temporary },
        });
        if (!isNew) return pulumi;
        await pulumi.must(["stack", "init", "lab"], this.options());
        await pulumi.must(["config", "set", "kubeconfig", readFileSync(kubeconfigOf(this.lab), "utf8"), "--stack", "lab"], this.options());
        return pulumi;
    }
}

