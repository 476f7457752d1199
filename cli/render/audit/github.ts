// An audit as annotations of GitHub Actions: workflow commands, one a line, that mark the lines of a pull request.
import { type AuditFinding, type AuditReport } from "../../audit/report";

export function renderGithub({ findings, problems, notices }: AuditReport): string {
    return [
        ...findings.filter(({ known }) => !known).map(findingLine),
        ...problems.map(({ file, line, column, text }) => command("error", { file, line, col: column, title: "not audited" }, `${file}: ${text}`)),
        ...notices.map((notice) => command("notice", { title: "istio-egress audit" }, notice)),
    ].map((line) => `${line}\n`).join("");
}

function findingLine({ level, location: { file, region }, code, name, message }: AuditFinding): string {
    const at = region === undefined ? {} : { file, line: region.line, endLine: region.endLine, col: region.column, endColumn: region.endColumn };
    return command(level === "mandatory" ? "error" : "warning", { ...at, title: `${code} ${name}` }, message);
}

function command(level: string, properties: Readonly<Record<string, string | number | undefined>>, message: string): string {
    const list = Object.entries(properties).filter(([, value]) => value !== undefined).map(([key, value]) => `${key}=${property(String(value))}`);
    return `::${level} ${list.join(",")}::${data(message)}`;
}

/** GitHub's own escapes (its toolkit's command.ts). */
function data(text: string): string {
    return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
    return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
