// Colours for terminals; on anything else the same functions leave text as it is.
import { createColors } from "picocolors";

export type Colours = ReturnType<typeof createColors>;

/** Follows NO_COLOR and FORCE_COLOR, else whether the stream is a terminal. */
export function coloursFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv = process.env): Colours {
    if (environment["NO_COLOR"] !== undefined && environment["NO_COLOR"] !== "") return createColors(false);
    if (environment["FORCE_COLOR"] !== undefined && environment["FORCE_COLOR"] !== "") return createColors(environment["FORCE_COLOR"] !== "0");
    return createColors(stream.isTTY === true);
}
