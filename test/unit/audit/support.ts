// What the tests of the audit share: throw-away folders of files, and an audit of them in this process.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { type AuditRequest, audit } from "../../../cli/audit";
import { type Reading, readPaths } from "../../../cli/audit/read";
import type { AuditReport } from "../../../cli/audit/report";
import { FailOn } from "../../../cli/audit/report";
import { RULES } from "../../../policies/rules";

/** The rules whose findings these tests know by heart, so that a new rule changes no test here. */
export const KNOWN = RULES.filter(({ code }) => ["E101", "E105", "E201"].includes(code));

/** A folder with these files, by relative path. The tests stand in it, so that messages show short paths. */
export function folderOf(files: Readonly<Record<string, string | Buffer>>): { readonly folder: string; readonly remove: () => void } {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "istio-egress-audit-"))), before = process.cwd();
    for (const [name, content] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        writeFileSync(path.join(folder, name), content);
    }
    process.chdir(folder);
    return {
        folder,
        remove: () => {
            process.chdir(before);
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

/** Runs work in a folder with these files. */
export async function within<T>(files: Readonly<Record<string, string | Buffer>>, work: (folder: string) => T | Promise<T>): Promise<T> {
    const { folder, remove } = folderOf(files);
    try {
        return await work(folder);
    } finally {
        remove();
    }
}

export function auditOf(paths: readonly string[], more: Partial<AuditRequest> = {}): Promise<AuditReport> {
    return audit({ input: { kind: "paths", paths, options: {} }, rules: KNOWN, configuration: {}, pools: [], failOn: FailOn.Mandatory, now: new Date("2026-11-30T00:00:00Z"), ...more });
}

/** A text as standard input, in pieces of a size. */
export function readText(text: string | Buffer, size = 7): Promise<Reading> {
    const bytes = Buffer.from(text), pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    return readPaths(["-"], { stdin: Readable.from(pieces) as AsyncIterable<Buffer> });
}

/** A DestinationRule of a fixed pool of two, whose guard never works. */
export const BAD_RULE = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: partner
  namespace: egress
  annotations: {istio-egress/membership: fixed, istio-egress/addresses-per-answer: "2"}
spec:
  host: api.partner.example
  trafficPolicy:
    outlierDetection:
      consecutive5xxErrors: 5
      maxEjectionPercent: 30
      minHealthPercent: 1
`;
export const GOOD_RULE = BAD_RULE.replace("maxEjectionPercent: 30", "maxEjectionPercent: 50");

/** What E101 says of it. */
export const BAD_MESSAGE = "E101 DestinationRule egress/partner: spec.trafficPolicy.outlierDetection.maxEjectionPercent is 30, but the pool behind api.partner.example has 2 addresses, and Envoy ejects one only while 100 * (ejected + 1) / addresses <= maxEjectionPercent: "
    + "a dead address is never ejected and keeps its share of the new connections. Set 50, which works at every answer size from 2 up; 2 addresses need 50..99. See docs/rules/E101.md";
