// Keeps stack traces cheap while a program runs.

/**
 * The SDK reads the stack of an empty error for every promise and resource that it makes, for debugging. With source maps on,
 * as under tsx, their formatting was a quarter of a large preview. While `work` runs, those are left empty, and other stacks
 * that are read are not mapped. A stack is formatted when it is first read: errors that are shown afterwards have mapped lines.
 */
export async function withCheapStacks<T>(work: () => Promise<T>): Promise<T> {
    const former = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
    Error.prepareStackTrace = (error, sites) => (error.message === "" ? error.name : [String(error), ...sites.map(frame)].join("\n"));
    try {
        return await work();
    } finally {
        if (former === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
        else Object.defineProperty(Error, "prepareStackTrace", former);
    }
}

function frame(site: NodeJS.CallSite): string {
    return `    at ${site.getFunctionName() ?? "<anonymous>"} (${site.getFileName() ?? "native"}:${site.getLineNumber() ?? 0}:${site.getColumnNumber() ?? 0})`;
}
