// The errors that the command itself raises: their message is all that a user sees, and they carry the exit code.

export const ExitCode = {
    Ok: 0,
    Refused: 1,
    Usage: 2,
    /** A part of what was to be looked at could not be. */
    Incomplete: 3,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends the command with its message and exit code, without a stack. */
export class Failure extends Error {
    override readonly name = "Failure";

    constructor(message: string, readonly exitCode: ExitCode = ExitCode.Refused) {
        super(message);
    }
}

/** The command was called on something that it cannot work with: exit code 2. */
export function usageError(message: string): Failure {
    return new Failure(message, ExitCode.Usage);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
    return thrown instanceof Error ? thrown.message : String(thrown);
}
