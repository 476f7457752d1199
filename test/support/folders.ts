// Throw-away folders of tests.
import { mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

export function temporaryFolder(): Promise<string> {
    return mkdtemp(path.join(os.tmpdir(), "istio-egress-"));
}
