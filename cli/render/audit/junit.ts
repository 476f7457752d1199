// An audit as JUnit XML, which every CI server shows: a suite for each source, a case for each object.
import { formatProblem } from "../../audit/problem";
import { type AuditFinding, type AuditReport, type AuditedObject, fails } from "../../audit/report";

export function renderJunit({ objects, findings, problems, failOn }: AuditReport, seconds: number): string {
    const bySource = new Map<string, AuditedObject[]>(), byObject = new Map<AuditedObject, AuditFinding[]>();
    for (const object of objects) push(bySource, object.location.file, object);
    for (const finding of findings) push(byObject, finding.object, finding);
    for (const { file } of problems) if (!bySource.has(file)) bySource.set(file, []);
    const suites = [...bySource].map(([file, members]) => suite(file, members, problems.filter((problem) => problem.file === file).map(formatProblem), (object) => byObject.get(object) ?? [], (finding) => fails(finding, failOn)));
    const sum = (key: "tests" | "failures" | "errors"): number => suites.reduce((total, one) => total + one[key], 0);
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuites${attributes({ name: "istio-egress audit", tests: sum("tests"), failures: sum("failures"), errors: sum("errors"), time: seconds.toFixed(3) })}>`,
        ...suites.flatMap(({ lines }) => lines),
        "</testsuites>", "",
    ].join("\n");
}

interface Suite { readonly tests: number; readonly failures: number; readonly errors: number; readonly lines: readonly string[] }

function suite(file: string, objects: readonly AuditedObject[], problems: readonly string[], findingsOf: (object: AuditedObject) => readonly AuditFinding[], isFailure: (finding: AuditFinding) => boolean): Suite {
    const cases = objects.map((object) => {
        const all = findingsOf(object), failing = all.filter(isFailure), other = all.filter((finding) => !isFailure(finding));
        // One failure element each: several are valid, and some servers show the first only, so that it comes first.
        const inner = [
            ...failing.map((finding) => `      <failure${attributes({ type: `${finding.code} ${finding.name}`, message: finding.message })}>${escape(lineOf(finding))}</failure>`),
            ...(other.length === 0 ? [] : [`      <system-out>${escape(other.map(lineOf).join("\n"))}</system-out>`]),
        ];
        return { failed: failing.length > 0, lines: element("testcase", { classname: file, name: object.label, file, line: object.location.region?.line }, inner) };
    });
    const errors = problems.map((problem) => element("testcase", { classname: file, name: "can be audited" }, [`      <error${attributes({ type: "not audited", message: problem })}/>`]));
    const tests = cases.length + errors.length, failures = cases.filter(({ failed }) => failed).length;
    return {
        tests, failures, errors: errors.length,
        lines: [`  <testsuite${attributes({ name: file, tests, failures, errors: errors.length })}>`, ...cases.flatMap(({ lines }) => lines), ...errors.flat(), "  </testsuite>"],
    };
}

function element(name: string, values: Readonly<Record<string, string | number | undefined>>, inner: readonly string[]): string[] {
    return inner.length === 0 ? [`    <${name}${attributes(values)}/>`] : [`    <${name}${attributes(values)}>`, ...inner, `    </${name}>`];
}

function lineOf({ location: { file, region }, level, message, known }: AuditFinding): string {
    return `${file}${region === undefined ? "" : `:${region.line}:${region.column}`}: ${level}${known ? " (in the baseline)" : ""}: ${message}`;
}

function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
    return Object.entries(values).filter(([, value]) => value !== undefined).map(([key, value]) => ` ${key}="${escape(String(value)).replaceAll("\n", "&#10;")}"`).join("");
}

/** XML 1.0 has no form at all for control characters and lone surrogates. */
function escape(text: string): string {
    // eslint-disable-next-line no-control-regex
    return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
        .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;");
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
    const list = map.get(key);
    if (list === undefined) map.set(key, [value]);
    else list.push(value);
}
