// The report as one JSON document.
import type { TimelineOptions } from "../../../model";
import type { HostReport } from "../../plan/report";

export function renderJson(reports: readonly HostReport[], options: Pick<TimelineOptions, "perSecond" | "proxies">): string {
    return `${JSON.stringify({ ...options, hosts: reports }, null, 2)}\n`;
}
