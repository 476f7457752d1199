// Collects everything that a program throws or leaves rejected, and turns each into one text for people.
import { dirname } from "node:path";
import { type Failure, messageOf } from "../failure";
import { shownPath } from "../paths";
import { isMap } from "../plain";
import type { ProgramError } from "./types";

const MAX_FRAMES = 5;

/** What the SDK puts before the message of an error for every resource that waits for the broken value. */
const WAITING = /^(error serializing property "[^"]*": )+/;

/** While it listens, nothing that the program throws asynchronously ends this process. */
export class ErrorCollector {
    private readonly thrown = new Set<unknown>();
    private readonly add = (error: unknown): void => void this.thrown.add(error);

    /** Runs `work`; what it throws is collected too. */
    async during(work: () => Promise<void>): Promise<void> {
        process.on("uncaughtException", this.add);
        process.on("unhandledRejection", this.add);
        try {
            await work().catch(this.add);
        } finally {
            process.off("uncaughtException", this.add);
            process.off("unhandledRejection", this.add);
        }
    }

    /** Adds a consequence, which is worth telling only when its cause is not known. */
    addUnlessOthers(error: Failure): void {
        if (this.thrown.size === 0) this.thrown.add(error);
    }

    /**
     * One entry per error, in the order of occurrence. The SDK adds context to the message of an error and rejects several
     * promises with it, so that errors are told apart by identity first and by text last.
     */
    describe(folder: string): ProgramError[] {
        const described = [...this.thrown].map((error) => describe(error, folder));
        return described.filter(({ message }, index) => described.findIndex((other) => other.message === message) === index);
    }
}

/**
 * Frames tell where a fault in the program's code is. Errors made for people say it in their message; so do syntax errors.
 * The stack is read as text: `util.inspect` with colours can hang on a frame such as `node_modules/@scope/file.ts:1:1` (Node 20.20).
 */
function describe(thrown: unknown, folder: string): ProgramError {
    if (!(thrown instanceof Error)) return { message: `The program threw ${typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown)}, which is no Error.`, frames: [] };
    const frames = isForPeople(thrown) ? [] : (thrown.stack ?? "").split("\n").flatMap((line) => frameOf(line, folder));
    const kind = isForPeople(thrown) || thrown.name === "Error" ? "" : `${thrown.name}: `;
    return { message: `${kind}${messageOf(thrown).replace(WAITING, "")}${propertiesOf(thrown)}`.trim(), frames: frames.slice(0, MAX_FRAMES) };
}

/** Pulumi's errors about inputs keep the properties at fault beside their message. */
function propertiesOf(error: Error & { propertyPath?: unknown; reason?: unknown; errors?: unknown }): string {
    const details: unknown[] = Array.isArray(error.errors) ? error.errors : [error];
    return details.flatMap((detail) => {
        const { propertyPath, reason } = isMap(detail) ? detail : {};
        return typeof propertyPath === "string" && typeof reason === "string" ? [`\n${propertyPath}: ${reason}`] : [];
    }).join("");
}

/** Pulumi's error classes mark themselves, so that copies of the SDK recognise each other's; ours have names of their own. */
function isForPeople(error: Error): boolean {
    const marks = error as { __pulumiRunError?: boolean; hideStack?: boolean; __pulumiInputPropertyError?: boolean; __pulumiInputPropertiesError?: boolean };
    if (marks.__pulumiRunError === true || marks.hideStack === true) return true;
    if (marks.__pulumiInputPropertyError === true || marks.__pulumiInputPropertiesError === true) return true;
    return error instanceof SyntaxError || ["Failure", "TransformError"].includes(error.name);
}

function frameOf(line: string, folder: string): string[] {
    const at = /^\s+at (?:.*\()?(?:file:\/\/)?(\/[^()]+|[A-Za-z]:\\[^()]+):(\d+):(\d+)\)?$/.exec(line);
    if (at?.[1] === undefined || at[1].includes("node_modules") || at[1].startsWith(dirname(__dirname))) return [];
    return [`${shownPath(at[1], folder)}:${at[2]}:${at[3]}`];
}
