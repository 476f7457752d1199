// Runs a Pulumi program in this process, as a preview, against the recording monitor.
import { setImmediate as nextTurn } from "node:timers/promises";
import { setAllConfig } from "@pulumi/pulumi/runtime/config";
import { disconnectSync, setMockOptions } from "@pulumi/pulumi/runtime/settings";
import { rootPulumiStackTypeName, runInPulumiStack } from "@pulumi/pulumi/runtime/stack";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { Failure } from "../failure";
import { shownPath } from "../paths";
import { duplicateObjects } from "./duplicates";
import { placeholders, withEncryptedConfig } from "./encrypted-config";
import { ErrorCollector } from "./errors";
import { loadProgram } from "./load";
import { RecordingMonitor } from "./monitor";
import type { Project } from "./project";
import { type Engine, currentStore, withStore } from "./sdk";
import { Quiescence } from "./settle";
import { withCheapStacks } from "./stacks";
import type { Diagnostic, ProgramRun } from "./types";

/** A preview asks no servers; a program that is busy for longer than this waits for something that will not come. */
const PROGRAM_TIMEOUT_MS = 120_000;

/** What the Pulumi CLI calls the organization of a local backend. */
const ORGANIZATION = "organization";

/**
 * Runs the program of a project for its environment. Errors of the program are part of the result, never thrown. The program
 * gets the working directory that the Pulumi CLI would give it, so that a process runs one at a time.
 */
export function runProject(project: Project, timeoutMs = PROGRAM_TIMEOUT_MS): Promise<ProgramRun> {
    const monitor = new RecordingMonitor(project.name, project.env);
    const diagnostics: Diagnostic[] = project.secretKeys.map((key) => ({
        severity: "warning",
        message: `Configuration ${key} is encrypted: this preview has no key for it and treats it as unknown. \`pulumi preview\` decrypts it.`,
    }));
    const errors = new ErrorCollector();
    const before = process.cwd();
    return withStore(async () => {
        const store = currentStore();
        setMockOptions(monitor, project.name, project.env, true, ORGANIZATION);
        setAllConfig({ ...project.config, ...placeholders(project.secretKeys) }, [...project.secretKeys]);
        store.settings.options.rootDirectory = project.root;
        store.settings.engine = recordingEngine(diagnostics);
        const guarded = (work: () => Promise<void>): Promise<void> =>
            withEncryptedConfig(project.secretKeys, project.pwd, shownPath(project.stackFile, before), () => withCheapStacks(() => errors.during(work)));
        process.chdir(project.pwd);
        try {
            await guarded(async () => {
                const quiescence = await Quiescence.begin();
                let over = false;
                // Not awaited: a promise of the program that nothing ever settles must not hang the preview.
                void runInPulumiStack(() => loadProgram(project)).finally(() => { over = true; });
                const active = await quiescence.wait(() => monitor.isBusy(), timeoutMs);
                if (active.length > 0) throw new Failure(`${shownPath(project.entry, before)} is still busy after ${timeoutMs / 1000} s (${active.join(", ")}): a timer, server or connection keeps it alive; close it when the program is done.`);
                if (!over || !(await isSettled(store.settings.rpcDone))) errors.addUnlessOthers(new Failure(`${shownPath(project.entry, before)} ended, but some of its resources or outputs never got a value: they wait for a promise that nothing resolves.`));
            });
        } finally {
            // Else the SDK reports promises that are still open when this process ends; what matters of them has been told above.
            store.terminated = true;
            disconnectSync();
            process.chdir(before);
        }
        const resources = monitor.recorded();
        const outputs = resources.find(({ type }) => type === rootPulumiStackTypeName)?.outputs ?? {};
        return { resources, outputs, diagnostics, errors: [...errors.describe(before), ...duplicateObjects(resources)] };
    });
}

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    const settled = promise.then(() => true, () => true);
    return Promise.race([settled, nextTurn().then(() => false)]);
}

/** Receives what the program logs; debug messages are the SDK's own. */
function recordingEngine(diagnostics: Diagnostic[]): Engine {
    const severities = new Map<number, Diagnostic["severity"]>([[LogSeverity.INFO, "info"], [LogSeverity.WARNING, "warning"], [LogSeverity.ERROR, "error"]]);
    return {
        log(request, done) {
            const severity = severities.get(request.getSeverity());
            const urn = request.getUrn();
            if (severity !== undefined) diagnostics.push({ severity, message: request.getMessage(), ...(urn === "" ? {} : { urn }) });
            done();
        },
        setRootResource: (_request, done) => done(null, {}),
        requirePulumiVersion: (_request, done) => done(null, {}),
        close: () => undefined,
    };
}
