// An audit as one JSON document, for scripts. Its form is stable: a field is only ever added.
import { type AuditFinding, type AuditNote, type AuditReport, type AuditedObject, type Location, fails } from "../../audit/report";

/** Goes up when a field changes its meaning or goes away. */
const FORMAT = 1;

export function renderJson(report: AuditReport, seconds: number): string {
    const { findings, exempted, unjudged, problems, notices, objects, read, files, rules, failOn, gone } = report;
    const count = (level: string): number => findings.filter((finding) => finding.level === level && !finding.known).length;
    return `${JSON.stringify({
        format: FORMAT,
        summary: {
            mandatory: count("mandatory"), advisory: count("advisory"), failing: findings.filter((finding) => fails(finding, failOn)).length,
            inBaseline: findings.filter(({ known }) => known).length, goneFromBaseline: gone, exempt: exempted.length, notKnown: unjudged.length, notAudited: problems.length,
            objects: objects.length, read, sources: files, rules: rules.length, failOn, seconds,
        },
        findings: findings.map(findingOf),
        exempted: exempted.map((finding) => ({ ...findingOf(finding), reason: finding.reason, until: finding.until })),
        notKnown: unjudged.map(noteOf),
        notAudited: problems,
        notices,
    }, undefined, 2)}\n`;
}

function findingOf(finding: AuditFinding): object {
    const { level, severity, known } = finding;
    return { ...noteOf(finding), level, severity, known };
}

function noteOf({ code, name, object, path, field, text, message, location }: AuditNote): object {
    return { code, name, object: objectOf(object), field, path, text, message, docs: `docs/rules/${code}.md`, ...locationOf(location) };
}

function objectOf({ kind, namespace, name }: AuditedObject): object {
    return { kind, namespace: namespace ?? null, name: name ?? null };
}

function locationOf({ file, region, template }: Location): object {
    return { file, line: region?.line ?? null, column: region?.column ?? null, ...(template === undefined ? {} : { template }) };
}
