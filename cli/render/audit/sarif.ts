// An audit as SARIF 2.1.0 (OASIS), which GitHub code scanning, GitLab, Azure DevOps and editors read.
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { AuditProblem } from "../../audit/problem";
import { type AuditFinding, type AuditReport, type AuditedRule, type ExemptedFinding, type Location } from "../../audit/report";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/** What relative paths are relative to: the working directory, which SARIF's readers take for the root of the sources. */
const ROOT = "%SRCROOT%";
/** The scale that code scanning sorts by. */
const SECURITY_SEVERITY: Readonly<Record<string, string>> = { critical: "9.0", high: "7.0", medium: "5.0", low: "3.0" };

export function renderSarif(report: AuditReport, version: string, exitCode: number): string {
    const { rules, problems, notices } = report, indexes = new Map(rules.map(({ code }, index) => [code, index]));
    const results = [
        ...report.findings.map((finding) => resultOf(finding, indexes, [])),
        ...report.exempted.map((finding) => resultOf(finding, indexes, [suppression(finding)])),
    ];
    return `${JSON.stringify({
        $schema: SCHEMA, version: "2.1.0",
        runs: [{
            tool: { driver: { name: "istio-egress", semanticVersion: version, rules: rules.map(ruleOf) } },
            invocations: [{
                executionSuccessful: problems.length === 0, exitCode,
                toolExecutionNotifications: [...problems.map(notificationOf), ...notices.map((text) => ({ level: "note", message: { text } }))],
            }],
            columnKind: "utf16CodeUnits",
            results,
        }],
    }, undefined, 2)}\n`;
}

function ruleOf({ code, name, level, severity, description, remediation }: AuditedRule): object {
    return {
        id: code, name, shortDescription: { text: description }, help: { text: `${remediation} See docs/rules/${code}.md of the package istio-egress.` },
        defaultConfiguration: { level: sarifLevel(level) },
        properties: { tags: ["istio", "egress"], "problem.severity": level === "mandatory" ? "error" : "warning", "security-severity": SECURITY_SEVERITY[severity] },
    };
}

function resultOf(finding: AuditFinding, indexes: ReadonlyMap<string, number>, suppressions: readonly object[]): object {
    const { code, level, message, object, field, location, known } = finding, index = indexes.get(code);
    return {
        ruleId: code, ...(index === undefined ? {} : { ruleIndex: index }), level: sarifLevel(level), message: { text: message },
        locations: [{
            ...physical(location),
            logicalLocations: [{ fullyQualifiedName: `${object.label}${field === "" ? "" : `: ${field}`}`, kind: "object" }],
        }],
        // The same finding on the same object stays one alert when lines move.
        partialFingerprints: { "objectAndField/v1": createHash("sha256").update(JSON.stringify([code, object.label, field])).digest("hex").slice(0, 32) },
        baselineState: known ? "unchanged" : "new",
        ...(suppressions.length === 0 ? {} : { suppressions }),
    };
}

function suppression({ reason, until }: ExemptedFinding): object {
    return { kind: "inSource", status: "accepted", justification: `until ${until}: ${reason}` };
}

/** Standard input and a live cluster have no file: their findings have a logical place only. */
function physical({ file, region }: Location): object {
    return region === undefined ? {} : { physicalLocation: { artifactLocation: artifact(file), region: { startLine: region.line, startColumn: region.column, endLine: region.endLine, endColumn: region.endColumn } } };
}

function notificationOf({ file, line, column, text }: AuditProblem): object {
    return {
        level: "error", message: { text: `${file}${line === undefined ? "" : `:${line}`} ${text}` },
        locations: [{ physicalLocation: { artifactLocation: artifact(file), ...(line === undefined ? {} : { region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) } }) } }],
    };
}

function artifact(file: string): object {
    return isAbsolute(file) ? { uri: pathToFileURL(file).href } : { uri: file.split(/[\\/]/).map(encodeURIComponent).join("/"), uriBaseId: ROOT };
}

function sarifLevel(level: string): string {
    return level === "mandatory" ? "error" : "warning";
}
